"""As many classes for a text as fit, or none. Notebook 10."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bertedu.finetuning.classification import ClassificationTask
from bertedu.finetuning.labels import MULTI_LABEL
from bertedu.finetuning.task import SEVERAL, Pictures
from bertedu.training.figures import Measure

HELP = """
multi-label: as many labels as fit, or none
    The supper was expensive.,"food praised, price blamed"                       commas between, or a list in .jsonl
    bertedu finetune multi-label --data data/tasks/aspects
"""


class MultiLabel(ClassificationTask):
    """A set of classes for each text."""

    problem_type = MULTI_LABEL
    measures = MappingProxyType(
        {
            "micro_f1": Measure("micro F1", form=".3f"),
            "macro_f1": Measure("macro F1", form=".3f"),
            "all_right": Measure("all classes of a text right", form=".3f"),
        }
    )
    row_types = MappingProxyType(
        {"text": str, "label": list[str], "prediction": list[str], "probability": float, "mistake": float}
    )
    use = SEVERAL

    @classmethod
    def pictures(cls, rows: Sequence[Mapping[str, Any]], draw: Any, **decided: float) -> Pictures:
        """How often each class is found, missed and invented, and how sure the model is."""
        pictures = super().pictures(rows, draw)
        if any(row["label"] or row["prediction"] for row in rows):
            picture = draw.label_outcomes([row["label"] for row in rows], [row["prediction"] for row in rows])
            said = "To the right how often a class was to be found, to the left how often invented."
            pictures = {"classes": (picture, said), **pictures}
        return pictures


TASK = MultiLabel
