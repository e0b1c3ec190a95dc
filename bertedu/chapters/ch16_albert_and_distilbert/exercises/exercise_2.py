"""Exercise 16.2: The xxlarge model."""

from fractions import Fraction

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


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
    case.close_with("A layer is 16 times as large: 1 against 24 are stored, and 12 against 24 run.")
