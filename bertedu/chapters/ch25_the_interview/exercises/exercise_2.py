"""Exercise 25.2: Does it fit?"""

from bertedu.chapters.ch25_the_interview.exercises.shared import number, wrong_number
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "25.2",
    "Does it fit?",
    difficulty=2,
    minutes=8,
    hints=(
        "Every weight takes 4 bytes. Every trained one takes 4 more for its gradient and 2·4 for the moments of AdamW.",
        "(4 * parameters + 12 * trained + (2 * parameters if mixed else 0)) / 1e9",
    ),
)
def training_gigabytes(case: Case) -> None:
    """All trained, then a frozen model with a head, then mixed precision."""
    base, head = 109_482_240, 5_000_000
    got = number(case, case.call(base, base, False, tried="BERT-Base, all trained, in fp32"))
    wrong_number(
        case,
        got,
        16 * base / 1e9,
        [
            (16 * base, "Those are bytes. A GB has 10⁹ of them."),
            (16 * base / 2**30, "You divided by 2³⁰, which is a GiB. Here a GB has 10⁹ bytes."),
            (4 * base / 1e9, "Those are the weights alone. Gradients and both moments have the same size each."),
            (16 * base / 1e6, "Those are megabytes: a GB has 10⁹ bytes."),
            (
                8 * base / 1e9,
                "Those are weights and gradients alone. AdamW keeps two more numbers for each trained parameter.",
            ),
            (
                12 * base / 1e9,
                "That is 12 bytes for each parameter: the gradient is missing, or one of the two moments.",
            ),
            (18 * base / 1e9, "That is mixed precision, and `mixed` is False here."),
        ],
        "Four things of 4 bytes for each parameter: weight, gradient, first moment, second moment.",
    )
    got = number(
        case, case.call(base + head, head, False, tried="a frozen BERT-Base with 5 million trained weights on top")
    )
    wrong_number(
        case,
        got,
        (4 * (base + head) + 12 * head) / 1e9,
        [
            (16 * (base + head) / 1e9, "Frozen weights need no gradient and no moments: they take 4 bytes each."),
            (
                (8 * (base + head) + 8 * head) / 1e9,
                "You counted a gradient for every weight. A frozen weight has none.",
            ),
            (16 * head / 1e9, "The frozen weights take memory too: 4 bytes each."),
            (
                (4 * (base + head) + 16 * head) / 1e9,
                "The weights of the head are counted twice: 12 bytes more each, not 16.",
            ),
        ],
        "All weights take 4 bytes, the trained ones 12 more.",
    )
    in_mixed_precision(case, base, head)
    case.close_with("So mixed precision takes more memory here. It saves activations and time.")


def in_mixed_precision(case: Case, base: int, head: int) -> None:
    """The frozen model once more, with a bf16 copy of all weights."""
    got = number(case, case.call(base + head, head, True, tried="that frozen model in mixed precision"))
    right = (6 * (base + head) + 12 * head) / 1e9
    mistakes = [
        (
            (4 * (base + head) + 12 * head) / 1e9,
            "With mixed precision a bf16 copy of all weights is added, 2 bytes each.",
        ),
        ((4 * (base + head) + 14 * head) / 1e9, "The bf16 copy holds *all* weights, the frozen ones too."),
        ((2 * (base + head) + 12 * head) / 1e9, "The fp32 weights stay. The bf16 copy comes on top of them."),
        (
            (2 * (base + head) + 10 * head) / 1e9,
            "The fp32 weights stay beside the bf16 copy, and gradients are in fp32 here.",
        ),
        (((4 * (base + head) + 12 * head) / 2) / 1e9, "Not everything is halved: the fp32 weights and moments stay."),
    ]
    wrong_number(case, got, right, mistakes, "2 bytes more for every weight, trained or frozen.")
