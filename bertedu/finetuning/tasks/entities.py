"""Names in a sentence, of which whole ones count. Notebook 11."""

from bertedu.finetuning.tasks.tagging import Tagging

HELP = """
entities: names in a sentence, whole ones count     a word a line with B-, I- or O, or .jsonl with words and tags
    Anna<TAB>B-person
    bertedu finetune entities --data data/tasks/entities --crf
"""


class Entities(Tagging):
    """Tags that begin, go on with and stand outside of entities."""

    scheme = "BIO"


TASK = Entities
