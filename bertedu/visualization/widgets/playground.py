"""Masking to play with: what the masking rate, the three fates and whole words do to ids, labels and loss.

Devlin et al. 2019, section 3.1 and appendix A.1.
"""

from dataclasses import dataclass, replace
from html import escape

import torch
from ipywidgets import Checkbox, IntSlider, Text
from torch import Tensor

from bertedu.errors import UserError
from bertedu.inference import LanguageModel, encode, run
from bertedu.model.heads import IGNORED
from bertedu.pretraining.masking import draw, first_tokens, first_words, replace_chosen
from bertedu.templates import template
from bertedu.tokenization import Tokenizer
from bertedu.visualization.picture import ORANGE
from bertedu.visualization.widgets.view import DESCRIBED, LEFT, NARROW, WIDE, StillPage, WidgetView, live_view, region

COLUMNS = 10
FRAMED = f"; font-weight: bold; border: 2px solid {ORANGE}"
NOT_CHOSEN, MASKED, RANDOM, KEPT = "", "[MASK]", "random", "kept"


@dataclass(frozen=True)
class MaskedText:
    """One text after masking, token by token, all lists of length T.

    fates: what happened to a token: "[MASK]", "random", "kept", or "" where it was not chosen. probabilities: what
    the model gives to the right token where there is a label; with its loss None without a model.
    """

    tokens: list[str]
    input_ids: list[int]
    seen: list[str]
    labels: list[int]
    fates: list[str]
    probabilities: list[float | None] | None = None
    loss: float | None = None


@torch.no_grad()
def mask_text(
    tokenizer: Tokenizer,
    text: str,
    rate: float,
    mask_share: float,
    random_share: float,
    whole_words: bool = False,
    seed: int = 0,
    model: LanguageModel | None = None,
) -> MaskedText:
    """Mask one text: of round(masking rate · T) tokens, at least one, `mask_share` become [MASK] and `random_share`
    another token, the rest stay as they are. The same seed draws the same. Shares of 0.8 and 0.1 are `mask_tokens`.

    Raises UserError for shares that are more than the whole, for a text without a token, and, with a model, for one
    that is too long for it.
    """
    if mask_share + random_share > 1 + 1e-9:
        raise UserError(
            f"[MASK] for {mask_share:.0%} and a random token for {random_share:.0%} make more than 100 %: lower one."
        )
    encoding = tokenizer(text) if model is None else encode(model, tokenizer, text)
    ids, tokens = encoding.input_ids, encoding.tokens[0]
    special = torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id])
    candidates = ~torch.isin(ids, special)  # [1, T]
    if not candidates.any():
        raise UserError("there is no token to mask: type a text.")
    draws = draw(ids.shape, len(tokenizer), torch.Generator().manual_seed(seed))
    number = torch.tensor([max(1, round(rate * ids.size(1)))])
    if whole_words:
        continuation = torch.tensor([[tokenizer.continues_word(token) for token in tokens]])
        chosen = first_words(candidates, continuation, number, draws.mask_order)
    else:
        chosen = first_tokens(candidates, number, draws.mask_order)
    shares = mask_share, random_share
    seen, becomes_mask, becomes_random = replace_chosen(ids, chosen, tokenizer.mask_token_id, draws, *shares)
    labels = ids.masked_fill(~chosen, IGNORED)
    fates = [
        MASKED if mask else RANDOM if other else KEPT if label else NOT_CHOSEN
        for mask, other, label in zip(becomes_mask[0], becomes_random[0], chosen[0], strict=True)
    ]
    told = MaskedText(
        tokens, seen[0].tolist(), tokenizer.convert_ids_to_tokens(seen[0].tolist()), labels[0].tolist(), fates
    )
    if model is None or not chosen.any():
        return told
    loss, right = surprise(model, replace(encoding, input_ids=seen), labels)
    of_labels = iter(right)
    return replace(told, loss=loss, probabilities=[next(of_labels) if label else None for label in chosen[0]])


def surprise(model: LanguageModel, encoding, labels: Tensor) -> tuple[float, list[float]]:
    """The mean loss over the labels, and the probability of each right token, in reading order."""
    output = run(model, encoding, labels=labels)
    right = labels[labels != IGNORED]  # [N]
    probabilities = output.prediction_logits.float().softmax(dim=-1).cpu()[torch.arange(len(right)), right]
    return float(output.loss), probabilities.tolist()


def masked_html(masked: MaskedText) -> str:
    """Tables with a column for each token, ten side by side; what happened is said in words, not by colour."""
    rows: list[tuple[str, list[str]]] = [
        ("text", masked.tokens),
        ("the model sees", masked.seen),
        ("what happened", masked.fates),
        ("input_ids", [str(index) for index in masked.input_ids]),
        ("labels", [str(label) for label in masked.labels]),
    ]
    if masked.probabilities is not None:
        told = ["" if share is None else f"{share:.1%}" for share in masked.probabilities]
        rows.append(("gives the right token", told))
    columns = list(zip(masked.fates, *(cells for _, cells in rows), strict=True))
    blocks = [columns[start : start + COLUMNS] for start in range(0, len(columns), COLUMNS)]
    tables = "".join(table_html([name for name, _ in rows], block) for block in blocks)
    return f"{tables}<p>{escape(describe(masked))}</p>"


TABLE = template("""\
<table style='margin-bottom: 8px'><tbody>
{%- for name in names -%}
{%- set row = loop.index -%}
<tr><th scope="row" style="{{ left }}">{{ name }}</th>
{%- for column in columns -%}
<td style="text-align: center; padding: 2px 6px{{ framed if column[0] }}">{{ column[row] }}</td>
{%- endfor -%}
</tr>
{%- endfor -%}
</tbody></table>""")


def table_html(names: list[str], columns: list[tuple[str, ...]]) -> str:
    """Some tokens side by side: a row for each name, a column (fate, then its cells) for each token."""
    return TABLE.render(names=names, columns=columns, left=LEFT, framed=FRAMED)


def describe(masked: MaskedText) -> str:
    """The counts and the loss, in sentences."""
    counts = {fate: masked.fates.count(fate) for fate in (MASKED, RANDOM, KEPT)}
    chosen = sum(counts.values())
    if not chosen:
        return "No token was chosen: every word has more pieces than may be masked. There is no label, and no loss."
    text = (
        f"{chosen} of {len(masked.tokens)} tokens have a label: {counts[MASKED]} became [MASK], "
        f"{counts[RANDOM]} a random token, {counts[KEPT]} stayed. All other labels are {IGNORED}: they do not count."
    )
    return text if masked.loss is None else f"{text} The loss is {masked.loss:.2f}."


def in_words(masked: MaskedText) -> str:
    """What the model sees and what it must guess, for those who see no table."""
    guessed = [
        f"{tok} at {i} ({fate})" for i, (tok, fate) in enumerate(zip(masked.tokens, masked.fates, strict=True)) if fate
    ]
    return (
        f"The model sees: {' '.join(masked.seen)}. It must guess: {', '.join(guessed) or 'nothing'}. {describe(masked)}"
    )


def masking_playground(tokenizer: Tokenizer, text: str, model: LanguageModel | None = None) -> WidgetView:
    """Sliders for the masking rate and the fates of the chosen tokens, a switch for whole words, and another draw;
    below it what the model sees, ids and labels, and, with a model, its loss. Its still form is a table.

    Raises UserError as `mask_text`; what is typed later only shows the sentence.
    """
    first = mask_text(tokenizer, text, 0.15, 0.8, 0.1, model=model)
    typed = Text(text, description="text", style=DESCRIBED, layout=WIDE)
    sizes = {"style": DESCRIBED, "layout": NARROW}
    rate = IntSlider(15, min=1, max=100, description="chosen, %", **sizes)
    mask_share = IntSlider(80, min=0, max=100, description="of these [MASK], %", **sizes)
    random_share = IntSlider(10, min=0, max=100, description="of these random, %", **sizes)
    whole_words = Checkbox(False, description="whole words", style=DESCRIBED)
    seed = IntSlider(0, min=0, max=30, description="draw number", **sizes)

    def html() -> str:
        shares = mask_share.value / 100, random_share.value / 100
        masked = mask_text(
            tokenizer, typed.value, rate.value / 100, *shares, whole_words.value, seed.value, model=model
        )
        return region("The text after masking", masked_html(masked))

    view = live_view([typed, rate, mask_share, random_share, whole_words, seed], html)
    return WidgetView(view, StillPage(masked_html(first), in_words(first)))
