"""What a model can be pre-trained for, one file an objective. A file is its objective's registration: the name is the
file's, HELP is what `bertedu pretrain --help` says of it, and OBJECTIVE is the class, which owns all else that is said.
"""

from bertedu.registry import OBJECTIVES

OBJECTIVES.add_files(__name__, __path__)
