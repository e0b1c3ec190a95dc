"""Entities as spans: tags of words to spans, and precision, recall and F1 counted by whole entities.

B-person begins an entity, I-person goes on with it, O stands outside (Ramshaw & Marcus 1995); BIOES adds E- for the
last and S- for the only word. Predictions break these rules, so spans are read as the CoNLL evaluation reads them
(Tjong Kim Sang & De Meulder 2003): an I- that goes on with nothing begins an entity of its own.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

Span = tuple[str, int, int]  # type, first word, word after the last
OUTSIDE = ("O", "")


def split_tag(tag: str) -> tuple[str, str]:
    """The position and the type of a tag: "B-person" is ("B", "person"), "O" is ("O", "")."""
    position, _, kind = tag.partition("-")
    return position, kind


def are_entities(tags: Iterable[str]) -> bool:
    """Whether tags are those of entities: each is O or B-, I-, E- or S- with a type, and not all are O.

    A hyphen alone says nothing: "-LRB-" and "NN-TL" are parts of speech.
    """
    different = {split_tag(tag) for tag in tags} - {OUTSIDE}
    return bool(different) and all(position in ("B", "I", "E", "S") and kind for position, kind in different)


def tag_spans(tags: Sequence[str]) -> list[Span]:
    """The entities in the tags of one sentence, BIO or BIOES, from left to right."""
    spans: list[Span] = []
    start, before = 0, OUTSIDE
    for place, now in enumerate([*map(split_tag, tags), OUTSIDE]):
        if before != OUTSIDE and ends_before(before, now):
            spans.append((before[1], start, place))
        if now != OUTSIDE and (before == OUTSIDE or ends_before(before, now)):
            start = place
        before = now
    return spans


def ends_before(before: tuple[str, str], now: tuple[str, str]) -> bool:
    """Whether an entity that holds the tag `before` is over when `now` comes."""
    return now[0] in "OBS" or before[0] in "ES" or before[1] != now[1]


def span_tags(spans: Iterable[Span], words: int) -> list[str]:
    """The BIO tags of a sentence of so many words in which these entities stand."""
    tags = ["O"] * words
    for kind, start, end in spans:
        tags[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
    return tags


def entity_figures(right: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> dict[str, float]:
    """Precision, recall and F1 over the entities of all sentences: one counts where type, start and end are right.

    Also the F1 of each type, as "f1_person". Where nothing was found or is to be found, a figure is 0.
    """
    correct, looked_for, returned = (Counter[str]() for _ in range(3))
    for true_tags, found_tags in zip(right, found, strict=True):
        true_spans, found_spans = set(tag_spans(true_tags)), set(tag_spans(found_tags))
        correct.update(kind for kind, _, _ in true_spans & found_spans)
        looked_for.update(kind for kind, _, _ in true_spans)
        returned.update(kind for kind, _, _ in found_spans)
    precision = correct.total() / max(1, returned.total())
    recall = correct.total() / max(1, looked_for.total())
    figures = {"precision": precision, "recall": recall, "f1": f1(precision, recall)}
    for kind in sorted(looked_for | returned):
        figures[f"f1_{kind}"] = f1(correct[kind] / max(1, returned[kind]), correct[kind] / max(1, looked_for[kind]))
    return figures


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def tagging_figures(right: Sequence[Sequence[str]], found: Sequence[Sequence[str]], entities: bool) -> dict[str, float]:
    """What is reported for tags: by entities (see `spans.py`) or by words."""
    from sklearn.metrics import accuracy_score, f1_score

    true_words, found_words = [tag for row in right for tag in row], [tag for row in found for tag in row]
    accuracy = float(accuracy_score(true_words, found_words))
    if entities:
        return {**entity_figures(right, found), "accuracy": accuracy}
    return {
        "accuracy": accuracy,
        "macro_f1": float(f1_score(true_words, found_words, average="macro", zero_division=0)),
    }
