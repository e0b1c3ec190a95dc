"""Variants of chapter 6: other shares of masked tokens, and a loss that is averaged in another way."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

MASK, VOCAB = 4, 60
SHARES = ((0.6, 0.3), (0.5, 0.2), (0.7, 0.2), (0.6, 0.1))
NO_LABELS = (-1, -7, -999)


def corrupting(draws: Draws) -> Variant:
    """Masked, random and kept tokens in other shares, another number for no label, special tokens never drawn."""
    masked, random = draws.pick(SHARES)
    kept, none, first = 1 - masked - random, draws.pick(NO_LABELS), draws.pick((5, 7, 10))

    def examine(case: Case) -> None:
        ids = case.randint(first, VOCAB, (400, 100))
        chosen = torch.rand(ids.shape, generator=case.generator) < 0.4
        result = case.call(ids, chosen, MASK, VOCAB, tried="400 texts of 100 tokens, 40 % of them chosen")
        labels, seen = case.parts(result, "labels", "seen")
        case.same_shape("labels", labels, ids)
        case.same_shape("seen", seen, ids)
        if bool((seen == -100).any() | (labels == MASK).any()) and torch.equal(labels[~chosen], ids[~chosen]):
            case.fail("But the two come in the wrong order: return the labels first.", COPIED.format(number="6.2"))
        wrong = {
            "Where nothing is asked you put -100, as in the chapter.": ids.masked_fill(~chosen, -100),
            "Every token has a label now. Only the chosen ones should have one.": ids,
            "Those labels are what the model sees. Take them from the original ids.": seen.masked_fill(~chosen, none),
            "The labels are where nothing was chosen.": ids.masked_fill(chosen, none),
        }
        advice = f"A label is the original id where a token was chosen, and {none} elsewhere."
        case.close("labels", labels, ids.masked_fill(~chosen, none), advice, mistakes=wrong)
        if not torch.equal(seen[~chosen], ids[~chosen]):
            case.fail("But tokens that were not chosen have changed.")
        examine_shares(case, seen, ids, chosen)
        again = case.parts(case.call(ids, chosen, MASK, VOCAB, tried="the same texts again"), "labels", "seen")[1]
        case.expect(not torch.equal(again, seen), "But the second call masked the same tokens: draw new numbers.")

    def examine_shares(case: Case, seen: Tensor, ids: Tensor, chosen: Tensor) -> None:
        count = chosen.sum()
        masks, same = float(((seen == MASK) & chosen).sum() / count), float(((seen == ids) & chosen).sum() / count)
        came = f"But {masks:.0%} of the chosen tokens became [MASK], {1 - masks - same:.0%} another, {same:.0%} stayed."
        if abs(masks - 0.8) < 0.02 and abs(masks - masked) > 0.03:
            case.fail(came, "These are the chapter's 80 %.", COPIED.format(number="6.2"))
        if abs(masks - masked) > 0.025 or abs(same - kept) > 0.025:
            case.fail(came, f"{masked:.0%}, {random:.0%} and {kept:.0%} are expected. Draw one number for each token.")
        drawn = seen[chosen & (seen != MASK) & (seen != ids)]
        if int(drawn.min()) < first:
            case.fail(f"But the id {int(drawn.min())} was drawn: random ids begin at {first} here.")
        different = len(drawn.unique())
        case.expect(different == VOCAB - first, f"But only {different} of the ids {first} to {VOCAB - 1} are drawn.")

    text = (
        "Write `corrupt_tokens(input_ids, chosen, mask_token_id, vocab_size)` for ids `[B, T]` and the chosen tokens, "
        f"a bool tensor `[B, T]`. Of the chosen tokens, on average **{masked:.0%}** become `[MASK]`, **{random:.0%}** "
        f"a random id, and **{kept:.0%}** stay. Random ids come from **{first}** to `vocab_size` - 1, so that no "
        f"special token is drawn. Return the **labels first**, then what the model sees. A label is the original id "
        f"where a token was chosen, and **{none}** elsewhere. Don't change `input_ids`."
    )
    hints = (
        "Draw one number between 0 and 1 for each token, and let it decide.",
        f"Below {masked:g}: [MASK]. From there to {masked + random:g}: torch.randint({first}, vocab_size, …).",
    )
    exercise = Exercise("6.11", "Other shares", 2, 15, hints, examine)
    return Variant(exercise, text, "def corrupt_tokens(input_ids, chosen, mask_token_id, vocab_size):")


def losing(draws: Draws) -> Variant:
    """A masked-language-model loss that is averaged for each text first, with a sum or a mean over the texts."""
    none, summed = draws.pick(NO_LABELS), draws.pick((True, False))

    def reference(scores: Tensor, labels: Tensor) -> Tensor:
        asked = labels != none
        each = cross_entropy(scores.transpose(1, 2), labels, ignore_index=none, reduction="none")
        means = each.sum(1)[asked.any(1)] / asked.sum(1)[asked.any(1)]
        total = means.sum()
        return total if summed or not len(means) else total / len(means)

    def examine(case: Case) -> None:
        scores, labels = 2 * case.randn(4, 6, 11), case.randint(0, 11, (4, 6))
        labels[0, 1:], labels[1, 4:], labels[2, :] = none, none, none
        got = case.call(scores, labels, tried="4 texts, one of them with nothing masked")
        asked = labels != none
        each = cross_entropy(scores.transpose(1, 2), labels, ignore_index=none, reduction="none")
        means = each.sum(1) / asked.sum(1).clamp_min(1)
        mistakes = {
            "That is the mean over all tokens with a label. " + COPIED.format(number="6.3"): each.sum() / asked.sum(),
            "That averages over all tokens, also those without a label.": each.mean(),
            "Each text is divided by T. Divide by the number of its tokens with a label.": (
                each.mean(1).sum() if summed else each.mean(1)[asked.any(1)].mean()
            ),
            "The text without a label counts as one with the loss 0. Leave it out.": means.mean(),
            "You took the mean over the texts, and their sum is asked for.": means.sum() / 3,
            "You took the sum over the texts, and their mean is asked for.": means.sum(),
        }
        ending = "add the results" if summed else "take the mean of the results"
        if isinstance(got, Tensor) and got.ndim == 0 and bool(got.isnan()):
            case.fail("But the loss is nan: a text without a label is 0 divided by 0. Leave it out.")
        advice = f"Average over the labelled tokens of each text, then {ending}."
        case.close("the loss", got, reference(scores, labels), advice, mistakes=mistakes)
        empty = case.call(scores, torch.full_like(labels, none), tried="texts with nothing masked")
        case.expect(is_close(empty, torch.tensor(0.0)), "But without any label the loss should be 0, not nan.")
        case.gradient_flows(scores, names=("scores",), tried="4 texts", labels=labels)

    ending = "sum" if summed else "mean"
    text = (
        "Write `loss_by_text(scores, labels)` for the scores `[B, T, V]` of a masked language model and labels "
        f"`[B, T]`, where **{none}** says that there is no label. Average the cross-entropy over the labelled tokens "
        f"of **each text** first, then return the **{ending}** of these averages over the texts that have a label. "
        "Without any label the loss is 0."
    )
    hints = (
        "cross_entropy with reduction='none' gives one number for each token; it wants the classes on axis 1.",
        "Sum over T, divide by the number of labels of the text, and keep only texts that have one.",
    )
    exercise = Exercise("6.12", "A loss for each text", 3, 15, hints, examine)
    return Variant(exercise, text, "def loss_by_text(scores, labels):")


MAKERS = {"6.11": corrupting, "6.12": losing}
