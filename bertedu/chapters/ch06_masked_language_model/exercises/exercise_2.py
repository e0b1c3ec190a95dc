"""Exercise 6.2: Eighty, ten, ten."""

import torch
from torch import Tensor

from bertedu.chapters.ch06_masked_language_model.exercises.shared import FIRST_WORD, MASK, VOCAB
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.heads import IGNORED


def share(where: Tensor, among: Tensor) -> float:
    """What share of `among` is in `where`."""
    return float((where & among).sum() / among.sum())


def check_labels(case: Case, labels: Tensor, seen: Tensor, ids: Tensor, chosen: Tensor) -> None:
    """The right id where a token was chosen, -100 elsewhere."""
    expected = ids.masked_fill(~chosen, IGNORED)
    hidden = chosen & (seen == MASK)
    case.close(
        "labels",
        labels,
        expected,
        f"A label is the original id where a token was chosen, and {IGNORED} elsewhere.",
        mistakes={
            "Every token has a label now, so the model is mostly asked for words that it can see. "
            "Only the chosen tokens should have one.": ids,
            "Those labels are what the model sees, so it would have to answer [MASK] at each [MASK]. "
            "Take the labels from the original ids.": seen.masked_fill(~chosen, IGNORED),
            "Only the [MASK] tokens have a label. The replaced and the kept ones were chosen too, and they need a "
            "label as well: that is what they are for.": ids.masked_fill(~hidden, IGNORED),
            "The kept tokens have no label. They were chosen too: a kept token is a question as well.": (
                ids.masked_fill(~chosen | (seen == ids), IGNORED)
            ),
            "The labels are where nothing was chosen. Is the mask inverted?": (ids.masked_fill(chosen, IGNORED)),
            f"Where nothing is asked you put 0, and 0 is the id of [PAD]. cross_entropy ignores {IGNORED}.": (
                ids.masked_fill(~chosen, 0)
            ),
        },
    )


def check_shares(case: Case, seen: Tensor, ids: Tensor, chosen: Tensor) -> None:
    """80 % [MASK], 10 % random, 10 % kept, within 2 points, for each token; random tokens differ."""
    one_draw_for_many(case, seen == MASK, chosen)
    masks, kept = share(seen == MASK, chosen), share(seen == ids, chosen)
    others = 1 - masks - kept
    came = f"But of the chosen tokens {masks:.0%} became [MASK], {others:.0%} another token, and {kept:.0%} stayed"
    wanted = "80 %, 10 % and 10 % are expected."
    if abs(masks - 0.8) > 0.02 or abs(others - 0.1) > 0.02:
        if abs(masks - 0.8) <= 0.02 and others < 0.05:
            line = "Your 10 % seem to be 10 % of the remaining 20 %. 10 % of all chosen tokens are half of the rest."
        elif masks > 0.97:
            line = "All became [MASK]. Where are the random and the kept tokens?"
        elif max(others, kept) > 0.95:
            line = "All of them are treated alike. Did you draw a single number? Draw one for each token, [B, T]."
        elif kept < 0.03:
            line = "No token is kept as it is."
        elif abs(masks - 0.72) < 0.02:
            line = "Some [MASK]s were overwritten by random tokens. Draw one number for each token, and let it decide."
        else:
            line = "Draw one number between 0 and 1 for each token: below 0.8, from 0.8 to 0.9, and from 0.9 on."
        case.fail(f"{came}; {wanted}", line)
    random_ids = seen[chosen & (seen != MASK) & (seen != ids)]
    if len(random_ids.unique()) == 1:
        case.fail("But all replaced tokens became the same token. Draw a random id for each of them.")
    if int(random_ids.min()) >= FIRST_WORD:
        case.almost(
            f"The random ids go from {int(random_ids.min())} to {int(random_ids.max())}: special tokens are left out.",
            "That is a sensible idea, but the task asks for the whole vocabulary, from 0 on, as in Google's code.",
        )
    if len(random_ids.unique()) < VOCAB - 1:  # all but [MASK], which counts as masked
        case.fail(
            f"But the random ids go from {int(random_ids.min())} to {int(random_ids.max())}, "
            f"and {len(random_ids.unique())} different ones occur.",
            f"They should come from the whole vocabulary, {VOCAB} ids here.",
        )


def one_draw_for_many(case: Case, masked: Tensor, chosen: Tensor) -> None:
    """One random number for a whole text or a whole column, instead of one for each token."""
    if not 0.03 < share(masked, chosen) < 0.97:
        return  # all alike everywhere: another mistake
    for axis, name, shape in ((1, "text", "[B, 1]"), (0, "position", "[1, T]")):
        count = (masked & chosen).sum(axis)
        alike = ((count == 0) | (count == chosen.sum(axis))).double().mean()
        if alike > 0.5:
            case.fail(
                f"But in {alike:.0%} of the {name}s all chosen tokens are treated alike: all [MASK], or none.",
                f"Did you draw numbers of shape {shape}? Draw one for each token, [B, T].",
            )


def one_draw_for_all(case: Case, seen: Tensor, ids: Tensor, chosen: Tensor) -> None:
    """A single random number for all tokens, found where the fate of all of them changes from call to call."""
    masked = share(seen == MASK, chosen)
    if 0.03 < masked < 0.97:
        return
    few, every = torch.full((1, 6), FIRST_WORD), torch.ones(1, 6, dtype=torch.bool)
    calls = (
        case.parts(case.protected(case.answer, few.clone(), every, MASK, VOCAB), "seen", "labels") for _ in range(40)
    )
    counts = {int((row == MASK).sum()) for row, _ in calls}
    if 6 in counts and min(counts) < 3:
        case.fail(
            "But in each call all chosen tokens are treated alike: all become [MASK], or none does.",
            "One number for all tokens gives all of them the same fate. Draw one for each token, [B, T].",
        )


def shared_memory(case: Case, seen: Tensor, ids: Tensor) -> None:
    """`labels = input_ids` or `seen = input_ids`: a second name, not a copy."""
    if bool((seen == IGNORED).any()):
        case.fail(
            f"But what the model sees contains {IGNORED}, which belongs in the labels.",
            "A line such as `labels = input_ids` gives the same tensor a second name. Make a copy with clone().",
        )
    if case.in_place and not torch.equal(seen, ids):
        case.fail(
            f"But {case.name} changed input_ids itself, and labels that are taken from it afterwards are wrong.",
            "A line such as `seen = input_ids` gives the same tensor a second name. Make a copy with clone().",
        )


@exercise(
    "6.2",
    "Eighty, ten, ten",
    difficulty=2,
    minutes=15,
    hints=(
        "Draw one number for each token: draw = torch.rand(input_ids.shape). Which have draw < 0.8, which draw >= 0.9?",
        "labels = input_ids.masked_fill(~chosen, -100). Then torch.where(chosen & (draw < 0.8), mask_token_id, "
        "input_ids) masks, and a second torch.where inserts random ids, drawn with torch.randint.",
    ),
)
def corrupt(case: Case) -> None:
    """Labels first, then what must not change, then the shares."""
    case.causes |= {
        "shape mismatch": "On the left you select some tokens, on the right you give all: select on both sides.",
        "is ambiguous": "`and` and `or` ask a whole tensor for one answer. Use & and | with parentheses.",
    }
    ids = case.randint(FIRST_WORD, VOCAB, (400, 100))
    chosen = torch.rand(ids.shape, generator=case.generator) < 0.4
    result = case.call(ids, chosen, MASK, VOCAB, tried="400 texts of 100 tokens, 40 % of them chosen")
    seen, labels = case.parts(result, "seen", "labels")
    case.same_shape("seen", seen, ids)
    case.same_shape("labels", labels, ids)
    shared_memory(case, seen, ids)
    if not torch.equal(seen[~chosen], ids[~chosen]):
        changed = share(seen != ids, ~chosen)
        case.fail(
            f"But {changed:.0%} of the tokens that were not chosen have changed.",
            "Only chosen tokens may be masked or replaced. Does each of your conditions contain `chosen & …`?",
        )
    check_labels(case, labels, seen, ids, chosen)
    one_draw_for_all(case, seen, ids, chosen)
    check_shares(case, seen, ids, chosen)
    again, _ = case.call(ids, chosen, MASK, VOCAB, tried="the same texts again")
    if torch.equal(again, seen):
        case.almost(
            "The shares are right, but the second call gave exactly the first result.",
            "Each call should draw a new mask. Is there a fixed seed, or a fixed order?",
        )
    one, none = torch.full((1, 3), FIRST_WORD), torch.zeros(1, 3, dtype=torch.bool)
    seen, labels = case.call(one, none, MASK, VOCAB, tried="a text without a chosen token")
    case.equal("seen", seen, one, "Nothing was chosen, so nothing should change.")
    case.equal("labels", labels, [[IGNORED] * 3], "Nothing was chosen, so there is no label.")
