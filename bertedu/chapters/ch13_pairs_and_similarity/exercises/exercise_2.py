"""Exercise 13.2: A thousand sentences."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "13.2",
    "A thousand sentences",
    difficulty=2,
    minutes=5,
    kind="value",
    hints=(
        "The cross-encoder needs a pass for each pair. 4 sentences make 3 + 2 + 1 = 6 pairs.",
        "n sentences make n (n − 1) / 2 pairs. The bi-encoder needs a pass for each sentence.",
    ),
)
def a_thousand_sentences(case: Case) -> None:
    """n (n - 1) / 2 passes against n."""
    wrong = {
        1_000_000: "You pair each sentence with all of them, itself included, and you count each pair twice.",
        999_000: "You count each pair twice: (a, b) and (b, a) are the same pair here.",
        500_500: "You also pair each sentence with itself.",
    }
    case.predicted(
        [499_500, 1000],
        otherwise="Try it with 4 sentences on paper. How many pairs are there, and how many sentences?",
        mistakes=[
            *(([count, 1000], line) for count, line in wrong.items()),
            ([1000, 499_500], "The right numbers. Which of the two encoders reads pairs, and which single sentences?"),
            ([499_500, 999_000], "The bi-encoder reads a sentence once and keeps its vector for all of its pairs."),
            ([499_500, 499_500], "The bi-encoder reads a sentence once and keeps its vector. A cosine is not a pass."),
            (
                [499_500, 2000],
                "Both sides of the bi-encoder share their weights, so a sentence has one vector: read it once.",
            ),
            ([499_500], "That is the cross-encoder's number. The list needs a second one, for the bi-encoder."),
            ([499_500, 2], "A pass reads one text or one pair here. How many texts are there?"),
            ([1000, 1000], "The cross-encoder needs both sentences at once. How many pairs are there?"),
        ],
        tolerance=1e-6,
    )
