"""Attention to explore: choose layer, head, threshold and token, and see what a token attends to."""

from collections.abc import Sequence
from html import escape

import numpy as np
from ipywidgets import Dropdown, IntSlider, ToggleButtons, link

from bertedu.inference import LanguageModel, attention_weights
from bertedu.model import BertModel
from bertedu.tokenization import Tokenizer
from bertedu.visualization.attention import attention_lines, strongest
from bertedu.visualization.picture import BLUE
from bertedu.visualization.widgets.view import DESCRIBED, NARROW, WIDE, WidgetView, live_view, region

ALL_TOKENS = -1
ROW, LEFT, RIGHT, WIDTH = 20, 150, 340, 560  # pixels: a token's line, where the two columns end and begin


def attention_explorer(
    model: LanguageModel | BertModel, tokenizer: Tokenizer, text: str, pair: str | None = None
) -> WidgetView:
    """Sliders for layer, head and the smallest weight to draw, and a button for each token; below them the attention
    as lines, with its numbers for the chosen token. Its still form shows the first head of the first layer.

    Raises UserError for a text that is too long for the model.
    """
    tokens, weights = attention_weights(model, tokenizer, text, pair)
    numbers = weights.numpy()  # [L, H, T, T]
    layers, heads = numbers.shape[:2]
    sizes = {"style": DESCRIBED, "layout": NARROW}
    layer = IntSlider(1, min=1, max=layers, description="layer", **sizes)
    head = IntSlider(1, min=1, max=heads, description="head", **sizes)
    threshold = IntSlider(5, min=0, max=100, description="smallest weight, %", **sizes)
    named = [(f"{place} {token}", place) for place, token in enumerate(tokens, start=1)]
    choices = [("all tokens", ALL_TOKENS), *((name, place - 1) for name, place in named)]
    token = Dropdown(options=choices, description="token", **sizes)
    buttons = ToggleButtons(
        options=choices, description="or click one", style={**DESCRIBED, "button_width": "auto"}, layout=WIDE
    )
    link((token, "value"), (buttons, "value"))

    def html() -> str:
        chosen = None if token.value == ALL_TOKENS else token.value
        return explorer_html(numbers, tokens, layer.value, head.value, threshold.value / 100, chosen)

    still = attention_lines(weights[0, 0], tokens, "Layer 1, head 1")
    return WidgetView(live_view([layer, head, threshold, token, buttons], html), still)


def explorer_html(
    numbers: np.ndarray, tokens: Sequence[str], layer: int, head: int, threshold: float, chosen: int | None
) -> str:
    """One head of [L, H, T, T], layer and head counted from 1, as lines, and in words."""
    weights = numbers[layer - 1, head - 1]
    words = most_attended(weights, tokens, chosen)
    name = f"Layer {layer}, head {head}"
    return region(name, f"<p>{name}. {escape(words)}</p>{lines_svg(weights, tokens, threshold, chosen)}")


def most_attended(weights: np.ndarray, tokens: Sequence[str], chosen: int | None) -> str:
    """In words: the five tokens that the chosen one attends to most, or, for all tokens, the first of each."""
    if chosen is None:
        return strongest(weights, tokens)
    order = np.argsort(-weights[chosen], kind="stable")[:5]
    told = ", ".join(f"{tokens[target]} ({target + 1}) {weights[chosen, target]:.0%}" for target in order)
    return f"Token {chosen + 1}, {tokens[chosen]}, attends to: {told}."


def lines_svg(weights: np.ndarray, tokens: Sequence[str], threshold: float, chosen: int | None) -> str:
    """Lines from each token (or the chosen one) on the left to those that get at least `threshold` of its attention,
    [T, T]; the wider the line, the more. The chosen token's shares stand beside their targets."""
    height = ROW * (len(tokens) + 1)
    parts = []
    for source, target in np.argwhere(weights >= threshold):
        if chosen is None or chosen == source:
            share = float(weights[source, target])
            parts.append(
                f'<line x1="{LEFT}" y1="{middle(source)}" x2="{RIGHT}" y2="{middle(target)}" stroke="{BLUE}" '
                f'stroke-width="{0.5 + 6 * share:.1f}" stroke-opacity="{min(1.0, 0.2 + share):.2f}"/>'
            )
    for place, token in enumerate(tokens):
        bold = ' font-weight="bold" text-decoration="underline"' if place == chosen else ""
        share_told = "" if chosen is None else f"  {weights[chosen, place]:.0%}"
        baseline = middle(place) + 4
        parts.append(f'<text x="{LEFT - 6}" y="{baseline}" text-anchor="end"{bold}>{escape(token)}</text>')
        parts.append(f'<text x="{RIGHT + 6}" y="{baseline}">{escape(token)}{share_told}</text>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" font-size="13" '
        f'fill="currentColor" aria-label="Lines from each token to those it attends to; the words above tell the same">'
        f'<text x="{LEFT - 6}" y="14" text-anchor="end" font-style="italic">token</text>'
        f'<text x="{RIGHT + 6}" y="14" font-style="italic">attends to</text>{"".join(parts)}</svg>'
    )


def middle(place: int) -> float:
    """The height of a token's line, in pixels."""
    return ROW * (place + 1.5)
