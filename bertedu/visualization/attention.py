"""Where tokens look: one head as a heat map or as lines, all heads of all layers as a grid.

Weights are as in `attention_weights`: [T, T] for one head, row by row what each token attends to; [L, H, T, T]
for a whole model.
"""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from bertedu.errors import UserError
from bertedu.tokenization.layout import AROUND
from bertedu.visualization.picture import BLUE, INK, Picture, new_figure

COLORS = "Blues"
LINES_FROM = 0.02  # weights below are left out of the lines: they would only make the picture grey


def attention_heatmap(weights: Tensor, tokens: Sequence[str], title: str = "") -> Picture:
    """One head, [T, T], as a heat map: the row of a token holds its attention weights."""
    numbers = checked(weights, tokens, dimensions=2)
    size = max(3.2, 0.27 * len(tokens) + 1.6)
    figure = new_figure(size + 0.7, size)
    axes = figure.subplots()
    image = axes.imshow(numbers, cmap=COLORS, vmin=0, vmax=max(numbers.max(), 1e-9))
    axes.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=8, parse_math=False)
    axes.set_yticks(range(len(tokens)), tokens, fontsize=8, parse_math=False)
    axes.set_xlabel("attends to")
    axes.set_ylabel("token")
    axes.set_title(title, fontsize=10, parse_math=False)
    bar = figure.colorbar(image, ax=axes, shrink=0.6, label="attention weight")
    bar.outline.set_visible(False)  # type: ignore[operator]
    return Picture(figure, f"{title or 'One attention head'}: {strongest(numbers, tokens)}")


def attention_grid(weights: Tensor, tokens: Sequence[str]) -> Picture:
    """All heads of all layers, [L, H, T, T], small: a row for each layer, a column for each head."""
    numbers = checked(weights, tokens, dimensions=4)
    layers, heads = numbers.shape[:2]
    size = 3.0 if heads <= 4 else 1.1
    labelled = heads <= 4 and len(tokens) <= 32
    figure = new_figure(size * heads + 0.9, size * layers + 0.6)
    all_axes = figure.subplots(layers, heads, squeeze=False, sharex=True, sharey=True)
    for layer in range(layers):
        for head in range(heads):
            axes = all_axes[layer, head]
            axes.imshow(numbers[layer, head], cmap=COLORS, vmin=0, vmax=max(numbers[layer, head].max(), 1e-9))
            if labelled:
                axes.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=7, parse_math=False)
                axes.set_yticks(range(len(tokens)), tokens, fontsize=7, parse_math=False)
            else:
                axes.set_xticks([])
                axes.set_yticks([])
            if layer == 0:
                axes.set_title(f"head {head + 1}", fontsize=9)
            if head == 0:
                axes.set_ylabel(f"layer {layer + 1}", fontsize=9)
    return Picture(figure, describe_grid(numbers, tokens))


def attention_lines(weights: Tensor, tokens: Sequence[str], title: str = "") -> Picture:
    """One head, [T, T], as lines from each token on the left to those that it attends to on the right."""
    numbers = checked(weights, tokens, dimensions=2)
    count = len(tokens)
    figure = new_figure(4.6, max(2.4, 0.24 * count + 0.8))
    axes = figure.subplots()
    for source, target in np.argwhere(numbers >= LINES_FROM):
        share = float(numbers[source, target])
        axes.plot([0, 1], [source, target], color=BLUE, alpha=min(1.0, 0.1 + share), linewidth=0.4 + 3 * share)
    for place, token in enumerate(tokens):
        axes.text(-0.03, place, token, ha="right", va="center", fontsize=8, color=INK, parse_math=False)
        axes.text(1.03, place, token, ha="left", va="center", fontsize=8, color=INK, parse_math=False)
    axes.set_xlim(-0.6, 1.6)
    axes.set_ylim(count - 0.4, -1.4)
    axes.text(-0.03, -1, "token", ha="right", va="center", fontsize=8, style="italic")
    axes.text(1.03, -1, "attends to", ha="left", va="center", fontsize=8, style="italic")
    axes.axis("off")
    axes.set_title(title, fontsize=10, parse_math=False)
    return Picture(figure, f"{title or 'One attention head'}: {strongest(numbers, tokens)}")


def checked(weights: Tensor, tokens: Sequence[str], dimensions: int) -> np.ndarray:
    """The weights as numbers. Raises UserError where their shape is not that of the tokens."""
    numbers = weights.detach().float().cpu().numpy()
    if numbers.ndim != dimensions or numbers.shape[-2:] != (len(tokens), len(tokens)):
        wanted = "[T, T] for one head" if dimensions == 2 else "[L, H, T, T] for a model"
        raise UserError(
            f"attention weights have the shape {list(numbers.shape)} and there are {len(tokens)} tokens: give {wanted}."
        )
    return numbers


def strongest(numbers: np.ndarray, tokens: Sequence[str], most: int = 16) -> str:
    """In words: the token that each token attends to most."""
    parts = [
        f"{token} attends most to {tokens[target]} ({row[target]:.0%})"
        for token, row in zip(tokens[:most], numbers, strict=False)
        for target in [int(row.argmax())]
    ]
    rest = f"; and {len(tokens) - most} more tokens" if len(tokens) > most else ""
    return "; ".join(parts) + rest + "."


def describe_grid(numbers: np.ndarray, tokens: Sequence[str]) -> str:
    """In words: what each head does on average, as far as that can be told from where the weight lies."""
    layers, heads = numbers.shape[:2]
    parts = [
        f"layer {layer + 1} head {head + 1} {habit(numbers[layer, head], tokens)}"
        for layer in range(min(layers, 4))
        for head in range(min(heads, 4))
    ]
    more = " (the first four layers and heads are told)" if layers > 4 or heads > 4 else ""
    return (
        f"Heat maps of all {layers * heads} attention heads, {layers} layers of {heads}, on the {len(tokens)} tokens "
        f"{' '.join(tokens)}. Mean attention weight{more}: {'; '.join(parts)}."
    )


def habit(weights: np.ndarray, tokens: Sequence[str]) -> str:
    """The largest of: on the token itself, on the one before, on the one after, on [CLS] and [SEP] (or what the model
    has instead), elsewhere.
    """
    around = [token for token in AROUND if token in tokens]
    special = np.array([token in around for token in tokens])
    shares = {
        "on the token itself": np.trace(weights),
        "on the token before": np.trace(weights, -1),
        "on the token after": np.trace(weights, 1),
        f"on {' and '.join(around)}": weights[:, special].sum(),
    }
    shares["on other tokens"] = weights.sum() - sum(shares.values())
    name = max(shares, key=lambda key: shares[key])
    return f"{shares[name] / len(tokens):.0%} {name}"
