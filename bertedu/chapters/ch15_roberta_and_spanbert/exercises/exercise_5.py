"""Exercise 15.5: Positions from the ids."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

ADVICE = "Count the real tokens of each text from padding + 1. Padding itself gets the position `padding`."


@exercise(
    "15.5",
    "Positions from the ids",
    difficulty=3,
    minutes=10,
    hints=(
        "Which tokens are real? input_ids.ne(padding) says so, as True and False. Its running sum counts them.",
        "real.cumsum(dim=1) counts 1, 2, 3 …; multiplied by real it is 0 at padding. What has to be added to both?",
    ),
)
def position_ids(case: Case) -> None:
    """Padding left, right and nowhere, with another id of padding too."""
    case.causes["must match the size"] = "Positions have the shape of the ids, [B, T]: a sum along dim=1 keeps it."
    case.causes['"dim"'] = "Along which axis? The tokens of one text lie along dim=1."
    with_padding_one(case)
    with_padding_three(case)
    zero = torch.tensor([[5, 6, 0, 0]])
    got = counted(case, zero, 0, "a text with padding 0")
    case.close(
        "the result", got, torch.tensor([[1, 2, 0, 0]]), "With padding 0 the tokens get 1 and 2, padding gets 0."
    )
    inside = torch.tensor([[0, 7, 1, 8, 1, 2]])
    got = counted(case, inside, 1, "a text with padding between its tokens")
    case.close("the result", got, torch.tensor([[2, 3, 1, 4, 1, 5]]), ADVICE)
    empty = torch.ones(1, 3, dtype=torch.long)
    case.close("the result", counted(case, empty, 1, "a text that is all padding"), empty, "All get `padding`.")


def with_padding_one(case: Case) -> None:
    """Three texts, whose wrong positions tell the mistakes apart."""
    ids = torch.tensor([[1, 1, 0, 7, 8, 2], [0, 7, 8, 9, 5, 2], [0, 7, 2, 1, 1, 1]])
    real, across = ids.ne(1), torch.arange(6).expand(3, 6)
    count = real.cumsum(1)
    mistakes = {
        "You count all tokens, padding too. With padding on the left the first real token should still get 2.": across
        + 2,
        "That is BERT's rule: from 0, whatever the token is. Here padding isn't counted, and the first number is 2.": (
            across
        ),
        "Padding has its position, but it is counted as well: count the real tokens only.": torch.where(
            real, across + 2, 1
        ),
        "You count from 1. The first real token should get padding + 1.": count * real,
        "You count from 0. The first real token should get padding + 1.": (count - 1).clamp_min(0) * real,
        "The real tokens are right. Padding should get the position `padding`, wherever it is.": count + 1,
        "The real tokens are right. Padding should get the position `padding`, and not 0.": (count + 1) * real,
        "The first real token gets `padding`, and should get padding + 1: row 1 belongs to padding. "
        "(Is <s>, whose id is 0, a real token in your comparison?)": torch.where(real, count, 1),
        "All are one too high: the running sum starts at 1 already, so add `padding` and not padding + 1.": (
            count * real + 2
        ),
        "You count down the batch, from text to text. Along which axis do the tokens of one text lie?": (
            real.cumsum(0) * real + 1
        ),
        "You count the padding instead of the tokens: is the comparison the wrong way round?": (
            (~real).cumsum(1) * ~real + 1
        ),
        "Your positions run backwards: count from the left.": real.flip(1).cumsum(1).flip(1) * real + 1,
    }
    got = counted(case, ids, 1, "three texts, padded on the left, not at all and on the right, with padding 1")
    case.close("the result", got, count * real + 1, ADVICE, mistakes=mistakes)


def with_padding_three(case: Case) -> None:
    """Another padding: 1 is an ordinary token."""
    ids = torch.tensor([[3, 3, 0, 1, 2, 1], [0, 1, 3, 5, 1, 3]])
    real, others = ids.ne(3), ids.ne(1)
    mistakes = {
        "Here padding is 3, and 1 is an ordinary token. Use the argument `padding` instead of 1.": (
            others.cumsum(1) * others + 1
        ),
        "Here padding is 3, and 1 is an ordinary token: compare the ids with `padding`.": others.cumsum(1) * others + 3,
        "The offset should be `padding`, which is 3 here, and not 1.": real.cumsum(1) * real + 1,
        "The first real token should get padding + 1, which is 4 here, and not 2.": torch.where(
            real, real.cumsum(1) + 1, 3
        ),
    }
    got = counted(case, ids, 3, "two texts with padding 3, and with tokens whose id is 1")
    case.close("the result", got, real.cumsum(1) * real + 3, ADVICE, mistakes=mistakes)


def counted(case: Case, ids: Tensor, padding: int, tried: str) -> Tensor:
    """What came: integers of the shape of the ids."""
    got = case.call(ids, padding, tried=tried)
    case.same_shape("the result", got, ids, "Each token needs a position, padding included: [B, T].")
    if got.is_floating_point() or got.dtype == torch.bool:
        case.fail(f"But the result has the type {str(got.dtype)[6:]}. Positions are row numbers, so return integers.")
    return got.long()
