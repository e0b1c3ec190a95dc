"""Exercise 16.4: Copy layers evenly."""

from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.family.distilbert import copied_layers


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
