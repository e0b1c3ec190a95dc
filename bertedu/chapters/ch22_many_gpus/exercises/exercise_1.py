"""Exercise 22.1: Arithmetic intensity."""

from bertedu.chapters.ch22_many_gpus.exercises.shared import expect_number
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def product_intensity(rows: int, inner: int, columns: int, size: int) -> float:
    """Operations for each byte of a matrix product, each matrix going through memory once."""
    numbers = rows * inner + inner * columns + rows * columns
    return 2 * rows * inner * columns / (size * numbers)


@exercise(
    "22.1",
    "Arithmetic intensity",
    difficulty=1,
    minutes=6,
    hints=(
        "Count two things: the operations, and the numbers that are read or written. How many numbers does each of "
        "the three matrices have?",
        "2 · rows · inner · columns operations; rows · inner + inner · columns + rows · columns numbers of size bytes.",
    ),
)
def arithmetic_intensity(case: Case) -> None:
    for rows, inner, columns, size in ((4, 6, 10, 4), (16, 768, 3072, 2), (1, 1, 1, 4), (512, 64, 512, 2)):
        tried = f"a [{rows}, {inner}] and a [{inner}, {columns}] matrix of {size} bytes a number"
        got = case.call(rows, inner, columns, size, tried=tried)
        advice = (
            f"Count with a pencil: {2 * rows * inner * columns:,} operations, and "
            f"{rows * inner:,} + {inner * columns:,} + {rows * columns:,} numbers of {size} bytes."
        )
        right = product_intensity(rows, inner, columns, size)
        expect_number(case, "the intensity", got, right, advice, intensity_mistakes(rows, inner, columns, size))
    case.close_with("For square matrices of 4-byte numbers it is n / 6: large products are worth the memory traffic.")


def intensity_mistakes(rows: int, inner: int, columns: int, size: int) -> list[tuple[float, str]]:
    """What known mistakes of exercise 22.1 give, and what is said to them. The first try has 4 bytes a number."""
    operations, right = 2 * rows * inner * columns, product_intensity(rows, inner, columns, size)
    left, other, result = rows * inner, inner * columns, rows * columns
    numbers = left + other + result
    fixed = f"Here a number takes {size} bytes. Use `size`, not a fixed number."
    three = "`size` counts for the numbers of all three matrices. Put parentheses around their sum."
    return [
        (operations / (4 * numbers), fixed),
        (operations / (2 * numbers), fixed),
        (right / 2, "A multiplication and its addition are two operations."),
        (right * size, "These are operations for each number, and a number has several bytes."),
        (
            operations / (size * (left + other)),
            "These are the bytes that are read. The result is written, too.",
        ),
        (operations / (size * (left + result)), "The second matrix is missing in the bytes. It is read, too."),
        (operations / (size * (other + result)), "The first matrix is missing in the bytes. It is read, too."),
        (1 / right, "This is the other way round: bytes for each operation."),
        (right / 8, "`size` is in bytes already, not in bits."),
        (
            operations / size * numbers,
            "Python goes from left to right. Put parentheses around the bytes.",
        ),
        (operations / (size * left + other + result), three),
        (result * (2 * inner - 1) / (size * numbers), "Every multiplication counts with an addition: 2 · inner."),
        (2 * result / (size * numbers), "Each number of the result is a sum over `inner` products."),
        (
            operations / (size * (rows + inner + columns)),
            "A matrix of rows and columns has rows · columns numbers: multiply, do not add.",
        ),
        *(
            (wrong, "Each matrix is read once: a number that is used several times stays near the processor.")
            for wrong in (1 / size, operations / (size * (operations + result)))
        ),
        (operations // (size * numbers), "`//` rounds down. Divide with `/`."),
        (operations, "This is the number of operations. Divide by the bytes."),
        (size * numbers, "These are the bytes. Divide the operations by them."),
    ]
