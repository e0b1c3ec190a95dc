"""When to say that there is no answer: F1 and both of its parts over the threshold. Notebook 12."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bertedu.errors import UserError
from bertedu.finetuning.squad_metrics import ALWAYS
from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure, quiet


def no_answer_curve(rows: Sequence[Mapping[str, Any]], threshold: float = 0.0) -> Picture:
    """F1 over all questions, over those with an answer and over those without, for each threshold that matters.

    rows: as in predictions.jsonl, with answers, span_f1 and no_answer_score. A question is answered where its score of
    no answer is not above the threshold. The dotted line is the threshold that is in use.
    Raises UserError where no question is without an answer.
    """
    scores = np.array([row["no_answer_score"] for row in rows])
    impossible = np.array([not row["answers"] for row in rows])
    if not impossible.any() or impossible.all():
        raise UserError("there are not both questions with and without an answer: a threshold has nothing to decide.")
    span_f1 = np.array([row["span_f1"] for row in rows])
    places, f1, answerable, unanswerable = curve(scores, span_f1, impossible)
    best = int(f1.argmax())
    figure = new_figure(7.0, 3.8)
    axes = figure.add_subplot()
    quiet(axes)
    lines = ((f1, BLUE, "all"), (answerable, GREEN, "with an answer"), (unanswerable, ORANGE, "without one"))
    for values, color, name in lines:
        axes.step(places, values, where="post", color=color, linewidth=2.2 if color == BLUE else 1.4, label=name)
    in_use = f1[max(0, int((places <= threshold).sum()) - 1)]
    shown = min(max(threshold, places[0]), places[-1])  # one that always or never answers lies far outside
    axes.axvline(shown, color=GREY, linestyle=":", linewidth=1.6, label=f"in use: {in_use:.3f}")
    axes.plot(places[best], f1[best], "o", color=BLUE, markersize=6)
    axes.annotate(
        f"best {f1[best]:.3f} at {places[best]:.1f}",
        (places[best], f1[best]),
        xytext=(0, 8),
        textcoords="offset points",
        ha="center",
        fontsize=8,
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
    )
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("threshold: the larger, the more is answered", fontsize=9)
    axes.set_ylabel("F1", fontsize=9)
    figure.legend(loc="outside upper right", ncols=4, frameon=False, fontsize=9)
    return Picture(
        figure,
        f"F1 over the threshold of no answer, {len(rows):,} questions, {int(impossible.sum()):,} without an answer. At "
        f"the threshold in use, {in_words(threshold)}, it is {in_use:.3f}; "
        f"the best is {f1[best]:.3f} at {places[best]:.2f}, with {answerable[best]:.3f} where "
        f"there is an answer and {unanswerable[best]:.3f} where there is none. Never answering gives {f1[0]:.3f}, "
        f"always answering {f1[-1]:.3f}.",
    )


def in_words(threshold: float) -> str:
    """A threshold for people: a number, or that it always or never answers."""
    if abs(threshold) < ALWAYS:
        return f"{threshold:.2f}"
    return "always an answer" if threshold > 0 else "never an answer"


def curve(scores: np.ndarray, span_f1: np.ndarray, impossible: np.ndarray) -> tuple[np.ndarray, ...]:
    """Thresholds, from below the lowest score on, and at each of them F1 over all questions, over those with an answer
    and over those without. All arguments [N].
    """
    order = np.argsort(scores, kind="stable")
    gained = np.where(impossible, 0.0, span_f1)[order].cumsum()  # by answering the first n questions
    lost = impossible[order].cumsum()
    places, last = np.unique(scores[order][::-1], return_index=True)
    last = len(scores) - 1 - last  # the last question with each score
    reached = np.concatenate([[0.0], gained[last]])
    left = impossible.sum() - np.concatenate([[0], lost[last]])
    places = np.concatenate([[places[0] - 1.0], places])
    return places, (reached + left) / len(scores), reached / (~impossible).sum(), left / impossible.sum()
