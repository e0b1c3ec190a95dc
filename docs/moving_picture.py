"""The moving picture of the README: `python docs/moving_picture.py` draws docs/images/fill_mask.gif.

Its last moment of the first sentence, under the name of the course, is the preview of the website.

All numbers in it are computed here, by the checkpoint that comes with the course: in each layer the weights with which
[MASK] attends to the other tokens (the mean over the heads), and at the end the likeliest words.
"""

from collections.abc import Iterator
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from bertedu.inference import attention_weights, fill_mask, open_model
from bertedu.visualization.picture import BLUE, GREY, ORANGE

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "fill_mask.gif"
PREVIEW = ROOT / "docs" / "site" / "_static" / "preview.png"  # where somebody shares a page of the website
SENTENCES = (
    "He shook his [MASK] and said no.",
    "Returns a [MASK] of strings.",
    "I will come back in a [MASK] minutes.",
)
WIDTH, HEIGHT, DOTS = 8.0, 3.3, 100
GUESSES = 3
COLOURS = 32
MILLISECONDS = {"layer": 550, "growing": 60, "guesses": 900, "filled": 1500}


def moments(model, tokenizer, sentence: str) -> Iterator[tuple[Figure, int]]:
    """The pictures of one sentence, each with its milliseconds."""
    tokens, weights = attention_weights(model, tokenizer, sentence)  # [L, H, T, T]
    mask = tokens.index("[MASK]")
    layers = [layer.mean(dim=0)[mask].tolist() for layer in weights]  # [T] each
    guesses = fill_mask(model, tokenizer, sentence, GUESSES)[0]
    yield picture(tokens, mask, []), MILLISECONDS["layer"]
    for upto in range(1, len(layers) + 1):
        yield picture(tokens, mask, layers[:upto]), MILLISECONDS["layer"]
    for share in (0.25, 0.5, 0.75):
        yield picture(tokens, mask, layers, guesses, share), MILLISECONDS["growing"]
    yield picture(tokens, mask, layers, guesses), MILLISECONDS["guesses"]
    yield picture(tokens, mask, layers, guesses, filled=True), MILLISECONDS["filled"]


def picture(tokens, mask, layers, guesses=(), share: float = 1.0, filled: bool = False) -> Figure:
    """One moment: the tokens, a row of weights for each layer so far, the guesses, and the word in its position."""
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DOTS, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    axes.axis("off")
    step = (WIDTH - 1.2) / len(tokens)
    places = [1.1 + step * (i + 0.5) for i in range(len(tokens))]
    for i, token in enumerate(tokens):
        text, colour = (guesses[0][0], BLUE) if filled and i == mask else (token, ORANGE if i == mask else "black")
        weight = "bold" if i == mask else "normal"
        axes.text(places[i], 2.95, text, ha="center", va="center", fontsize=13, color=colour, weight=weight)
    for number, weights in enumerate(layers):
        y = 2.5 - 0.33 * number
        axes.text(0.15, y, f"layer {number + 1}", va="center", fontsize=10, color=GREY)
        for x, weight in zip(places, weights, strict=True):
            axes.scatter(x, y, s=40 + 900 * weight, color=ORANGE, alpha=0.15 + 0.85 * weight, linewidths=0)
    for number, (word, probability) in enumerate(guesses):
        y = 0.95 - 0.32 * number
        axes.barh(y, 3.4 * probability * share, left=2.3, height=0.22, color=BLUE if number == 0 else GREY)
        axes.text(2.2, y, word, ha="right", va="center", fontsize=12)
        if share == 1:
            axes.text(2.38 + 3.4 * probability, y, f"{probability:.0%}", va="center", fontsize=11)
    return figure


def drawn(figure: Figure) -> Image.Image:
    """A figure as an image of few colours."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    size = canvas.get_width_height()
    return Image.frombuffer("RGBA", size, canvas.buffer_rgba(), "raw", "RGBA", 0, 1).convert("RGB").quantize(COLOURS)


def preview(moment: Image.Image) -> Image.Image:
    """A moment of the picture under the name of the course, in the size that previews have."""
    figure = Figure(figsize=(12, 6.3), dpi=DOTS, facecolor="white")
    figure.text(0.07, 0.84, "Build BERT yourself", fontsize=40, weight="bold", color=BLUE)
    figure.text(0.07, 0.755, "from the first subword to a fine-tuned model, in notebooks that run", fontsize=19)
    whole = drawn(figure).convert("RGB")
    whole.paste(moment.convert("RGB").resize((1100, round(1100 * HEIGHT / WIDTH))), (50, 170))
    return whole.quantize(2 * COLOURS)


def main() -> None:
    """Draw all sentences into one file that repeats for ever."""
    model, tokenizer = open_model(ROOT / "data" / "checkpoints" / "mixed-mini")
    shown = [one for sentence in SENTENCES for one in moments(model, tokenizer, sentence)]
    first, *rest = [drawn(figure) for figure, _ in shown]
    durations = [milliseconds for _, milliseconds in shown]
    first.save(PICTURE, save_all=True, append_images=rest, duration=durations, loop=0, optimize=True)
    preview(drawn(shown[len(shown) // len(SENTENCES) - 2][0])).save(PREVIEW, optimize=True)
    print(f"{PICTURE.relative_to(ROOT)}: {len(shown)} pictures, {PICTURE.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
