"""Exercises 16.1, 16.2 and 16.4: how large an ALBERT is, how much it computes, and which layers a student copies. The
others are in chapter_16_distillation.py."""

from fractions import Fraction
from math import isfinite

from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.family.distilbert import copied_layers

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


@exercise(
    "16.2",
    "The xxlarge model",
    difficulty=2,
    minutes=5,
    kind="value",
    hints=(
        "4096 is four times 1024. By which factor does 12·D² grow? Then: how many layers are stored, and how many run?",
        "Stored: 1 · 4096² against 24 · 1024². Computed: 12 · 4096² against 24 · 1024².",
    ),
)
def xxlarge(case: Case) -> None:
    """Two thirds of the weights, eight times the multiplications."""
    if isinstance(case.answer, list | tuple):
        if any(isinstance(ratio, str) for ratio in case.answer):
            case.fail("But there is a text in your list. Without quotation marks 1 / 3 is a number.")
        case.answer = [float(ratio) if isinstance(ratio, Fraction) else ratio for ratio in case.answer]
    case.predicted(
        [2 / 3, 8],
        otherwise="A layer with four times the width has 16 times the weights. Count the layers that are stored, and "
        "those that run, in both models.",
        mistakes=[
            ([8, 2 / 3], "The right numbers in the other order: stored weights first, then multiplications."),
            ([3 / 2, 1 / 8], "That is BERT-large divided by ALBERT-xxlarge. The task asks for the opposite."),
            ([2 / 3, 2 / 3], "One layer is stored, but twelve run. What does each run cost?"),
            ([8, 8], "Twelve layers run. How many of them are stored?"),
            ([2 / 3, 16], "16 is right for one layer. ALBERT-xxlarge runs 12 of them, and BERT-large 24."),
            ([16, 8], "16 is right for one layer against one. BERT-large stores 24 of them."),
            ([16, 16], "16 is right for one layer against one. How many are stored, and how many run, in each model?"),
            (
                [1 / 6, 2],
                "The matrices of a layer are D by D (or D by 4D): four times the width is 16 times the weights.",
            ),
            ([2 / 3, 2], "Half as many layers run, and each has 16 times the multiplications: D² counts, not D."),
            (
                [0.7, 8],
                "Is that 2/3, rounded? Then give two decimals, or write a fraction. Or is it 235 / 334, of the whole "
                "models? Here only the layers count.",
            ),
            ([0.66, 8], "Right, but the first number is cut off: rounded to two decimals it is another one."),
            ([200 / 3, 8], "The first is in percent. Write both as factors: half as many would be 0.5."),
            ([3 / 2, 8], "The second is right. The first is BERT-large divided by ALBERT-xxlarge."),
            ([2 / 3, 12], "12 layers run, but in BERT-large 24 do. And what does each cost?"),
            ([0.5, 8], "The second is right. Stored are one layer of width 4096 and 24 layers of width 1024."),
            ([2 / 3, 1 / 8], "The first is right. The second is BERT-large divided by ALBERT-xxlarge."),
            ([4, 4], "4 is the ratio of the widths. A matrix is D by D: how much larger is it?"),
            ([2 / 3, 1], "They would cost the same if the width were the same. Here D is four times as large."),
            ([2 / 3, 0.5], "Half as many layers run, but each has matrices that are 16 times as large."),
            ([1 / 24, 8], "One layer against 24, but not of the same width: how much larger is the one?"),
            ([1 / 24, 0.5], "You counted layers. Each layer of ALBERT-xxlarge has 16 times the weights."),
            ([2 / 3, 3], "3 is what the paper measured in training. Here we count multiplications."),
            ([2 / 3], "That is the first number. The list needs a second one, for the multiplications."),
        ],
        tolerance=6e-3,
    )


@exercise(
    "16.4",
    "Copy layers evenly",
    difficulty=2,
    minutes=8,
    without=("copied_layers",),
    hints=(
        "From the first layer to the last there are of_teacher − 1 steps in the teacher, and of_student − 1 in the "
        "student. How many of the teacher's steps is one of the student's?",
        "step = (of_teacher - 1) / (of_student - 1); then round(number * step) for each number of the student's "
        "layers. A student of one layer would divide by 0.",
    ),
)
def copy_evenly(case: Case) -> None:
    """DistilBERT's six of twelve, then other sizes, all layers, and one."""
    case.causes["division by zero"] = "A student of one layer has no steps between its layers. It copies layer 0."
    case.causes["range() arg 3"] = "The step of range can't be 0 or a fraction. Multiply and round instead."
    case.causes["cannot be interpreted as an integer"] = "range takes whole numbers only. Multiply and round instead."
    got = as_layers(case, case.call(12, 6, tried="12 layers and 6 layers"))
    case.equal(
        "the result",
        got,
        [0, 2, 4, 7, 9, 11],
        "The first is 0, the last is 11, and the steps between are 11 / 5 = 2.2 before rounding.",
        mistakes=[
            ([0, 2, 4, 6, 8, 10], "The last layer, 11, is not among them. The head expects its output."),
            ([1, 3, 5, 7, 9, 11], "The first layer, 0, is not among them. It expects the embeddings."),
            (
                [0, 2, 4, 6, 8, 11],
                "6 and 8 should be 7 and 9. Did you round down? To the nearest whole number, 6.6 is 7 and 8.8 is 9. "
                "Or did you go in steps of 2? The steps are 11 / 5 before rounding.",
            ),
            ([0, 3, 5, 7, 9, 11], "These are rounded up. Round to the nearest whole number: 2.2 is 2, and 4.4 is 4."),
            ([1, 3, 5, 8, 10, 12], "You count from 1. Layers are counted from 0, so the last one is 11."),
            ([0, 2, 5, 7, 10, 12], "There is no layer 12: the last of twelve, counted from 0, is 11."),
            ([0, 1, 2, 3, 4, 5], "Those are the first six. Spread them from the first to the last layer."),
            ([6, 7, 8, 9, 10, 11], "Those are the last six. Spread them from the first to the last layer."),
            ([0.0, 2.2, 4.4, 6.6, 8.8, 11.0], "The steps are right. Layer numbers are whole: round them."),
        ],
    )
    for of_teacher, of_student in ((4, 2), (24, 6), (12, 12), (9, 5), (12, 1), (1, 1)):
        tried = f"{of_teacher} and {of_student} layer{'s' if of_student > 1 else ''}"
        got = as_layers(case, case.call(of_teacher, of_student, tried=tried))
        wrong: list[tuple] = [([0, 2, 4, 7, 9, 11], "That is the answer for 12 and 6. Compute it from the arguments.")]
        if of_student == 1:
            wrong.append(([of_teacher - 1], "A student of one layer copies layer 0."))
            wrong.append(([], "The list is empty. A student of one layer copies layer 0."))
        case.equal(
            "the result",
            got,
            list(copied_layers(of_teacher, of_student)),
            "The first and the last layer, and even steps between them.",
            mistakes=wrong,
        )


def as_layers(case: Case, got: object) -> list[float]:
    """The numbers of the layers, as a list."""
    if isinstance(got, Tensor) or type(got).__module__ == "numpy":
        got = got.tolist()  # type: ignore[attr-defined]
    case.is_a("the result", got, (list, tuple, range), "a list of layer numbers")
    numbers = [n.item() if isinstance(n, Tensor) and n.numel() == 1 else n for n in got]  # type: ignore[attr-defined]
    case.expect(all(isinstance(n, int | float) for n in numbers), "But the list should hold numbers of layers.")
    return [int(n) if n == int(n) else round(n, 6) for n in numbers]
