"""A score for a text, or for a pair of texts read together. Notebook 13."""

from collections.abc import Sequence

from bertedu.corpora.readers import LabelledText
from bertedu.corpora.task_data import read_labelled
from bertedu.finetuning.classification import ClassificationTask
from bertedu.finetuning.labels import REGRESSION
from bertedu.finetuning.scores import Scored
from bertedu.finetuning.task import SCORE

HELP = """
regression: a score for a text, or for a pair of texts read together
    sentence1,sentence2,score
    bertedu finetune regression --data data/tasks/similarity
"""


class Regression(Scored, ClassificationTask):
    """A number for each text; any is one."""

    problem_type = REGRESSION
    use = SCORE

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[LabelledText] = ()) -> list[LabelledText]:
        """Texts or pairs with scores."""
        return read_labelled(path, problem_type=REGRESSION, split=split)

    @classmethod
    def labels_for(cls, rows: Sequence[LabelledText]) -> tuple[str, ...]:
        """One output, whatever the scores."""
        return ("score",)


TASK = Regression
