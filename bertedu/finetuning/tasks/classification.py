"""One of several classes for a text, or for a pair of texts. Notebook 10."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bertedu.finetuning.classification import ClassificationTask
from bertedu.finetuning.task import CLASSES, Pictures
from bertedu.training.figures import Measure

HELP = """
classification: one label for a text, or for a pair of texts
    text,label                                    .csv, .tsv, .jsonl, or a folder of texts for each label
    The room was cold.,negative
    bertedu finetune classification --data data/tasks/sentiment
"""


class Classification(ClassificationTask):
    """A class for each text."""

    options = ("pooling", "class_weights")
    measures = MappingProxyType({"macro_f1": Measure("macro F1", form=".3f")})
    row_types = MappingProxyType({"text": str, "label": str, "prediction": str, "probability": float, "mistake": float})
    use = CLASSES
    folders_by_label = True

    @classmethod
    def pictures(cls, rows: Sequence[Mapping[str, Any]], draw: Any, **decided: float) -> Pictures:
        """Which class is taken for which, and how sure the model is."""
        picture = draw.confusion_matrix([row["label"] for row in rows], [row["prediction"] for row in rows])
        said = (picture, "Which class is taken for which. What is right is on the diagonal.")
        return {"confusion": said, **super().pictures(rows, draw)}


TASK = Classification
