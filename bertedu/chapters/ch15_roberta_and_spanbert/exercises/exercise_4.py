"""Exercise 15.4: The boundary at a text's end."""

from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise

INSIDE = [  # tokens 3, 4 and 5 are masked: what comes, and what it looks like
    (dict.fromkeys((3, 4, 5), (2, 6)), "The two neighbors are right. The third number is missing: k counts from 1."),
    ({i: (2, 6, i - 3) for i in (3, 4, 5)}, "k counts from 1: the first token of a span has k = 1."),
    (
        {i: (3, 5, i - 2) for i in (3, 4, 5)},
        "3 and 5 are the ends of the span itself, and they are masked. The visible neighbors are one further out.",
    ),
    (
        {i: (i - 1, i + 1, 1) for i in (3, 4, 5)},
        "Those are the neighbors of each token. All tokens of a span have the same boundary: the two visible tokens "
        "around the whole span.",
    ),
    ({3: (2, 6, 1)}, "Only the first token of the span has an entry. Every masked token needs one."),
    (dict.fromkeys((3, 4, 5), (2, 6, 1)), "k is 1 everywhere. It counts the tokens of the span: 1, 2, 3."),
    ({i: (2, 6, i) for i in (3, 4, 5)}, "k should count inside the span, from 1, and not in the text."),
    ({i: (2, 6, 6 - i) for i in (3, 4, 5)}, "k runs backwards: it counts from the left end of the span."),
]


@exercise(
    "15.4",
    "The boundary at a text's end",
    difficulty=3,
    minutes=10,
    hints=(
        "From a masked token walk to the left as long as the tokens are masked, and to the right too. Where do you "
        "stop?",
        "Stop at a visible token, or at the edge of the list: check left >= 0 and right < len(chosen) before you read "
        "an entry. Then ask whether both are tokens of the text. k is i - left.",
    ),
)
def boundaries(case: Case) -> None:
    """A span inside, at [CLS], at [SEP], at padding, at the edge of the list, two spans, and spans that touch."""
    case.causes["list index out of range"] = (
        "A span can reach the last token of the list: then there is no token on its right, and its entries are None."
    )
    case.causes["empty"] = (
        "A span can reach the edge of the list: then there is no visible token on that side, and its entries are None."
    )
    text = [False, True, True, True, True, True, True, False]
    expected: dict[int, tuple] = {i: (2, 6, i - 2) for i in (3, 4, 5)}
    entries(case, [3, 4, 5], text, expected, "the table above, with 3, 4 and 5 masked", INSIDE)
    wrong = ({i: (3, 7, i - 3) for i in (4, 5, 6)}, "Token 7 is [SEP], no token of the text. Both have to be text.")
    entries(case, [4, 5, 6], text, {}, "the same text with 4, 5 and 6 masked, so that [SEP] follows", [wrong])
    wrong = ({1: (0, 3, 1), 2: (0, 3, 2)}, "Token 0 is [CLS], no token of the text. Both have to be text.")
    entries(case, [1, 2], text, {}, "the same text with 1 and 2 masked, right after [CLS]", [wrong])
    expected = {2: (1, 3, 1), 4: (3, 6, 1), 5: (3, 6, 2)}
    wrong = ({2: (1, 6, 1), 4: (1, 6, 3), 5: (1, 6, 4)}, "Token 3 is visible: those are two spans with their own ends.")
    entries(case, [2, 4, 5], text, expected, "two spans, token 2 alone and tokens 4 and 5", [wrong])
    edge = [
        (
            {0: (-1, 2, 1), 1: (-1, 2, 2)},
            "−1 is no position: on the left of token 0 there is nothing. (Python reads chosen[-1] as the last token.)",
        ),
        ({0: (3, 2, 1), 1: (3, 2, 2)}, "Python reads index −1 as the last token. Left of token 0 there is nothing."),
    ]
    entries(case, [0, 1], [True] * 4, {}, "a text without [CLS] and [SEP], tokens 0 and 1 of 4 masked", edge)
    wrong = ({2: (1, 4, 1), 3: (1, 4, 2)}, "There is no token 4: the list ends with the span.")
    entries(case, [2, 3], [True] * 4, {}, "a text without [CLS] and [SEP], tokens 2 and 3 of 4 masked", [wrong])
    parts = [False, True, True, True, False, True, True, False]
    further = "Walk past masked tokens only. The first visible one is no token of the text, so the entry is None."
    entries(case, [3], parts, {}, "two texts with [SEP] at token 4, token 3 masked", [({3: (2, 5, 1)}, further)])
    entries(case, [5], parts, {}, "two texts with [SEP] at token 4, token 5 masked", [({5: (3, 6, 2)}, further)])
    padded = [False, True, True, True, True, False, False, False]
    entries(case, [3], padded, {3: (2, 4, 1)}, "a text with padding, token 3 masked", [])
    entries(case, [], text, {}, "a text without masked tokens", [])


def entries(
    case: Case, masked: list[int], is_text: list[bool], expected: dict[int, tuple], tried: str, mistakes: list[tuple]
) -> None:
    """What came, against entries at these tokens and None elsewhere."""

    def row(of: dict[int, tuple]) -> list:
        return [list(of[i]) if i in of else None for i in range(len(is_text))]

    chosen = [i in masked for i in range(len(is_text))]
    got = case.call(chosen, list(is_text), tried=tried)
    case.is_a("the result", got, (list, tuple), "a list with an entry for each token")
    found = plain(got)
    if len(found) != len(chosen):
        case.fail(
            f"But the result has {len(found)} entries, and there are {len(chosen)} tokens.",
            "Each token needs an entry: None where there is no boundary.",
        )
    visible = [i for i, entry in enumerate(found) if entry is not None and not chosen[i]]
    if visible:
        case.fail(
            f"But the entry of token {visible[0]} is {said(found[visible[0]])}, and this token is not masked.",
            "The boundary head is asked for masked tokens only: the entries of all others are None.",
        )
    case.equal(
        "the result",
        found,
        row(expected),
        "For each masked token: the visible tokens around its span, if both are text, and its number in the span.",
        mistakes=[(row(wrong), sentence) for wrong, sentence in mistakes],
    )
