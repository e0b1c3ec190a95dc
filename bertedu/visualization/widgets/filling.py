"""Fill in the mask, live: type a sentence, and see what the model predicts at each [MASK]."""

from collections.abc import Sequence
from html import escape

from ipywidgets import IntSlider, Text

from bertedu.inference import LanguageModel, fill_mask
from bertedu.tokenization import Tokenizer
from bertedu.visualization.picture import BLUE
from bertedu.visualization.predictions import mask_title, prediction_bars
from bertedu.visualization.widgets.view import DESCRIBED, LEFT, NARROW, RIGHT, WIDE, WidgetView, live_view, region

TOP = 5


def fill_mask_box(model: LanguageModel, tokenizer: Tokenizer, text: str) -> WidgetView:
    """A box to type in, with the likeliest tokens for each [MASK] below it. Its still form are bars for `text`.

    Raises UserError for a first text without [MASK] or with more tokens than the model takes; what is typed later
    only shows the sentence.
    """
    still = prediction_bars(text, fill_mask(model, tokenizer, text, TOP))
    typed = Text(text, description="sentence", style=DESCRIBED, layout=WIDE)
    top = IntSlider(TOP, min=1, max=10, description="answers", style=DESCRIBED, layout=NARROW)

    def html() -> str:
        return answers_html(typed.value, fill_mask(model, tokenizer, typed.value, top.value))

    return WidgetView(live_view([typed, top], html), still)


def answers_html(text: str, answers: Sequence[Sequence[tuple[str, float]]]) -> str:
    """For each [MASK] a table of tokens, their probability in percent, and a bar of that length."""
    tables = []
    for number, answer in enumerate(answers):
        rows = "".join(
            f'<tr><th scope="row" style="{LEFT}">{escape(token)}</th><td style="{RIGHT}">{share:.1%}</td>'
            f'<td style="width: 14em; text-align: left"><span style="display: inline-block; height: 0.8em; '
            f'min-width: 1px; width: {100 * share:.1f}%; background: {BLUE}"></span></td></tr>'
            for token, share in answer
        )
        name = escape(mask_title(text, number, len(answers)))
        tables.append(
            f'<table><caption style="{LEFT}">{name}</caption><thead><tr><th scope="col" style="{LEFT}">token</th>'
            f'<th scope="col" style="{RIGHT}">probability</th><td></td></tr></thead><tbody>{rows}</tbody></table>'
        )
    return region(f"The model's guesses for: {text}", f"<p>{escape(text)}</p>{''.join(tables)}")
