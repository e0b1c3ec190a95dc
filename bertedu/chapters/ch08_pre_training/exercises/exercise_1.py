"""Exercise 8.1: Adam's first step."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "8.1",
    "Adam's first step",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "In the first step both averages have seen one gradient, g. What are they after the bias correction?",
        "The move is 0.01 · g / √g². How large is g / √g², whatever g is?",
    ),
)
def first_step(case: Case) -> None:
    """The learning rate itself, for a small gradient as for a large one."""
    descent = "That is learning rate times gradient: plain gradient descent. What does Adam divide by?"
    uncorrected = (
        "Those are the averages without bias correction, 0.1 · g and {} · g². Divide each by 1 − its beta first."
    )
    case.predicted(
        [0.01, 0.01],
        otherwise="Follow one gradient g through the first step: both averages are corrected to g and g². Then divide.",
        mistakes=[
            ([0.00001, 10.0], descent),
            ([0.00001, 10], descent),
            ([0.001, 1000.0], "Those are the gradients themselves. Adam divides each by its own size."),
            ([1.0, 1.0], "g divided by √g² is 1, that is right. By which number is it multiplied?"),
            ([0.001, 0.001], "Without the correction the first average is 0.1 · g. The correction divides by 1 − 0.9."),
            ([0.001 / 0.02**0.5] * 2, uncorrected.format(0.02)),
            ([0.0071] * 2, uncorrected.format(0.02)),
            ([0.0001, 100.0], "Those are the first averages, 0.1 · g. Correct them, then divide by √v."),
            ([1e-6, 1.0], "That is 0.01 · 0.1 · g. Correct the average, then divide by √v."),
            ([0.01, -0.01], "Both gradients are positive, so both weights move in the same direction."),
            ([-0.01, -0.01], "The size is right. How far is a distance: write it without a sign."),
            ([10.0, 0.00001], "You divided by the gradient twice. m is the gradient itself, and √v is its size."),
        ],
        tolerance=1e-6,
    )
    case.close_with("After one step the corrected averages are g and g², and g / √g² is 1: only the sign is left.")
