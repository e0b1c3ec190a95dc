"""Whiteboard drill: masking for the masked language model, 80/10/10."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.interview.drills.drill import Drill

TASK = """
Write `mask_tokens(input_ids, special, mask_id, vocab_size, probability=0.15)`: what a masked language model is shown,
and what it is asked.

    input_ids   [B, T]   the ids of a batch
    special     [B, T]   True for [CLS], [SEP] and padding
    mask_id              the id of [MASK]; ids go from 0 to vocab_size - 1

Every token that is not special is chosen with the given probability, independently of the others. Of the chosen tokens,
on average,

    80 % become [MASK],  10 % become a random id from 0 to vocab_size - 1,  10 % stay as they are.

Return two tensors [B, T]: what the model sees, and the labels: the original id where a token was chosen, and -100
elsewhere. Use torch's random numbers. input_ids must stay as it is: the next epoch masks other tokens.
"""

STUB = """
import torch


def mask_tokens(input_ids, special, mask_id, vocab_size, probability=0.15):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def mask_tokens(input_ids, special, mask_id, vocab_size, probability=0.15):
    chosen = (torch.rand(input_ids.shape) < probability) & ~special
    labels = input_ids.masked_fill(~chosen, -100)
    fate = torch.rand(input_ids.shape)  # one number for each token decides what becomes of it
    random_ids = torch.randint(vocab_size, input_ids.shape)
    seen = torch.where(chosen & (fate < 0.8), mask_id, input_ids)
    seen = torch.where(chosen & (fate >= 0.9), random_ids, seen)
    return seen, labels
"""

MASK, FIRST_WORD, VOCAB = 4, 5, 60
IGNORED = -100
TRIED = "1000 texts of 100 tokens, a few of them special"


def examine(case: Case) -> None:
    """What the labels say first, then what was chosen, then the three shares, then other settings."""
    case.causes = {
        "shape mismatch": "On the left you select some tokens, on the right you give all: select on both sides.",
        "is ambiguous": "`and`, `or` and `not` ask a whole tensor for one answer. Use &, | and ~ with parentheses.",
        "p_in >= 0": "A probability below 0 or above 1: what do you fill in for the special tokens?",
    }
    ids = case.randint(FIRST_WORD, VOCAB, (1000, 100))
    special = torch.rand(ids.shape, generator=case.generator) < 0.1
    special[:, 0] = True
    result = case.call(ids, special, MASK, VOCAB, tried=TRIED)
    seen, labels = case.parts(result, "seen", "labels")
    case.same_shape("seen", seen, ids)
    case.same_shape("labels", labels, ids)
    chosen = labels != IGNORED
    check_labels(case, ids, special, seen, labels)
    check_chosen(case, chosen, special, 0.15)
    if not torch.equal(seen[~chosen], ids[~chosen]):
        case.fail("But tokens have changed that have no label: each change is conditioned on `chosen & …`.")
    check_shares(case, seen, ids, chosen)
    again, _ = case.parts(case.call(ids, special, MASK, VOCAB, tried="the same texts again"), "seen", "labels")
    if torch.equal(again, seen):
        case.fail(
            "But the second call masked the same tokens. Every epoch should have masks of its own: no fixed seed."
        )
    _, half = case.parts(case.call(ids, special, MASK, VOCAB, 0.5, tried="a probability of 0.5"), "seen", "labels")
    check_chosen(case, half != IGNORED, special, 0.5)
    all_special = torch.ones(2, 3, dtype=torch.bool)
    few = torch.full((2, 3), 9)
    seen, labels = case.parts(case.call(few, all_special, MASK, VOCAB, tried="only special tokens"), "seen", "labels")
    case.close("seen", seen, few, "Nothing can be chosen, so nothing changes.")
    case.close("labels", labels, torch.full((2, 3), IGNORED), "Nothing can be chosen, so every label is -100.")


def share(where: Tensor, among: Tensor) -> float:
    """What share of `among` is in `where`."""
    return float((where & among).sum() / among.sum())


def check_labels(case: Case, ids: Tensor, special: Tensor, seen: Tensor, labels: Tensor) -> None:
    """Labels that are not the original ids, or not -100."""
    if case.in_place:
        case.fail(
            f"But {case.name} changed its input `{case.in_place}`: in the next epoch the text would be masked already.",
            "`seen = input_ids` gives the same tensor a second name. Make a copy with clone().",
        )
    if bool((seen == IGNORED).any()):
        case.fail("But what the model sees contains -100. That belongs in the labels: are the two one tensor?")
    if torch.equal(labels, ids):
        case.fail("But every token has a label, so the model is mostly asked for words that it sees. Fill in -100.")
    if bool((labels == 0).any()) and not bool((labels == IGNORED).any()):
        case.fail("But labels are 0 where nothing is asked, and 0 is the id of a token. The loss ignores -100.")
    chosen = labels != IGNORED
    if bool((labels[chosen] != ids[chosen]).any()):
        if torch.equal(labels[chosen], seen[chosen]):
            case.fail("But the labels are what the model sees: it would be asked for [MASK]. Take the original ids.")
        case.fail("But some labels are neither the original id nor -100.")
    if bool((seen != ids)[~chosen].any()) and bool((chosen & (seen == ids)).any()) and share(chosen, ~special) > 0.5:
        case.fail("But the labels are where nothing was chosen. Is the mask inverted?")
    changed = seen != ids
    if torch.equal(changed & ~special, chosen):
        if share(seen == MASK, chosen) > 0.99:
            return  # another mistake: everything became [MASK]
        case.fail(
            "But only tokens that were changed have a label. The 10 % that stay are questions too: "
            "the model cannot know which words it sees are right."
        )
    if torch.equal((seen == MASK) & ~special, chosen) and bool((changed & ~chosen).any()):
        case.fail("But only [MASK] has a label. The random and the kept tokens were chosen too: they are questions.")


def check_chosen(case: Case, chosen: Tensor, special: Tensor, probability: float) -> None:
    """Special tokens chosen, the wrong share, or one draw for many tokens."""
    if bool((chosen & special).any()):
        case.fail(f"But {share(chosen, special):.0%} of the special tokens were chosen. Only the others may be.")
    found = share(chosen, ~special)
    if abs(found - probability) > 0.02:
        advice = "Draw a number from 0 to 1 for each token, and choose it if that is below `probability`."
        if abs(found - 0.15) < 0.01 and probability != 0.15:
            advice = "You choose 15 % always. Use the argument `probability`."
        elif abs(found - (1 - probability)) < 0.02:
            advice = "The comparison is the wrong way round: a number from 0 to 1 is below 0.15 in 15 % of all cases."
        elif found < 0.01:
            advice = "Nothing is chosen, or hardly anything: `special` is True where a token must not be chosen."
        case.fail(
            f"But {found:.1%} of the tokens that are not special were chosen, and {probability:.0%} is expected.",
            advice,
        )
    for axis, name in ((1, "text"), (0, "position")):
        ordinary = (~special).sum(axis)
        count = (chosen & ~special).sum(axis)
        alike = ((count == 0) | (count == ordinary))[ordinary > 5]
        if len(alike) and float(alike.double().mean()) > 0.5:
            case.fail(
                f"But in most {name}s either all tokens are chosen or none: draw a number for each token, [B, T]."
            )
    if probability == 0.15 and len((chosen & ~special).sum(1).unique()) < 6:
        case.fail(
            "But every text has about the same number of chosen tokens. Here each token is drawn independently, "
            "so that the number varies."
        )


def check_shares(case: Case, seen: Tensor, ids: Tensor, chosen: Tensor) -> None:
    """80 % [MASK], 10 % random, 10 % kept, each within two points; random ids from the whole vocabulary."""
    masks, kept = share(seen == MASK, chosen), share(seen == ids, chosen)
    others = 1 - masks - kept
    came = f"But of the chosen tokens {masks:.0%} became [MASK], {others:.0%} another token, and {kept:.0%} stayed"
    if max(abs(masks - 0.8), abs(others - 0.1), abs(kept - 0.1)) > 0.025:
        if masks > 0.97:
            line = "All became [MASK]. Where are the random and the kept tokens?"
        elif abs(masks - 0.72) < 0.02:
            line = "Two independent draws overlap: random tokens overwrite [MASK]. Let one number decide."
        elif abs(masks - 0.8) < 0.025 and others < 0.05:
            line = "10 % of all chosen tokens are half of the 20 % that are left, and not a tenth of them."
        elif kept < 0.025:
            line = "No token is kept as it is: [0.9, 1) belongs to the kept ones."
        elif others < 0.02:
            line = "No token becomes a random one."
        elif max(others, kept) > 0.95:
            line = "They are treated alike. Did you draw one number for all of them? Draw one for each token."
        else:
            line = "Draw one number between 0 and 1 for each token: below 0.8, from 0.8 to 0.9, and from 0.9 on."
        case.fail(f"{came}; 80 %, 10 % and 10 % are expected.", line)
    found = seen[chosen & (seen != MASK) & (seen != ids)].unique()
    if len(found) == 1:
        case.fail("But all random tokens are the same one. Draw an id for each of them.")
    if len(found) < VOCAB - 1:  # all but [MASK], which counts as masked
        case.fail(
            f"But the random ids go from {int(found.min())} to {int(found.max())}, and 0 to {VOCAB - 1} is asked for."
        )


DRILL = Drill(
    name="mlm-collator",
    title="The masking of a masked language model, 80/10/10",
    minutes=12,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="06",
    section="80/10/10",
    hints=(
        "Three draws of shape [B, T]: which tokens are chosen, what becomes of each, random ids. Make labels first.",
        "chosen = (torch.rand(shape) < probability) & ~special; labels = input_ids.masked_fill(~chosen, -100); "
        "a second number for each token: below 0.8 [MASK], from 0.9 on a random id.",
    ),
    examine=examine,
)
