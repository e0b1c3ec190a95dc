"""Fill in the mask, live: type a sentence, and see what the model predicts at each [MASK]."""

from collections.abc import Sequence

from ipywidgets import IntSlider, Text

from bertedu.inference import LanguageModel, fill_mask
from bertedu.templates import template
from bertedu.tokenization import Tokenizer
from bertedu.visualization.picture import BLUE
from bertedu.visualization.predictions import mask_title, prediction_bars
from bertedu.visualization.widgets.view import DESCRIBED, LEFT, NARROW, RIGHT, WIDE, WidgetView, live_view, region

TOP = 5
BAR = f"display: inline-block; height: 0.8em; min-width: 1px; background: {BLUE}"
TABLES = template("""\
<p>{{ text }}</p>
{% for title, answer in tables %}
<table><caption style="{{ left }}">{{ title }}</caption>
<thead><tr><th scope="col" style="{{ left }}">token</th>
<th scope="col" style="{{ right }}">probability</th><td></td></tr></thead>
<tbody>
{% for token, share in answer %}
<tr><th scope="row" style="{{ left }}">{{ token }}</th><td style="{{ right }}">{{ "%.1f" % (100 * share) }}%</td>
<td style="width: 14em; text-align: left">
<span style="{{ bar }}; width: {{ "%.1f" % (100 * share) }}%"></span></td></tr>
{% endfor %}
</tbody></table>
{% endfor %}""")


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
    named = [(mask_title(text, number, len(answers)), answer) for number, answer in enumerate(answers)]
    return region(
        f"The model's guesses for: {text}", TABLES.render(text=text, tables=named, left=LEFT, right=RIGHT, bar=BAR)
    )
