"""One word in several sentences: how its vector moves, layer by layer, and which of the others comes near."""

from collections.abc import Sequence
from html import escape

import numpy as np
from ipywidgets import Dropdown, IntSlider
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.errors import UserError
from bertedu.inference import LanguageModel, shortened
from bertedu.interpretation.contexts import word_vectors
from bertedu.model import BertModel
from bertedu.templates import template
from bertedu.tokenization import Tokenizer
from bertedu.visualization.picture import BLUE, GREEN, ORANGE, Picture, new_figure, quiet
from bertedu.visualization.widgets.view import DESCRIBED, LEFT, RIGHT, WIDE, WidgetView, live_view, region

WIDTH, HEIGHT, MARGIN = 560, 320, 30  # pixels
COLORS = (BLUE, ORANGE, GREEN)  # of the senses
COSINES = template("""\
<table><caption style="{{ left }}">Compared with {{ number }} {{ sentence }}</caption>
<thead><tr><th scope="col" style="{{ right }}">cosine</th><th scope="col" style="{{ left }}">sentence</th></tr></thead>
<tbody>
{% for cosine, number, sentence in rows %}
<tr><td style="{{ right }}">{{ "%.2f" % cosine }}</td><td style="{{ left }}">{{ number }} {{ sentence }}</td></tr>
{% endfor %}
</tbody></table>""")


def word_in_context(
    model: LanguageModel | BertModel,
    tokenizer: Tokenizer,
    sentences: Sequence[str],
    word: str,
    senses: Sequence[str] = (),
) -> WidgetView:
    """A slider for the layer and a choice of sentence; below them the way of the word's vector through the layers in
    each sentence, in two dimensions, and its cosine with the chosen sentence's. Its still form shows all layers.
    senses: the word's sense in each sentence; each sense has its own color.

    Raises UserError for fewer than two sentences, for senses that are more or fewer than these, and where the word does
    not stand once in each.
    """
    if len(sentences) < 2:
        raise UserError(f"there are {len(sentences)} sentences to compare {word!r} in: give at least two.")
    if senses and len(senses) != len(sentences):
        raise UserError(f"there are {len(senses)} senses for {len(sentences)} sentences: give one for each.")
    vectors = word_vectors(model, tokenizer, sentences, word).float()  # [N, L + 1, D]
    points, kept = in_two_dimensions(vectors)
    last = vectors.size(1) - 1
    named = [(f"{place} {shortened(sentence, 70)}", place - 1) for place, sentence in enumerate(sentences, start=1)]
    layer = IntSlider(last, min=0, max=last, description="layer", style=DESCRIBED, layout=WIDE)
    chosen = Dropdown(options=named, description="compared with", style=DESCRIBED, layout=WIDE)

    def html() -> str:
        table = cosines_html(vectors, sentences, layer.value, chosen.value)
        name = f"{word} at layer {layer.value} of {last}" + (": embeddings only" if layer.value == 0 else "")
        return region(name, f"<p>{escape(name)}</p>{paths_svg(points, layer.value, chosen.value, senses)}{table}")

    return WidgetView(live_view([layer, chosen], html), word_paths(points, kept, vectors, sentences, word, senses))


def in_two_dimensions(vectors: Tensor) -> tuple[np.ndarray, float]:
    """[N, L + 1, D] on the two directions in which the sentences differ most, [N, L + 1, 2], and the share of the
    variance that they keep.

    Principal components of the vectors less their mean at each layer: what all sentences share on their way would
    hide how they part. The sign of each direction is chosen so that its largest weight is positive.
    """
    centred = (vectors - vectors.mean(dim=0)).flatten(0, 1).double().numpy()
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    two = directions[:2]
    two = two * np.sign(two[range(len(two)), np.abs(two).argmax(axis=1)])[:, None]
    variance = sizes**2
    kept = float(variance[:2].sum() / max(variance.sum(), 1e-12))
    return (centred @ two.T).reshape(*vectors.shape[:2], 2), kept


def cosines(vectors: Tensor, layer: int, chosen: int) -> list[float]:
    """The cosine of each sentence's vector with the chosen one's at one layer: N numbers."""
    unit = normalize(vectors[:, layer].float(), dim=-1)  # [N, D]
    return (unit @ unit[chosen]).tolist()


def cosines_html(vectors: Tensor, sentences: Sequence[str], layer: int, chosen: int) -> str:
    """A table of the other sentences, the nearest first."""
    found = cosines(vectors, layer, chosen)
    others = sorted((place for place in range(len(sentences)) if place != chosen), key=lambda place: -found[place])
    rows = [(found[place], place + 1, sentences[place]) for place in others]
    return COSINES.render(number=chosen + 1, sentence=sentences[chosen], rows=rows, left=LEFT, right=RIGHT)


def paths_svg(points: np.ndarray, layer: int, chosen: int, senses: Sequence[str] = ()) -> str:
    """The ways [N, L + 1, 2] from the embeddings to one layer; the chosen sentence's is thick, its number bold."""
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    places = MARGIN + (points - low) / np.maximum(high - low, 1e-9) * room
    places[..., 1] = HEIGHT - places[..., 1]  # upwards, as in the still picture
    parts = []
    for number in [*(n for n in range(len(points)) if n != chosen), chosen]:  # the chosen one on top
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places[number, : layer + 1])
        width, weight = (3, "bold") if number == chosen else (1.2, "normal")
        color = color_of(senses, number) if senses else ORANGE if number == chosen else BLUE
        parts.append(f'<polyline points="{way}" fill="none" stroke="{color}" stroke-width="{width}"/>')
        for place, (x, y) in enumerate(places[number, : layer + 1]):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5 if place == layer else 2}" fill="{color}"/>')
        parts.append(f'<text x="{x + 5:.1f}" y="{y - 7:.1f}" font-weight="{weight}">{number + 1}</text>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" font-size="13" '
        f'fill="currentColor" aria-label="The way of the word\'s vector in each sentence up to this layer; the table '
        f'below gives the cosines">{"".join(parts)}</svg>'
    )


def color_of(senses: Sequence[str], number: int) -> str:
    """The color of a sentence's sense; blue where no senses are known."""
    return COLORS[[*dict.fromkeys(senses)].index(senses[number]) % len(COLORS)] if senses else BLUE


def word_paths(
    points: np.ndarray, kept: float, vectors: Tensor, sentences: Sequence[str], word: str, senses: Sequence[str] = ()
) -> Picture:
    """The ways of a word's vectors through all layers, [N, L + 1, 2], with the sentences that their numbers mean."""
    figure = new_figure(8.5, max(3.6, 0.24 * len(sentences) + 1))
    axes = figure.subplots()
    quiet(axes)
    last = points.shape[1] - 1
    for number, way in enumerate(points, start=1):
        color = color_of(senses, number - 1)
        axes.plot(*way.T, color=color, linewidth=1.2, marker=".", markersize=4)
        axes.plot(*way[-1], color=color, marker="o", markersize=6)
        axes.annotate(str(number), way[-1], xytext=(5, 3), textcoords="offset points", fontsize=9)
    axes.set_title(
        f"{word}: from the embeddings to layer {last} (large dot)", fontsize=10, loc="left", parse_math=False
    )
    axes.set_xlabel(f"the two directions in which the sentences differ most ({kept:.0%} of their variance)")
    shown = [f"{sense}: {text}" for sense, text in zip(senses, sentences, strict=True)] if senses else sentences
    numbered = "\n".join(f"{number} {shortened(text, 60)}" for number, text in enumerate(shown, start=1))
    axes.text(1.02, 1, numbered, transform=axes.transAxes, va="top", fontsize=8, parse_math=False)
    nearest = []
    for chosen in range(len(sentences)):
        found = cosines(vectors, last, chosen)
        best = max((place for place in range(len(sentences)) if place != chosen), key=lambda place: found[place])
        nearest.append(f"{chosen + 1} ({sentences[chosen]}): {best + 1}, {found[best]:.2f}")
    return Picture(
        figure,
        f"The vector of {word!r} in {len(sentences)} sentences from the embeddings to layer {last}. The nearest "
        f"sentence to each at the last layer, with the cosine: {'; '.join(nearest)}.",
    )
