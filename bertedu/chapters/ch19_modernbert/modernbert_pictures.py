"""The pictures of notebook 19: a layer of BERT beside one of ModernBERT, wavelengths, masks, a packed batch, schedules
of the learning rate, and runs with one change more each.

Shapes: B batch, T tokens, N real tokens of the whole batch, d size of a head.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure, quiet

BERT_LAYER = ("words + positions + segments", "LayerNorm", "self-attention", "add, LayerNorm", "feed-forward, GELU",
              "add, LayerNorm")  # fmt: skip
# With a star: new.
MODERN_LAYER = ("words", "LayerNorm", "*LayerNorm (not in the first layer)", "*rotary attention, local or global",
                "add", "*LayerNorm", "*GeGLU", "add", "*LayerNorm after the last layer")  # fmt: skip


def layers_compared() -> Picture:
    """The way of a vector through one layer of each model, from the bottom to the top; what is new in blue."""
    figure = new_figure(7.2, 4.2)
    axes = figure.subplots()
    axes.set(xlim=(0, 10), ylim=(-0.5, 8.6))
    axes.axis("off")
    for x, title, names in ((2, "BERT", BERT_LAYER), (7.3, "ModernBERT", MODERN_LAYER)):
        axes.text(x, 8.3, title, ha="center", fontsize=10, fontweight="bold", color=INK)
        gap = 7.5 / (len(names) - 1)
        for y, name in ((gap * level, name) for level, name in enumerate(names)):
            edge, fill = (BLUE, "#e3f0f8") if name.startswith("*") else (GREY, "#f3f3f3")
            frame = {"boxstyle": "round,pad=0.32", "facecolor": fill, "edgecolor": edge}
            axes.text(x, y, name.strip("*"), ha="center", va="center", fontsize=8.5, color=INK, bbox=frame)
            if y:
                arrow = {"arrowstyle": "->", "color": GREY}
                axes.annotate("", (x, y - 0.26), (x, y - gap + 0.26), arrowprops=arrow)
    alt = "One layer of each model, from bottom to top. "
    for title, names in (("BERT", BERT_LAYER), ("ModernBERT", MODERN_LAYER)):
        alt += f"{title}: {'; '.join(name.replace('*', 'new, ') for name in names)}. "
    return Picture(figure, alt.strip())


def wavelengths(by_theta: Mapping[int, Tensor], marks: Mapping[int, str]) -> Picture:
    """How many positions each pair needs for a full turn: for each theta its wavelengths [d/2], on a logarithmic axis;
    marks are lengths to compare with, and what they are.
    """
    figure = new_figure(6.4, 2.9)
    axes = figure.subplots()
    pairs = max(len(numbers) for numbers in by_theta.values())
    for (theta, numbers), color in zip(by_theta.items(), (ORANGE, BLUE, GREEN), strict=False):
        axes.semilogy(numbers, "o-", markersize=3, color=color)
        axes.text(pairs - 0.5, numbers[-1].item(), f"θ = {theta:,}", color=color, va="center")
    for length, name in marks.items():
        axes.axhline(length, color=GREY, linewidth=0.9, linestyle="--")
        axes.text(1.2 * pairs, length / 2, f"{length:,}: {name}", color=GREY, fontsize=8, ha="right")
    axes.set(xlabel="pair k of a head", ylabel="positions in a full turn", xlim=(-1, 1.22 * pairs))
    axes.set_xticks(range(0, pairs, 5))  # none where the names stand
    quiet(axes)
    curves = [f"θ {theta:,} from {numbers[0]:,.0f} to {numbers[-1]:,.0f}" for theta, numbers in by_theta.items()]
    alt = f"Wavelengths of {pairs} pairs on a logarithmic axis, straight lines: {'; '.join(curves)} positions. "
    return Picture(figure, f"{alt}Marked: {', '.join(f'{length:,}' for length in marks)}.")


def mask_panels(panels: Mapping[str, Tensor]) -> Picture:
    """Masks [T, T], 1 or True where the query of the row sees the key of the column, side by side."""
    figure = new_figure(2.5 * len(panels), 2.7)
    counts = []
    for axes, (title, mask) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        axes.imshow(mask.float(), cmap="Blues", vmin=0, vmax=1.3)
        count = f"{int(mask.bool().sum())} of {mask.numel()} pairs"
        axes.set_title(f"{title}\n{count}", fontsize=9)
        axes.set(xlabel="key", ylabel="query", xticks=range(0, len(mask), 8), yticks=range(0, len(mask), 8))
        counts.append(f"{title}, {count}")
    return Picture(figure, f"Masks, queries down and keys across: {'; '.join(counts)}.")


def packed_batch(lengths: Sequence[int]) -> Picture:
    """Texts of these lengths as a rectangle with padding and as one sequence of N tokens, and what attention sees."""
    longest, total, batch = max(lengths), sum(lengths), len(lengths)
    offsets = [sum(lengths[:number]) for number in range(batch + 1)]
    figure = new_figure(7.4, 2.6)
    rows, masks = figure.subplots(1, 2, width_ratios=(1.7, 1))
    edges = {"edgecolor": "white", "linewidth": 0.8}
    for number, length in enumerate(lengths):
        color, y = (BLUE, ORANGE, GREEN)[number % 3], batch - number
        rows.broken_barh([(t, 1) for t in range(longest)], (y, 0.8), facecolor="#e4e4e4", **edges)
        rows.broken_barh([(t, 1) for t in range(length)], (y, 0.8), facecolor=color, **edges)
        rows.broken_barh([(offsets[number] + t, 1) for t in range(length)], (-0.8, 0.8), facecolor=color, **edges)
    rows.text(
        longest + 0.5, 1 + batch / 2, f"batch: {batch * longest} tokens,\ngrey is padding", fontsize=8, va="center"
    )
    rows.text(0, -1.6, f"packed: {total} tokens, offsets {offsets}", fontsize=8)
    rows.set(xlim=(0, total + 0.5), ylim=(-1.8, batch + 1.1))
    rows.axis("off")
    texts = torch.repeat_interleave(torch.arange(batch), torch.tensor(lengths))
    own = texts[:, None] == texts[None, :]  # [N, N]
    masks.imshow(own.float(), cmap="Blues", vmin=0, vmax=1.3)
    masks.set_title(f"attention, {int(own.sum())} of {total * total} pairs", fontsize=9)
    masks.set(xlabel="key", ylabel="query", xticks=offsets[:-1], yticks=offsets[:-1])
    return Picture(
        figure,
        f"Left: {batch} texts as a rectangle of {batch * longest} tokens with grey padding, and below it one after the "
        f"other, {total} tokens without gaps. Right: the mask of the packed texts, {batch} squares along the diagonal.",
    )


def schedules(warmup: float = 2, decay: float = 10) -> Picture:
    """BERT's linear schedule beside a trapezoid that falls like 1 - √, over a run of 100."""
    time = torch.linspace(0, 100, 1001)
    rising = (time / warmup).clamp_max(1)
    linear = torch.minimum(rising, (100 - time) / (100 - warmup))
    trapezoid = rising * (1 - ((time - (100 - decay)) / decay).clamp_min(0).sqrt())
    figure = new_figure(6, 2.4)
    axes = figure.subplots()
    for values, color, name, at in ((linear, ORANGE, "BERT: linear", 42), (trapezoid, BLUE, "trapezoid", 60)):
        axes.plot(time, values, color=color)
        axes.text(at, values[at * 10].item() + 0.05, name, color=color)
    axes.set(xlabel="share of the run, %", ylabel="share of the peak\nlearning rate", ylim=(0, 1.2))
    quiet(axes)
    return Picture(
        figure,
        f"Two schedules over a run. Linear: up to 1 within {warmup:g} %, then straight down to 0. Trapezoid: up to 1 "
        f"within {warmup:g} %, level until {100 - decay:g} %, then down to 0, steeply at first.",
    )


def ladder(runs: Sequence[Mapping[str, Any]]) -> Picture:
    """Each run's loss above the name of its model, one color for each learning rate. runs as recorded by
    benchmarks/modernbert_ladder.py, all of the same number of steps.
    """
    names = list(dict.fromkeys(run["model"] for run in runs))
    rates = sorted({run["learning_rate"] for run in runs})
    figure = new_figure(7, 2.8)
    axes = figure.subplots()
    for number, (rate, color) in enumerate(zip(rates, (ORANGE, BLUE, GREEN), strict=False)):
        chosen = [run for run in runs if run["learning_rate"] == rate]
        x = [names.index(run["model"]) + 0.2 * (number - (len(rates) - 1) / 2) for run in chosen]
        axes.plot(x, [run["loss"] for run in chosen], "o", color=color, label=f"learning rate {rate}")
    axes.set_xticks(range(len(names)), names)
    axes.set(ylabel="cross-entropy, nats", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8)
    quiet(axes)
    ranges = []
    for name in names:
        losses = [run["loss"] for run in runs if run["model"] == name]
        ranges.append(f"{name.removeprefix('+ ')} {min(losses):.1f} to {max(losses):.1f}")
    return Picture(figure, f"Cross-entropy, one point a run: {'; '.join(ranges)}.")
