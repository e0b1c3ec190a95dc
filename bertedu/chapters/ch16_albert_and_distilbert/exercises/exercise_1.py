"""Exercise 16.1: Count ALBERT."""

from math import isfinite

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

POSITIONS, SEGMENTS = 512, 2


def one_layer(width: int) -> int:
    """The parameters of an encoder layer."""
    return 12 * width**2 + 13 * width


def parameters(vocabulary: int, width: int, size: int, groups: int) -> int:
    """The parameters of an ALBERT without its pooler."""
    embeddings = (vocabulary + POSITIONS + SEGMENTS) * size + 2 * size
    return embeddings + size * width + width + groups * one_layer(width)


@exercise(
    "16.1",
    "Count ALBERT",
    difficulty=2,
    minutes=10,
    hints=(
        "Three parts: embeddings, all of size E; the mapping, E·D and a bias; and G times layer_parameters(D). "
        "Which of the five arguments do you not need?",
        "embeddings = (V + 512 + 2) * E + 2 * E; mapping = E * D + D. A layer that runs again stores nothing new, so "
        "L does not occur.",
    ),
)
def count_albert(case: Case) -> None:
    """ALBERT-base, groups, and an E that equals D."""
    for V, D, E, L, G, tried in (
        (30_000, 768, 128, 12, 1, "ALBERT-base: V = 30,000, D = 768, E = 128, L = 12, G = 1"),
        (1_000, 64, 16, 12, 3, "V = 1,000, D = 64, E = 16, L = 12 and three groups"),
        (1_000, 64, 64, 6, 1, "V = 1,000, D = 64 and E = 64, so that E equals D"),
    ):
        got = whole_number(case, case.call(V, D, E, L, G, tried=tried))
        case.equal(
            "the number of parameters",
            got,
            parameters(V, D, E, G),
            "Count the three parts one by one: embeddings, mapping, layers. Which one is off?",
            mistakes=mistakes(V, D, E, L, G),
        )
    case.close_with("The released ALBERT-base also has a pooler: 590,592 more.")


def mistakes(V: int, D: int, E: int, L: int, G: int) -> list[tuple[int, str]]:
    """What known mistakes give, and the sentence for each; one that would be right here is left out."""
    right, layer = parameters(V, D, E, G), one_layer(D)
    known = [
        (right + (L - G) * layer, "You counted L layers. How many of them are stored, and how many only run again?"),
        (right + (1 - G) * layer, "You counted one layer. Here there are several groups, each with its own layer."),
        (right + (G * L - G) * layer, "You counted L layers for each group. A group stores one layer."),
        (right - V * E, "The word embeddings are missing: V rows of E numbers."),
        (
            right - G * layer + G * one_layer(E),
            "Your layers have size E. The mapping comes before them, so they work with D numbers.",
        ),
        (
            right - G * 13 * D,
            "Your layers have no biases and no LayerNorms: layer_parameters(D) counts them, 13·D in each layer.",
        ),
        (right - D, "The mapping from E to D is a linear layer: it has a bias of D numbers, too."),
        (right - D + E, "The bias of the mapping has as many numbers as its output: D, not E."),
        (right - E * D - D, "The mapping from E to D is missing. It exists even where E = D."),
        (right - 2 * E, "The LayerNorm of the embeddings is missing: a weight and a bias, E numbers each."),
        (right - E, "A LayerNorm has a weight and a bias: 2·E numbers."),
        (right - 2 * E + 2 * D, "The LayerNorm stands before the mapping, so it has E numbers twice, not D."),
        (right - POSITIONS * E, "The 512 position embeddings are missing."),
        (right - SEGMENTS * E, "The 2 segment embeddings are missing."),
        (right - (POSITIONS + SEGMENTS) * E, "Positions and segments have embeddings of size E as well."),
        (
            right - (POSITIONS + SEGMENTS) * E - 2 * E,
            "The words are right. Positions, segments and the LayerNorm of the embeddings are missing.",
        ),
        (
            right + (POSITIONS + SEGMENTS) * (D - E),
            "Only the words are short in your sum. In ALBERT positions and segments have size E, too.",
        ),
        (
            right + (POSITIONS + SEGMENTS + 2) * (D - E),
            "Only the words are short in your sum. In ALBERT positions, segments and the LayerNorm have size E, too.",
        ),
        (right + (V + POSITIONS + SEGMENTS + 2) * (D - E), "Your embeddings have size D. ALBERT's have size E."),
        (right + V * (D - E), "Your word embeddings have size D: V·D. ALBERT's have size E."),
        (right + D * D + D, "You counted the pooler. The task leaves it out."),
    ]
    return [(number, sentence) for number, sentence in known if number != right]


def whole_number(case: Case, got: object) -> int:
    """A count: a whole number, however it is written."""
    if hasattr(got, "item"):
        got = got.item()
    case.is_a("the result", got, (int, float), "a number")
    number = float(got)  # type: ignore[arg-type]
    case.expect(isfinite(number), f"But the result is {number}, which is no number of parameters.")
    case.expect(
        number == round(number),
        f"But the result is {number:g}, and a number of parameters is a whole number. Is there a division?",
    )
    return round(number)
