"""The head view and the model view of bertviz (Vig 2019) for the attention of our models, without a network.

bertviz loads d3 and jQuery from the internet. Here they come from packages on this machine that ship them, and the
view lives in a frame of its own. It travels to the page as a widget, so no script is written into the notebook.
"""

import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import torch
from torch import Tensor

from bertedu.errors import UserError
from bertedu.files import read_text
from bertedu.visualization.attention import attention_grid, checked
from bertedu.visualization.widgets.view import WidgetView, frame

LIBRARIES = (("mpld3", "mpld3/js/d3.v5.min.js"), ("sphinxcontrib-jquery", "sphinxcontrib/jquery/jquery.js"))
FETCHES_REQUIRE = '<script src="https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"></script>'
# What bertviz asks of require.js: its two libraries, which the page holds already.
REQUIRE = """
window.require = { config: function () {} };
window.requirejs = function (names, run) { run(window.jQuery, window.d3); };
"""
STYLE = "body { margin: 8px; background: white; color: black; color-scheme: light; }"
FEWEST_COLUMNS = 6  # as if there were so many heads: with two, bertviz would make each as wide as half the page


def head_view(attentions: Sequence[Tensor], tokens: Sequence[str], sentence_b_start: int | None = None) -> WidgetView:
    """One layer at a time: lines between tokens, a colour for each head; click a colour to leave that head out.

    attentions: L tensors [1, H, T, T] (a model's `output.attentions`), or [L, H, T, T] (`attention_weights`).
    sentence_b_start: where the second text begins, to look at one text or between the two. bertviz counts layers
    from 0. Its still form is a grid of the first layer's heads. Raises UserError for weights of other tokens.
    """
    from bertviz import head_view as view  # here, since only this needs it

    weights = model_weights(attentions, tokens, sentence_b_start)
    page = own_page(view(slices(weights), harmless(tokens), sentence_b_start, html_action="return").data)
    alt = f"bertviz head view: lines between {len(tokens)} tokens; choose the layer, counted from 0, above them."
    still = attention_grid(weights[:1], tokens)
    return WidgetView(frame(page, alt, height=80 + 23 * len(tokens)), still)


def model_view(attentions: Sequence[Tensor], tokens: Sequence[str], sentence_b_start: int | None = None) -> WidgetView:
    """All heads of all layers at once, small; click one to see it large. Arguments and errors as for `head_view`;
    its still form is the grid of all heads."""
    from bertviz import model_view as view

    weights = model_weights(attentions, tokens, sentence_b_start)
    layers, heads = weights.shape[:2]
    made = view(slices(weights), harmless(tokens), sentence_b_start, display_mode="light", html_action="return")
    alt = f"bertviz model view: {layers} layers of {heads} heads, counted from 0; click a head to see it large."
    columns = max(heads, FEWEST_COLUMNS)
    page = own_page(re.sub(r'"total_heads": \d+', f'"total_heads": {columns}', made.data))
    height = 80 + layers * (10 + len(tokens) * 84 // columns)  # bertviz gives a token so many pixels in a small view
    return WidgetView(frame(page, alt, max(height, 90 + 18 * len(tokens))), attention_grid(weights, tokens))


def model_weights(attentions: Sequence[Tensor], tokens: Sequence[str], sentence_b_start: int | None) -> Tensor:
    """[L, H, T, T], on the CPU. Raises UserError where they are not one text's, or not these tokens'."""
    if any(layer.dim() == 4 and layer.size(0) != 1 for layer in attentions):
        raise UserError(f"there are {attentions[0].size(0)} texts in a batch: give the attention of one, [:1].")
    weights = torch.stack([layer.detach().reshape(layer.shape[-3:]).float().cpu() for layer in attentions])
    checked(weights, tokens, dimensions=4)
    if sentence_b_start is not None and not 0 < sentence_b_start < len(tokens):
        raise UserError(
            f"sentence_b_start is {sentence_b_start}, and there are {len(tokens)} tokens: give the position of the "
            "second text's first token, counted from 0."
        )
    return weights


def slices(weights: Tensor) -> list[Tensor]:
    """[L, H, T, T] as bertviz wants it, L tensors [1, H, T, T], rounded so that the page stays small."""
    return [layer[None] for layer in weights.double().round(decimals=4)]


def harmless(tokens: Sequence[str]) -> list[str]:
    """Tokens that cannot end the script in which bertviz writes them down: an invisible sign follows each "<"."""
    return [re.sub("<(?=.)", "<\u2060", token) for token in tokens]


def own_page(view: str) -> str:
    """A whole page that holds what bertviz made and everything that it needs. Nothing is fetched."""
    scripts = "".join(f"<script>{library(*place)}</script>\n" for place in LIBRARIES)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>bertviz</title>\n'
        f"<style>{STYLE}</style>\n{scripts}<script>{REQUIRE}</script>\n</head>\n"
        f"<body>{view.replace(FETCHES_REQUIRE, '')}</body>\n</html>\n"
    )


def library(package: str, file: str) -> str:
    """A script that an installed package ships. Raises UserError where the package or the file is missing."""
    try:
        path = Path(str(distribution(package).locate_file(file)))
    except PackageNotFoundError:
        raise UserError(f"bertviz needs {file} of {package}, which is not installed: pip install {package}.") from None
    return read_text(path).replace("</script", "<\\/script")
