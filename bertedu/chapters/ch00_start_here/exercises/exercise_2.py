"""Exercise 0.2: Mask a token."""

import torch

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

MASK = 4


@exercise(
    "0.2",
    "Mask a token",
    difficulty=1,
    minutes=7,
    hints=(
        "First make a copy, for example with clone(). Then change the copy.",
        "The tokens at `position` of all texts are a column: copy[:, position].",
    ),
)
def mask_token(case: Case) -> None:
    """A copy of the ids, [B, T], with the mask's id at one position of every text."""
    ids = torch.tensor([[2, 11, 12, 13, 14, 3], [2, 21, 22, 23, 24, 3], [2, 31, 32, 33, 34, 3], [2, 41, 42, 43, 44, 3]])
    case.causes = {"can't assign a str": "An id is an integer: write mask_id, not the text of the token."}
    masked = case.call(ids, 3, MASK, tried="4 texts of 6 tokens, with position 3")
    case.is_a("the result", masked, torch.Tensor, "a tensor of ids")
    if list(masked.shape) == [4, 5]:
        case.fail("But each text has lost a token. It should keep its 6 tokens, and one of them should be mask_id.")
    if list(masked.shape) == [4, 7]:
        case.fail("But each text has one token more. mask_id should replace the token, not stand beside it.")
    case.same_shape("the result", masked, ids, "Return the whole tensor, with all texts and all their tokens.")
    case.expect(not torch.equal(masked.long(), ids), "But nothing is masked: the result equals input_ids.")
    expected, first_only, whole_text, before = (ids.clone() for _ in range(4))
    expected[:, 3] = first_only[0, 3] = whole_text[3] = before[:, 2] = MASK
    everything = torch.full((4, 6), float(MASK))
    case.close(
        "the result",
        masked.float(),
        expected.float(),
        "Only position 3 of each text should change, and it should become mask_id.",
        mistakes={
            "All of text 3 is masked: x[3] is a row. How do you write position 3 of all rows?": whole_text.float(),
            "Only the first text has a mask. How do you write all rows?": first_only.float(),
            "The token before it is masked. Positions are counted from 0, as usual in Python.": before.float(),
            "Every token is masked. Only one position of each text should change.": everything,
        },
    )
    case.dtype("the result", masked, torch.int64, "Ids are integers: the model uses them as row numbers of a table.")
    one = case.call(ids[:1], 0, MASK, tried="a batch with one text, position 0")
    case.close("the result", one.float(), torch.tensor([[4.0, 11, 12, 13, 14, 3]]), "The first position is 0.")
    case.close_with("And input_ids is unchanged, so the right answers are still there.")
