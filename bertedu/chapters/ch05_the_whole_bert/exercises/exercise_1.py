"""Exercise 5.1: More heads."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "5.1",
    "More heads",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Which tensors in attention have H in their shape?",
        "The query projection is one linear layer from D to D. What do the heads do with its D outputs?",
    ),
)
def more_heads(case: Case) -> None:
    """288 again: the projections do not depend on the number of heads."""
    case.predicted(
        288,
        otherwise="Write down the shape of the query projection, once for 2 heads and once for 4. Do they differ?",
        mistakes=[
            (576, "That is twice as many, for twice the heads. But d = D / H: what is d with 4 heads?"),
            (568, "That keeps the size d of a head. But d = D / H: what is d with 4 heads?"),
            (144, "That is half as many. Each head is half as wide now, but there are twice as many of them."),
            (
                4 * 288,
                "You multiplied 288 by the number of heads. Does each head have its own projection, or a share of one?",
            ),
            (72, "That is one projection. Attention has four: query, key, value and output."),
            (1088, "That is four projections with D = 16. But D stays 8: what is d with 4 heads?"),
            (256, "That leaves out the biases. The 288 of the question include them."),
            (512, "That leaves out the biases and keeps the size of a head. But d = D / H: what is d with 4 heads?"),
        ],
    )
    case.close_with("The heads only cut the D outputs of each projection into H parts, so its weights stay D · D.")
