"""Which class is taken for which: squares for classes, parts of speech and entities; bars for sets of classes."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator

from bertedu.errors import UserError
from bertedu.finetuning.spans import Span, tag_spans
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet, short

MOST = 20  # classes in a square: more cannot be read
OTHERS = "all others"
MISSED, INVENTED, CUT = "missed", "invented", "other boundaries"
LIGHT = 0.65  # on fields darker than this, numbers are white


def confusion_matrix(right: Sequence[str], found: Sequence[str], what: str = "texts") -> Picture:
    """How often each right class (rows) was predicted as each class (columns); the darker, the larger its share of the
    row. Of more than 20 classes those that are mixed up most are shown, and the others as one.

    Raises UserError for lists that do not fit together.
    """
    if not right or len(right) != len(found):
        raise UserError(
            f"there are {len(right)} right classes and {len(found)} predicted ones: give one of each a row."
        )
    pairs = Counter(zip(right, found, strict=True))
    labels = most_mixed_up(pairs)
    shown = Counter[tuple[str, str]]()
    for (a, b), count in pairs.items():
        shown[(a if a in labels else OTHERS, b if b in labels else OTHERS)] += count
    if len(labels) < len({label for pair in pairs for label in pair}):
        labels = [*labels, OTHERS]
    return square(shown, labels, labels, what)


def most_mixed_up(pairs: Counter[tuple[str, str]]) -> list[str]:
    """All classes by name, or, of more than 20, those of the most frequent confusions."""
    labels = sorted({label for pair in pairs for label in pair})
    if len(labels) <= MOST:
        return labels
    order = sorted((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: (-pairs[pair], pair))
    chosen = dict.fromkeys(label for pair in order for label in pair)
    return sorted([*chosen, *(label for label in labels if label not in chosen)][:MOST])


def entity_confusion(right: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> Picture:
    """Entities by type. A right entity was found with a type, found with other boundaries, or missed (columns); one
    that was found where there is none is invented (the last row).

    right and found: the tags of each sentence's words, BIO or BIOES.
    """
    pairs = Counter[tuple[str, str]]()
    for true_tags, found_tags in zip(right, found, strict=True):
        pairs += compare_entities(tag_spans(true_tags), tag_spans(found_tags))
    types = sorted({label for pair in pairs for label in pair} - {MISSED, INVENTED, CUT})
    if not types:
        raise UserError("there is no entity in these tags, neither right nor found: there is nothing to draw.")
    return square(pairs, [*types, INVENTED], [*types, CUT, MISSED], "entities")


def compare_entities(right: Sequence[Span], found: Sequence[Span]) -> Counter[tuple[str, str]]:
    """Pairs of (type or invented) and (type, other boundaries or missed) for the entities of one sentence."""
    types = {(start, end): kind for kind, start, end in found}
    pairs = Counter[tuple[str, str]]()
    for kind, start, end in right:
        if (start, end) in types:
            pairs[(kind, types[start, end])] += 1
        else:
            pairs[(kind, CUT if touches(start, end, found) else MISSED)] += 1
    pairs.update((INVENTED, kind) for kind, start, end in found if not touches(start, end, right))
    return pairs


def touches(start: int, end: int, spans: Sequence[Span]) -> bool:
    """Whether one of the spans shares a word with this one."""
    return any(start < other_end and other_start < end for _, other_start, other_end in spans)


def square(pairs: Counter[tuple[str, str]], rows: Sequence[str], columns: Sequence[str], what: str) -> Picture:
    """The counts as fields, each with its number; what is right is on the diagonal."""
    counts = np.array([[pairs[row, column] for column in columns] for row in rows])
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    side = 1.6 + 0.42 * max(len(columns), 4)
    figure = new_figure(side + 1.2, side)
    axes = figure.add_subplot()
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(counts):
        if count:
            color = "white" if shares[row, column] > LIGHT else INK
            axes.text(column, row, f"{count:,}", ha="center", va="center", fontsize=8, color=color)
    below, beside = ([short(name) for name in names] for names in (columns, rows))
    axes.set_xticks(range(len(columns)), below, rotation=45, ha="right", rotation_mode="anchor", parse_math=False)
    axes.set_yticks(range(len(rows)), beside, parse_math=False)
    axes.tick_params(length=0, labelsize=8, colors=INK)
    axes.spines[:].set_color("#999999")
    axes.set_xlabel("the model says", fontsize=9)
    axes.set_ylabel("right", fontsize=9)
    return Picture(figure, describe_square(pairs, rows, what))


def describe_square(pairs: Counter[tuple[str, str]], rows: Sequence[str], what: str) -> str:
    """What is right, and the most frequent confusions, in words."""
    correct = sum(count for (a, b), count in pairs.items() if a == b and a != OTHERS)
    named = [(count, a, b) for (a, b), count in pairs.items() if a != b and OTHERS not in (a, b)]
    mixed = sorted(named, key=lambda one: (-one[0], *one[1:]))
    told = "; ".join(f"{a} as {b} {count:,} times" for count, a, b in mixed[:6])
    others = f", {pairs[OTHERS, OTHERS]:,} stay among the other classes" if OTHERS in rows else ""
    invented = sum(count for (a, _), count in pairs.items() if a == INVENTED) if what == "entities" else 0
    added = f", and {invented:,} invented (last row)" if invented else ""
    return (
        f"Confusion matrix of {pairs.total() - invented:,} {what}{added}, right classes in rows, predicted ones in "
        f"columns: {correct:,} on the diagonal{others}. "
        + (f"The most frequent confusions: {told}." if told else "Nothing is mixed up.")
    )


def label_outcomes(right: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> Picture:
    """For sets of classes: how often each class was found, missed and invented, as bars, the most frequent first."""
    hits, missed, invented = Counter[str](), Counter[str](), Counter[str]()
    for true_labels, found_labels in zip(map(set, right), map(set, found), strict=True):
        hits.update(true_labels & found_labels)
        missed.update(true_labels - found_labels)
        invented.update(found_labels - true_labels)
    wanted = hits + missed
    labels = sorted(wanted | invented, key=lambda label: (-wanted[label], label))[:MOST]
    if not labels:
        raise UserError("there is no class in these sets, neither right nor found: there is nothing to draw.")
    figure = new_figure(7.0, 0.9 + 0.3 * len(labels))
    axes = figure.add_subplot()
    quiet(axes)
    places = range(len(labels))
    before = np.zeros(len(labels))
    for counts, color, name in ((hits, BLUE, "found"), (missed, ORANGE, MISSED)):
        values = np.array([counts[label] for label in labels])
        axes.barh(places, values, left=before, color=color, height=0.66, label=name)
        before = before + values
    axes.barh(places, [-invented[label] for label in labels], color=GREY, height=0.66, label=INVENTED)
    axes.set_yticks(places, [short(label) for label in labels], parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("texts", fontsize=9)
    figure.legend(loc="outside upper right", ncols=3, frameon=False, fontsize=9)
    told = "; ".join(
        f"{one}: found {hits[one]:,}, missed {missed[one]:,}, invented {invented[one]:,}" for one in labels[:8]
    )
    return Picture(figure, f"How often each class of a text was found, missed and invented. {told}.")
