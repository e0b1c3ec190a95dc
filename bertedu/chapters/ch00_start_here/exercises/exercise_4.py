"""Exercise 0.4: The rank of the right word."""

import torch

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise


@exercise(
    "0.4",
    "The rank of the right word",
    difficulty=3,
    minutes=10,
    hints=(
        "How many scores are larger than the score of the right word? If none is, it has rank 1.",
        "larger = scores > scores[right_id] is a tensor of True and False. larger.sum() counts the True, .item() makes "
        "it a number.",
    ),
)
def rank(case: Case) -> None:
    """One more than the number of scores, [V], above that of the right word."""
    scores = torch.tensor([0.1, 2.0, -1.0, 5.0, 3.0])  # [V]
    best = whole(case, case.call(scores, 3, tried="5 scores, the right word has the highest"))
    if best == 0:
        case.fail("But it returned rank 0 for the best word. Ranks begin at 1.")
    if best in (4, 5):
        case.fail(f"But it returned rank {best} for the best word. Does your order begin with the smallest score?")
    case.equal("the rank", best, 1, "The right word has the highest score.")
    middle = whole(case, case.call(scores, 1, tried="5 scores, two of them higher than that of the right word"))
    case.equal(
        "the rank",
        middle,
        3,
        "Two scores are larger than that of the right word.",
        mistakes=[
            (1, "1 is its id, that is, its index. The rank is 1 more than the number of words with a higher score."),
            (5, "In argsort(descending=True), the entry at right_id is another word. Where in this list is right_id?"),
            (2, "2 words have a higher score. So what is its own rank?"),
        ],
    )
    many = case.randn(4000)
    last = int(many.argmin())
    lowest = whole(case, case.call(many, last, tried="4,000 scores"))
    case.equal("the rank", lowest, 4000, "The right word has the lowest score of all.")
    tied = torch.tensor([1.0, 7.0, 7.0, 0.0])
    result = whole(case, case.call(tied, 2, tried="two words with the same highest score"))
    case.expect(result in (1, 2), f"But the rank is {result}, and two words share the highest score.")
    case.close_with("Rank 1 means that the first guess is right. The share of ranks up to 5 is called hits at 5.")


def whole(case: Case, got) -> int:
    """What came back as an integer: a tensor with one number counts as well."""
    got = plain(got)
    if isinstance(got, list) and len(got) == 1:
        case.almost(f"But the rank is one integer, and this is a list with that number in it: {got}.")
    if isinstance(got, list):
        case.fail("But the rank is one integer, and a list of numbers came back. Count, or look up yours in it.")
    if isinstance(got, float) and got == int(got) and not isinstance(got, bool):
        return int(got)
    if isinstance(got, bool) or not isinstance(got, int):
        case.is_a("the rank", got, int, "an integer")
        case.fail("But the rank should be an integer, and it is True or False.")
    return got
