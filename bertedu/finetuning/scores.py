"""What tasks share whose answer is a number: how far off it is, and a picture of it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from bertedu.finetuning.explaining import labelled
from bertedu.finetuning.task import Pictures
from bertedu.training.figures import Measure


class Scored:
    """Of a task, what is said of scores. Pearson's and Spearman's correlation, and the mean squared error."""

    measures: ClassVar[Mapping[str, Measure | None]] = MappingProxyType(
        {
            "pearson": Measure("Pearson's correlation", form=".3f"),
            "spearman": Measure("Spearman's correlation", form=".3f"),
            "mean_squared_error": Measure("mean squared error", True, ".3f"),
        }
    )
    row_types: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"text": str, "label": float, "prediction": float, "mistake": float}
    )
    in_words = staticmethod(labelled)

    @classmethod
    def errors_shown(cls, rows: Sequence[Mapping[str, Any]], count: int) -> str:
        """Hardly a score is right to the last digit: those that are furthest off."""
        return f"Of {len(rows):,} rows the {count:,} in which the model is furthest off, the worst first."

    @classmethod
    def pictures(cls, rows: Sequence[Mapping[str, Any]], draw: Any, **decided: float) -> Pictures:
        """Scores over scores."""
        picture = draw.score_scatter([row["label"] for row in rows], [row["prediction"] for row in rows])
        return {"scores": (picture, "A dot for each row. On the dotted line the model's score is the right one.")}
