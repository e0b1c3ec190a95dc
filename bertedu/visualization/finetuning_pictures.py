"""Which pictures show how a fine-tuned model does, by its task."""

from collections.abc import Mapping, Sequence
from typing import Any

from bertedu.finetuning.spans import are_entities
from bertedu.visualization.calibration import reliability_diagram
from bertedu.visualization.confusion import confusion_matrix, entity_confusion, label_outcomes
from bertedu.visualization.picture import Picture
from bertedu.visualization.scores import chosen_places, score_scatter
from bertedu.visualization.thresholds import no_answer_curve

Row = Mapping[str, Any]
Captioned = dict[str, tuple[Picture, str]]
CALIBRATION = (
    "How often the model is right when it is so sure, in ten bins. On the dotted line it would mean what it says; "
    "below it, it is too sure of itself. Bins with few predictions (see the bars) say little."
)


def prediction_pictures(task: str, rows: Sequence[Row], no_answer_threshold: float = 0.0) -> Captioned:
    """Pictures by name, each with its caption, for the rows of predictions.jsonl."""
    if task in ("regression", "similarity"):
        return {"scores": scores(rows)}
    if task == "summarization":
        picture = chosen_places([row["chosen"] for row in rows], [row["best"] for row in rows])
        return {"places": (picture, "Which sentences are taken. Grey: those that share most with the written summary.")}
    pictures: Captioned = {}
    if task in ("entities", "tagging"):
        pictures["confusion"] = tags(rows)
    elif task == "classification":
        picture = confusion_matrix([row["label"] for row in rows], [row["prediction"] for row in rows])
        pictures["confusion"] = (picture, "Which class is taken for which. What is right is on the diagonal.")
    elif task == "multi-label" and any(row["label"] or row["prediction"] for row in rows):
        picture = label_outcomes([row["label"] for row in rows], [row["prediction"] for row in rows])
        pictures["classes"] = (
            picture,
            "To the right how often a class was to be found, to the left how often invented.",
        )
    elif task == "question-answering" and len({bool(row["answers"]) for row in rows}) == 2:
        caption = (
            "F1 for each threshold. To the left nothing is answered, to the right always something. The dotted line is "
            "the threshold in use, which was chosen on validation; the figures above are those at it. The best one of "
            "these rows (the dot) flatters where these rows are the test."
        )
        pictures["threshold"] = (no_answer_curve(rows, no_answer_threshold), caption)
    pictures["calibration"] = (reliability_diagram(*sure_and_right(rows)), CALIBRATION)
    return pictures


def scores(rows: Sequence[Row]) -> tuple[Picture, str]:
    """Scores over scores."""
    picture = score_scatter([row["label"] for row in rows], [row["prediction"] for row in rows])
    return picture, "A dot for each row. On the dotted line the model's score is the right one."


def tags(rows: Sequence[Row]) -> tuple[Picture, str]:
    """Entities by type, or tags of words."""
    right, found = [row["tags"] for row in rows], [row["prediction"] for row in rows]
    every = [tag for tags in (*right, *found) for tag in tags]
    if are_entities(every):
        caption = (
            "Entities by type. Other boundaries: something was found that shares a word with the right entity, but has "
            "other ends. Missed: nothing was. Invented: the model found one where there is none."
        )
        return entity_confusion(right, found), caption
    picture = confusion_matrix([tag for row in right for tag in row], [tag for row in found for tag in row], "words")
    return picture, "Which tag is taken for which. What is right is on the diagonal."


def sure_and_right(rows: Sequence[Row]) -> tuple[list[float], list[bool]]:
    """How sure the model was of each of its answers, and whether it was right; for tags word by word."""
    if rows and "words" in rows[0]:
        sure = [share for row in rows for share in row["probability"]]
        right = [a == b for row in rows for a, b in zip(row["tags"], row["prediction"], strict=True)]
        return sure, right
    return [row["probability"] for row in rows], [row["mistake"] == 0 for row in rows]
