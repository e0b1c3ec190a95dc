"""What a model can be fine-tuned for, one file a task. A file is its task's registration: the name is the file's, HELP
is what `bertedu finetune --help` says of it, and TASK is the class, which owns all else that is said.
"""

from bertedu.registry import TASKS

TASKS.add_files(__name__, __path__)
