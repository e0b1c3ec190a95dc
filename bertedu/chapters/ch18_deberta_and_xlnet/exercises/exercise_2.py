"""Exercise 18.2: Which bucket?"""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "18.2",
    "Which bucket?",
    difficulty=2,
    minutes=6,
    kind="value",
    hints=(
        "Is the distance at most m = 4 (without its sign)? Then it is its own bucket. If not, use the formula with 4 "
        "and M − 1 = 32, and put the sign back at the end.",
        "For 7: ln(7/4) / ln(32/4) is 0.27. Times m − 1 = 3 is 0.81. Round up, add 4, and mind the sign of −7.",
    ),
)
def which_bucket(case: Case) -> None:
    """4, −5, 6 and 7."""
    case.predicted(
        [4, -5, 6, 7],
        otherwise="Take them one by one: up to 4 (without the sign) a distance is its own bucket; beyond, it is 4 plus "
        "⌈ ln(n/4) / ln 8 · 3 ⌉.",
        mistakes=[
            ([4, 5, 6, 7], "The sizes are right. But left and right are told apart: what happens to the sign of −7?"),
            ([4, -4, 5, 6], "You rounded down. ⌈ ⌉ means up: 0.81 becomes 1."),
            ([4, -5, 5, 6], "You rounded down. ⌈ ⌉ means up: for 15 it is 1.9, which becomes 2."),
            ([4, -4, 6, 7], "Is −7 rounded with its sign? Compute with 7: 0.81 becomes 1. The sign comes at the end."),
            ([4, -5, 6, 6], "You rounded to the nearest. ⌈ ⌉ means up: 2.3 becomes 3."),
            ([5, -5, 6, 7], "Distance 4 is not beyond m = 4, so it is its own bucket."),
            ([4, -1, 2, 3], "You left out the m: the far buckets begin after the near ones."),
            ([0, -1, 2, 3], "You left out the m: the far buckets begin after the near ones."),
            (
                [4, -7, 8, 8],
                "That clamps the distances at the last bucket. Far distances share buckets, by their logarithm.",
            ),
            (
                [4, -7, 7, 7],
                "That clamps the distances at the last bucket. Far distances share buckets, by their logarithm.",
            ),
            ([4, -7, 6, 7], "The limit is m = b / 2 = 4, not b = 8: the distance 7 is beyond it."),
            ([4, -7, 15, 20], "Those are the distances. From m = 4 on several distances share a bucket."),
            ([4, -5, 6.0, 7.3], "Almost: a bucket is an integer. ⌈ ⌉ means: round up."),
            ([12, 3, 14, 15], "Those are the rows in the table (bucket + b). The question is about the buckets."),
        ],
        tolerance=1e-6,
    )
