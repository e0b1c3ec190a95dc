"""Which words a model predicts at a mask, as bars."""

from collections.abc import Sequence

from bertedu.errors import UserError
from bertedu.visualization.picture import BLUE, INK, Picture, new_figure

COLUMNS = 3  # more masks go on in the next row


def prediction_bars(text: str, answers: Sequence[Sequence[tuple[str, float]]]) -> Picture:
    """Horizontal bars for each [MASK] of a text: answers as `fill_mask` returns them."""
    if not answers or not all(answers):
        raise UserError("there are no answers to draw: give what fill_mask returned.")
    longest, columns = max(map(len, answers)), min(len(answers), COLUMNS)
    rows = -(-len(answers) // columns)
    figure = new_figure(3.4 * columns + 0.6, (0.32 * longest + 0.6) * rows + 0.5)
    for number, answer in enumerate(answers):
        axes = figure.add_subplot(rows, columns, number + 1)
        words, probabilities = zip(*answer, strict=True)
        axes.barh(range(len(words)), probabilities, color=BLUE, height=0.66)
        for place, probability in enumerate(probabilities):
            axes.text(probability + 0.015, place, f"{probability:.1%}", va="center", fontsize=8, color=INK)
        axes.set_yticks(range(len(words)), words, fontsize=9, parse_math=False)
        axes.set_ylim(longest - 0.5, -0.5)
        axes.set_xlim(0, 1.14)
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        axes.set_title(mask_title(text, number, len(answers)), fontsize=9, loc="left")
    figure.suptitle(text, fontsize=10, x=0.02, ha="left", parse_math=False)
    told = "; ".join(
        (f"mask {number + 1}: " if len(answers) > 1 else "")
        + ", ".join(f"{word} {share:.1%}" for word, share in answer)
        for number, answer in enumerate(answers)
    )
    return Picture(figure, f"The model's guesses for {text!r}: {told}.")


def mask_title(text: str, number: int, masks: int) -> str:
    """What stands above the answers for one of the masks of a text, which is spelt as the model spells it."""
    mask = "<mask>" if "<mask>" in text else "[MASK]"
    return mask if masks == 1 else f"{mask} number {number + 1}"
