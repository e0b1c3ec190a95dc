"""Exercise 17.5: Repair the corruption."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.heads import IGNORED

MASK = 4


@exercise(
    "17.5",
    "Repair the corruption",
    difficulty=3,
    minutes=10,
    hints=(
        "What does seen[chosen] return: a part of seen, or a copy of that part? Print `seen` after the line.",
        "Start from the text without masks. An assignment, seen[chosen] = sampled, writes into seen itself.",
    ),
)
def repaired_corrupt(case: Case) -> None:
    """A text with masked and with kept tokens, lucky guesses among both."""
    case.causes["shape mismatch"] = (
        "There is one sample for each chosen token: where labels is not -100. Some chosen tokens are not [MASK]."
    )
    text = case.randint(5, 30, (2, 6))
    chosen = torch.zeros(2, 6).bool()
    for row, column in ((0, 1), (0, 3), (0, 4), (1, 0), (1, 2), (1, 5)):
        chosen[row, column] = True
    labels, masked = text.masked_fill(~chosen, IGNORED), text.masked_fill(chosen, MASK)
    masked[0, 3], masked[1, 2] = text[0, 3], text[1, 2]  # chosen, and shown as they are
    sampled = text[chosen] + 30
    sampled[[0, 3, 4]] = text[chosen][[0, 3, 4]]  # lucky guesses
    tried = "2 texts with 6 chosen tokens, 4 of them masked, and 3 lucky guesses"
    seen, replaced = case.parts(case.call(masked, labels, sampled, tried=tried), "seen", "replaced")
    if isinstance(seen, Tensor) and seen.dtype == torch.bool:
        case.fail("But the two come in the wrong order: return seen first, then replaced.")
    case.same_shape("seen", seen, [2, 6])
    case.same_shape("replaced", replaced, [2, 6])
    right = text.masked_scatter(chosen, sampled)
    examine_seen(case, seen, right, masked, labels, sampled)
    examine_labels(case, replaced.double(), right, text, masked, labels)
    nothing = torch.full((1, 3), IGNORED)
    plain, empty = torch.tensor([[2, 8, 3]]), torch.zeros(0).long()
    result = case.call(plain, nothing, empty, tried="a text in which nothing was chosen")
    seen, replaced = case.parts(result, "seen", "replaced")
    case.close("seen", seen, plain, "Without samples the text stays as it is.")
    case.close("replaced", replaced.double(), torch.zeros(1, 3).double(), "Nothing was replaced.")


def examine_seen(case: Case, seen: Tensor, right: Tensor, masked: Tensor, labels: Tensor, sampled: Tensor) -> None:
    """What the discriminator reads."""
    text = torch.where(labels != IGNORED, labels, masked)
    if seen.is_floating_point():
        case.fail("But seen holds floats. Ids are whole numbers, because they count the rows of the embedding table.")
    if bool((seen == MASK).any()):
        case.fail(
            f"But the discriminator still reads [MASK] at {int((seen == MASK).sum())} tokens.",
            "Then `is this [MASK]?` is all that it has to learn. The samples must be written into `seen` itself.",
        )
    if bool((seen == IGNORED).any()):
        case.fail("But seen contains -100: that is a label for `nothing is asked`, and not a token.")
    only_masked = text.masked_scatter(masked == MASK, sampled)
    mistakes = {
        "This is the text itself: the samples are missing. seen[chosen] makes a copy, and the copy was changed.": text,
        "You put samples only where [MASK] stands. A token that was chosen and kept gets a sample too, and without it "
        "all later samples are one token off.": only_masked,
        "A token that was chosen and kept has no sample: put one at every chosen token.": torch.where(
            masked == MASK, right, text
        ),
    }
    case.close("seen", seen, right, "At the chosen tokens stand the samples, in reading order.", mistakes=mistakes)


def examine_labels(case: Case, replaced: Tensor, right: Tensor, text: Tensor, masked: Tensor, labels: Tensor) -> None:
    """Which tokens are labelled as replaced."""
    mistakes = {
        "You labelled all chosen tokens. A lucky guess is original: the right word stands there.": labels != IGNORED,
        "You compared with the masked text. There a lucky guess differs from [MASK], and counts as replaced.": (
            right != masked
        ),
        "You compared with the labels. They are -100 at most tokens, and every id differs from -100.": right != labels,
        "0 and 1 are swapped: 1 stands for replaced.": right == text,
        "You labelled the masked tokens. A token that was chosen and kept may be replaced too, and a lucky guess is "
        "original.": masked == MASK,
    }
    case.close(
        "replaced",
        replaced,
        (right != text).double(),
        "seen is right. A token is replaced where it differs from the text without masks.",
        mistakes={sentence: wrong.double() for sentence, wrong in mistakes.items()},
    )
