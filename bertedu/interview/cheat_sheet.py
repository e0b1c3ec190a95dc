"""Two pages to take along: sizes, shapes, formulas, costs and the family. Every number that can be computed is.

The counts come from the models themselves, built without memory (torch's meta device). What no code knows is the
published recipe (Devlin et al. 2019, section 3 and appendix A), and it is marked as published.
Shapes: B batch, T tokens, D hidden size, H heads, L layers, V vocabulary.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from math import log
from typing import Any

import torch
from markupsafe import Markup
from markupsafe import escape as escape_markup
from torch import nn

from bertedu.config import BertConfig, EncoderConfig
from bertedu.model.architecture import architecture
from bertedu.model.heads import BertForPreTraining
from bertedu.templates import template
from bertedu.training.costs import SHARE_OF_PEAK, TOKENS, attention_bytes, forward_flops, hours, pretraining_flops

TITLE = "BERT on two pages"
STYLE = """
@page { size: A4; margin: 8mm; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 194mm; color: #1d1d1f; background: #fff; font: 8.9pt/1.36 system-ui, sans-serif; }
h1 { font-size: 13pt; margin: 0 0 1mm; }
h2 { font-size: 10pt; margin: 2.4mm 0 .6mm; color: #00507f; border-bottom: .3mm solid #00507f; break-after: avoid; }
p { margin: .5mm 0; }
main { columns: 2; column-gap: 6mm; column-fill: balance; }
main + main { break-before: page; }
sub { font-size: 75%; line-height: 1; }
.wide { column-span: all; }
.new-column { break-before: column; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
tr { break-inside: avoid; }
th, td { text-align: left; vertical-align: top; padding: .2mm 1.4mm .2mm 0; border-bottom: .1mm solid #d0d0d6; }
td.number { text-align: right; white-space: nowrap; }
td.shape { white-space: nowrap; }
.faint { color: #55555c; }
"""

INDEX = re.compile(r"_(?:{([^}]*)}|([A-Za-z]+))")  # z_y and score_{t−1}
WORDS = files("bertedu.interview").joinpath("cheat_sheet.toml")

# Member, what its base config changes, what is new, what it learns from.
FAMILY: tuple[tuple[str, str, dict[str, Any], str, str], ...] = (
    ("BERT", "bert", {}, "the base of all", "masked words, next sentence"),
    (
        "RoBERTa",
        "roberta",
        {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
        "ten times the text, no segments, positions from 2",
        "masked words, drawn anew each time",
    ),
    (
        "XLM-R",
        "xlm-roberta",
        {"vocab_size": 250002, "max_position_embeddings": 514, "type_vocab_size": 1},
        "RoBERTa for 100 languages",
        "masked words",
    ),
    ("ALBERT", "albert", {}, "one layer used 12 times, V·E + E·D", "masked words, sentence order"),
    ("DistilBERT", "distilbert", {}, "every second layer, a teacher", "teacher's words, masked words, cosine"),
    ("ELECTRA", "electra", {}, "a small generator replaces words", "which token was replaced? (all tokens)"),
    ("DeBERTa", "deberta", {}, "content and relative position apart", "masked words"),
    ("DeBERTa v3", "deberta-v2", {"vocab_size": 128100}, "log buckets; shared tables, no gradient", "replaced tokens"),
    ("XLNet", "xlnet", {}, "two streams, any order of factors", "next word in a random order"),
    ("ModernBERT", "modernbert", {}, "RoPE, GeGLU, pre-norm, local layers, 8,192 tokens", "masked words, 30 %"),
)


def count(model: nn.Module) -> int:
    """The number of parameters, each shared one once."""
    return sum(parameter.numel() for parameter in {id(one): one for one in model.parameters()}.values())


def built(model_type: str, **changes: Any) -> tuple[EncoderConfig, nn.Module]:
    """The base model of a member, without memory for its weights, and its config."""
    member = architecture(model_type)
    config = member.config.preset("base", **changes)
    with torch.device("meta"):
        return config, member.encoder(config)


def parameters() -> str:
    """Where the parameters are, for Base and Large."""
    found = []
    for preset in ("base", "large"):
        config = BertConfig.preset(preset)
        with torch.device("meta"):
            model = BertForPreTraining(config)
        bert = model.bert
        layer = bert.encoder.layers[0]
        whole = count(model)
        found.append(
            [
                f"{config.num_hidden_layers} / {config.hidden_size} / {config.num_attention_heads}",
                millions(config.vocab_size * config.hidden_size),
                millions(count(bert.embeddings) - config.vocab_size * config.hidden_size),
                millions(count(layer.attention)),
                millions(count(layer)),
                millions(count(bert.encoder)),
                millions(count(bert)),
                millions(whole),
            ]
        )
    names = (
        "L / D / H",
        "token embeddings V·D",
        "positions, segments, LayerNorm",
        "attention of a layer ≈ 4·D²",
        "a layer ≈ 12·D²",
        "all layers ≈ 12·L·D²",
        "encoder with pooler",
        "with both heads, tied",
    )
    return table(("", "Base", "Large"), zip(names, *found, strict=True))


def shapes(batch: int = 32, tokens: int = 128) -> str:
    """What flows through BERT-Base, with the memory of a batch."""
    config = BertConfig.preset("base")
    width, heads, inner = config.hidden_size, config.num_attention_heads, config.intermediate_size
    rows = (
        ("ids, mask or segments", "[B, T]", batch * tokens * 8),
        ("hidden states", f"[B, T, {width}]", batch * tokens * width * 4),
        ("Q, K, V, each", f"[B, {heads}, T, {width // heads}]", batch * tokens * width * 4),
        ("attention weights", f"[B, {heads}, T, T]", batch * heads * tokens * tokens * 4),
        ("inside the feed-forward", f"[B, T, {inner}]", batch * tokens * inner * 4),
        ("logits of all tokens", f"[B, T, {config.vocab_size}]", batch * tokens * config.vocab_size * 4),
        ("logits of 15 % of them", f"[.15·B·T, {config.vocab_size}]", 0.15 * batch * tokens * config.vocab_size * 4),
    )
    told = ((name, shape, f"{size / 1e6:,.2f} MB") for name, shape, size in rows)
    return table(("", "shape", f"B = {batch}, T = {tokens}"), told)


def costs() -> str:
    """Operations, time and memory of BERT-Base and Large."""
    rows: list[tuple[str, ...]] = []
    base, large = BertConfig.preset("base"), BertConfig.preset("large")
    for tokens in (128, 512):
        each = [forward_flops(config, tokens) * tokens / 1e9 for config in (base, large)]
        rows.append((f"forward, a text of {tokens} tokens", *(f"{value:,.0f} GFLOP" for value in each)))
    share = [2 * 512 * c.hidden_size / (12 * c.hidden_size**2 + 2 * 512 * c.hidden_size) for c in (base, large)]
    rows.append(("of it T² part at T = 512", *(f"{value:.0%}" for value in share)))
    work = [pretraining_flops(config) for config in (base, large)]
    rows.append(
        (f"published pre-training, {TOKENS / 1e9:.0f} G tokens", *(f"{value / 1e18:,.0f} EFLOP" for value in work))
    )
    rows.append((f"H100 hours at {SHARE_OF_PEAK:.0%} of its bf16 peak", *(f"{hours(value):,.0f} h" for value in work)))
    sizes = []
    for config in (base, large):
        with torch.device("meta"):
            sizes.append(count(BertForPreTraining(config).bert))
    rows.append(("weights fp32 / fp16", *(f"{4 * size / 1e6:,.0f} / {2 * size / 1e6:,.0f} MB" for size in sizes)))
    rows.append(("+ gradients + AdamW, 16 B each", *(f"{16 * size / 1e9:.2f} GB" for size in sizes)))
    kept = [[attention_bytes(config, 32, 512, size) / 1e9 for size in (4, 2)] for config in (base, large)]
    rows.append(("attention kept, B 32, T 512, fp32 / bf16", *(f"{full:.1f} / {half:.1f} GB" for full, half in kept)))
    return table(("", "Base", "Large"), rows)


def family() -> str:
    """The members as published, in their base size."""
    rows = []
    for name, model_type, changes, new, learns in FAMILY:
        config, model = built(model_type, **changes)
        rows.append((name, f"{count(model) / 1e6:.0f} M", f"{config.vocab_size / 1000:.0f} k", new, learns))
    return table(("", "encoder", "V", "what is new", "learns from"), rows)


def cheat_sheet() -> str:
    """The two pages as HTML."""
    words = {name: [tuple(row) for row in rows] for name, rows in tomllib.loads(WORDS.read_text("utf-8")).items()}
    uniform = log(BertConfig.preset("base").vocab_size)
    symptoms = [(seen.format(uniform=uniform), cause) for seen, cause in words["symptoms"]]
    first = (
        section("Parameters", parameters()),
        section("Shapes of BERT-Base, fp32", shapes()),
        section("What it costs", costs()),
        section("Formulas", table((), words["formulas"]), "new-column"),
        section("How the work grows", table((), words["work"])),
    )
    second = (
        section("The family, base size", family(), "wide"),
        section("As published (Devlin et al. 2019)", table((), words["published"])),
        section("Before and beside BERT", table((), words["others"])),
        section("Symptom and cause", table((), symptoms), "new-column"),
    )
    notation = "B batch · T tokens · D hidden size · H heads · L layers · V vocabulary · K labels · M million"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{TITLE}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{TITLE}</h1>\n<p class='faint'>{notation}</p>\n"
        f"{sheet(first)}\n{sheet(second)}\n</body>\n</html>\n"
    )


def sheet(sections: Iterable[str]) -> str:
    """HTML of one page."""
    return "<main>\n" + "\n".join(sections) + "\n</main>"


def section(title: str, content: str, layout: str = "") -> str:
    """HTML of one part of a page; layout is "wide" for both columns, "new-column" for the top of the second."""
    return f"<section class='{layout}'><h2>{escape(title)}</h2>\n{content}</section>"


def millions(value: int) -> str:
    """A count in millions."""
    return f"{value / 1e6:.1f} M" if value >= 1e6 else f"{value / 1e6:.2f} M"


TABLE = template("""\
<table>
{%- if head -%}<tr>{% for name in head %}<th scope='col'>{{ name }}</th>{% endfor %}</tr>{%- endif -%}
{%- for name, cells in rows -%}
<tr><th scope='row'>{{ name }}</th>
{%- for kind, text in cells -%}<td{% if kind %} class='{{ kind }}'{% endif %}>{{ text }}</td>{%- endfor -%}
</tr>
{%- endfor -%}
</table>""")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """HTML of a table whose first column names its rows."""
    return TABLE.render(
        head=head, rows=[(row[0], [(kind_of(text), indexed(text)) for text in row[1:]]) for row in rows]
    )


def kind_of(text: str) -> str:
    """How a cell is set: numbers stand at the right."""
    short = len(text) < 20
    return "number" if short and text[:1].isdigit() else "shape" if short and text[:1] == "[" else ""


def indexed(text: str) -> Markup:
    """HTML of a text with its indices below the line."""
    return Markup(INDEX.sub(r"<sub>\1\2</sub>", str(escape_markup(text))))
