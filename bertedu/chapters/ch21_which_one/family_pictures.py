"""The pictures of notebook 21: what each member of the family changes, rankings that change, differences from BERT with
their errors, marks by chance, a Pareto front, and what an encoder and a prompt cost.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure, quiet

TITLES = {
    "bert": "BERT", "roberta": "RoBERTa", "spanbert": "SpanBERT", "albert": "ALBERT",
    "distilbert-alone": "DistilBERT, alone", "distilbert-taught": "DistilBERT, taught", "electra": "ELECTRA",
    "deberta": "DeBERTa", "deberta-v2": "DeBERTa v2", "modernbert": "ModernBERT", "xlnet": "XLNet",
    "untrained": "not pre-trained",
}  # fmt: skip
# Of the front, in points: font size, height of a line, width of a letter, distance from what is labeled.
LABEL_SIZE, LABEL_HEIGHT, LABEL_WIDTH, LABEL_DISTANCE = 7.5, 10.0, 4.2, 6.0
ABOVE = 6  # where a label stands if it can: above the line of the front
KINDS = ("recipe", "training signal", "size", "positions", "layer")
CHANGES: dict[str, tuple[str, ...]] = {
    "RoBERTa (15)": ("no next sentence,\nbyte-level BPE,\nmore text", "", "", "", ""),
    "SpanBERT (15)": ("no next sentence,\none segment", "spans, and\ntheir boundaries", "", "", ""),
    "ALBERT (16)": ("SentencePiece", "sentence order", "one shared layer,\nshort embeddings", "", ""),
    "DistilBERT (16)": ("no next sentence,\nno segments", "a teacher", "half of the layers", "", ""),
    "ELECTRA (17)": ("no next sentence", "replaced tokens,\na loss on all tokens", "", "", ""),
    "DeBERTa (18)": ("as RoBERTa", "", "", "relative,\ndisentangled", ""),
    "XLNet (18)": ("no next sentence,\nSentencePiece,\nmore text", "permutations", "", "relative", "two streams"),
    "ModernBERT (19)": (
        "as RoBERTa,\n30 % masked,\nnew schedule", "", "", "rotary", "pre-norm, GeGLU,\nlocal attention"
    ),
}  # fmt: skip


def family_map() -> Picture:
    """What each model changes of BERT, as published: a row for each model, a column for each kind of change."""
    figure = new_figure(8.4, 4.6)
    axes = figure.subplots()
    axes.set(xlim=(-0.5, len(KINDS) - 0.5), ylim=(len(CHANGES) - 0.5, -0.5))
    for y, changes in enumerate(CHANGES.values()):
        for x, change in enumerate(changes):
            fill = "#e3f0f8" if change else "#f6f6f6"
            axes.add_patch(rectangle(x - 0.47, y - 0.43, 0.94, 0.86, fill))
            axes.text(x, y, change, ha="center", va="center", fontsize=7.5, color=INK)
    axes.set_xticks(range(len(KINDS)), KINDS, fontsize=9)
    axes.set_yticks(range(len(CHANGES)), CHANGES, fontsize=9)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    said = []
    for name, changes in CHANGES.items():
        parts = [f"{kind}: {change}" for kind, change in zip(KINDS, changes, strict=True) if change]
        said.append(f"{name} {'; '.join(parts)}".replace("\n", " "))
    return Picture(figure, f"What each model changes of BERT, with its chapter. {'. '.join(said)}.")


def rectangle(x: float, y: float, width: float, height: float, fill: str) -> Any:
    """A filled rectangle without an edge."""
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, facecolor=fill, edgecolor="none")


def rankings(columns: Mapping[str, Sequence[str]], followed: int = 3) -> Picture:
    """A ranking, best first, above each column's name; the first ones of the first column are followed in color."""
    figure = new_figure(8.4, 3.8)
    axes = figure.subplots()
    first = next(iter(columns.values()))
    colors = dict(zip(first, (BLUE, ORANGE, GREEN)[:followed], strict=False))
    for name in first:
        ranks = [list(ranking).index(name) + 1 for ranking in columns.values()]
        color, width = colors.get(name, "#c8c8c8"), 2.2 if name in colors else 1
        axes.plot(ranks, "o-", color=color, linewidth=width, markersize=4, zorder=2 + (name in colors))
        axes.text(-0.12, ranks[0], TITLES.get(name, name), ha="right", va="center", fontsize=8, color=INK)
        axes.text(len(ranks) - 0.88, ranks[-1], TITLES.get(name, name), va="center", fontsize=8, color=INK)
    axes.set(xlim=(-1.6, len(columns) + 0.6), ylim=(len(first) + 0.5, 0.5), yticks=[])
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    said = [f"{column}: {', '.join(TITLES.get(name, name) for name in of[:3])}" for column, of in columns.items()]
    three = "; ".join(said).replace("\n", ", ")
    return Picture(figure, f"Rankings of {len(first)} models. The first three of each: {three}.")


Gaps = Mapping[str, tuple[float, float]]  # of each member: the interval of its difference from BERT


def differences(columns: Mapping[str, Gaps]) -> Picture:
    """A panel for each column: the intervals of the members' differences from BERT, in color where 0 lies outside."""
    names = list(dict.fromkeys(name for gaps in columns.values() for name in gaps))
    across = math.ceil(len(columns) / 2) if len(columns) > 3 else len(columns)
    down = math.ceil(len(columns) / across)
    figure = new_figure(1.7 * across + 1.2, 0.22 * len(names) * down + 0.6 * down + 0.3)
    panels = list(figure.subplots(down, across, sharey=True, squeeze=False).flat)
    said = []
    for axes, (column, gaps) in zip(panels, columns.items(), strict=False):
        axes.axvline(0, color=GREY, linewidth=0.9)
        for name, (low, high) in gaps.items():
            color = GREEN if low > 0 else ORANGE if high < 0 else GREY
            axes.plot([low, high], [names.index(name)] * 2, color=color, linewidth=1.2)
            axes.plot((low + high) / 2, names.index(name), "o", color=color, markersize=4)
        axes.set_title(column, fontsize=9)
        quiet(axes)
        up = [TITLES.get(name, name) for name, (low, _) in gaps.items() if low > 0]
        down_ = [TITLES.get(name, name) for name, (_, high) in gaps.items() if high < 0]
        said.append(f"{column}: better {', '.join(up) or 'none'}; worse {', '.join(down_) or 'none'}")
    for axes in panels[len(columns) :]:
        axes.axis("off")
    first = figure.axes[0]
    first.set_yticks(range(len(names)), [TITLES.get(name, name) for name in names], fontsize=8)
    first.set_ylim(len(names) - 0.5, -0.5)
    figure.supxlabel("difference from BERT", fontsize=9)
    return Picture(figure, f"Differences from BERT whose interval leaves out 0. {'. '.join(said)}.")


def chance_marks(counts: Sequence[int], comparisons: int) -> Picture:
    """How many of the comparisons were marked, in many experiments in which nothing differs."""
    figure = new_figure(6.4, 2.5)
    axes = figure.subplots()
    found, mean = Counter(counts), sum(counts) / len(counts)
    axes.bar(list(found), [100 * times / len(counts) for times in found.values()], color=BLUE, width=0.85)
    axes.axvline(mean, color=ORANGE, linestyle="--")
    axes.margins(y=0.15)
    axes.text(mean + 0.15, axes.get_ylim()[1], "mean", color=ORANGE, va="top", fontsize=8)
    axes.set(xlabel=f"marks among {comparisons} comparisons of equal members", ylabel="% of the experiments")
    quiet(axes)
    none = 100 * found[0] / len(counts)
    most = max(found, key=lambda number: found[number])
    return Picture(figure, f"Marks by chance: {mean:.0f} on average, most often {most}, none in {none:.0f} %.")


def front(points: Mapping[str, tuple[float, float]], on_front: Sequence[str], xlabel: str, ylabel: str) -> Picture:
    """(cost, score) of each member, and the line of those that no other beats."""
    figure = new_figure(6.8, 3.6)
    axes = figure.subplots()
    line = [points[name] for name in on_front]
    axes.step([cost for cost, _ in line], [score for _, score in line], where="post", color=BLUE, linewidth=1.2)
    for name, (cost, score) in points.items():
        axes.plot(cost, score, "o", color=BLUE if name in on_front else GREY, markersize=5)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.margins(x=0.16, y=0.12)
    quiet(axes)
    titles = {TITLES.get(name, name): point for name, point in points.items()}
    for (title, point), offset in zip(titles.items(), apart(axes, titles), strict=True):
        color = BLUE if title in {TITLES.get(name, name) for name in on_front} else GREY
        style: dict[str, Any] = {"textcoords": "offset points", "fontsize": LABEL_SIZE, "color": color}
        axes.annotate(title, point, (LABEL_DISTANCE, offset), va="center", **style)
    names = ", ".join(TITLES.get(name, name) for name in on_front)
    return Picture(figure, f"{ylabel} by {xlabel}. On the Pareto front, cheapest first: {names}.")


Box = tuple[float, float, float, float]  # left, bottom, right, top


def apart(axes: Any, labels: Mapping[str, tuple[float, float]]) -> list[float]:
    """How far above its point (in points) each label stands so that it covers no other one and no marker."""
    axes.figure.draw_without_rendering()  # until then nothing has its position
    scale = 72 / axes.figure.dpi
    places = {name: axes.transData.transform(point) * scale for name, point in labels.items()}
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in places.values()]  # the markers
    offsets = []
    for name, (x, y) in places.items():
        left, bottom = x + LABEL_DISTANCE, y - LABEL_HEIGHT / 2
        right, top = left + LABEL_WIDTH * len(name), y + LABEL_HEIGHT / 2
        steps = sorted(range(-40, 41, 2), key=lambda step: abs(step - ABOVE))
        tried = {step: (left, bottom + step, right, top + step) for step in steps}
        offset = next((step for step, box in tried.items() if not any(overlap(box, other) for other in taken)), 0)
        taken.append(tried[offset])
        offsets.append(float(offset))
    return offsets


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have a point in common."""
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def spending(ways: Mapping[str, Callable[[float], float]], texts: Sequence[float], crossing: float) -> Picture:
    """What each way has cost after so many texts, on logarithmic axes, and where two of them cost the same."""
    figure = new_figure(6.4, 3)
    axes = figure.subplots()
    for (name, cost), color in zip(ways.items(), (BLUE, ORANGE, GREEN), strict=False):
        axes.loglog(texts, [cost(n) for n in texts], color=color, label=name)
    if math.isfinite(crossing):
        axes.axvline(crossing, color=GREY, linestyle="--", linewidth=0.9)
        axes.annotate("equal", (crossing, axes.get_ylim()[0]), (4, 5), textcoords="offset points", fontsize=8)
    axes.set(xlabel="texts", ylabel="euros so far")
    axes.legend(frameon=False, fontsize=8)
    quiet(axes)
    ends = [f"{name} {cost(texts[-1]):,.0f}" for name, cost in ways.items()]
    met = f"they meet at {crossing:,.0f} texts" if math.isfinite(crossing) else "they never meet"
    return Picture(figure, f"Cost by number of texts; {met}. After {texts[-1]:,.0f}: {'; '.join(ends)}.")
