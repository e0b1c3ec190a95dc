"""Variants of chapter 17: a discriminator's loss with weights, and a corruption with other labels."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

MASK, NOT_ASKED = 4, -100
DIVISORS = {True: "sum of these weights", False: "number of real tokens"}
LABELS = ((0, 1), (1, 0), (1, -1), (-1, 1))  # of an original and of a replaced token


def token_losses(logits: Tensor, target: Tensor) -> Tensor:
    """The binary cross-entropy of each token, [B, T]."""
    return binary_cross_entropy_with_logits(logits, target.to(logits.dtype), reduction="none")


def losses(
    logits: Tensor, seen: Tensor, text: Tensor, padding: Tensor, original: bool, times: int, by_weights: bool
) -> tuple[Tensor, dict[str, Tensor]]:
    """The right loss, and what known mistakes give by the sentence that explains each.

    original: a large logit means that the token is original. times: how often a replaced token counts.
    """
    replaced, real = seen != text, ~padding
    each, swapped = token_losses(logits, replaced ^ original), token_losses(logits, replaced ^ (not original))
    weights = torch.where(replaced, float(times), 1.0)
    meaning = "original" if original else "replaced"
    public, copied = token_losses(logits, replaced), COPIED.format(number="17.3")

    def averaged(each: Tensor, weights: Tensor, where: Tensor, by_weights: bool = by_weights) -> Tensor:
        return (each * weights * where).sum() / (weights if by_weights else torch.ones_like(weights))[where].sum()

    return averaged(each, weights, real), {
        f"`padding` is True for padding, and you took it for the real tokens. {copied}": public[padding].mean(),
        f"That is the chapter's loss. {copied}": public[real].mean(),
        f"A replaced token counts {times} times, and you counted every token once.": each[real].mean(),
        "`padding` is True for padding, and you took it for the real tokens.": (averaged(each, weights, padding)),
        f"The two classes are swapped: a large logit means {meaning} here.": (averaged(swapped, weights, real)),
        "You included the padding. Only real tokens count.": averaged(each, weights, torch.ones_like(real)),
        "You divided by B·T, and padding should not count there either.": (each * weights * real).mean(),
        f"The sum is right. Divide it by the {DIVISORS[by_weights]}.": averaged(each, weights, real, not by_weights),
        "You did not divide the sum.": (each * weights * real).sum(),
        f"You counted the original tokens {times} times. The replaced ones count more.": (
            averaged(each, times / weights, real)
        ),
        "Only the replaced tokens count in your loss. Every real token is a question.": each[replaced].mean(),
    }


def weighing(draws: Draws) -> Variant:
    """A loss that counts replaced tokens several times, for a logit that may mean the opposite, and padding's mask."""
    original, times, by_weights = draws.pick((True, False)), draws.pick((2, 3, 5)), draws.pick((True, False))
    divisor = DIVISORS[by_weights]
    meaning = "original" if original else "replaced"

    def examine(case: Case) -> None:
        case.causes["must be the same as input size"] = "Did you index only one of logits and labels?"
        case.causes["to be boolean"] = "Labels must be floats for binary_cross_entropy_with_logits: use .float()."
        text, padding = case.randint(5, 40, (3, 8)), torch.arange(8) >= torch.tensor([[8], [3], [5]])
        text = text.masked_fill(padding, 0)
        seen, logits = text.clone(), 2 * case.randn(3, 8)
        seen[[0, 0, 1, 2, 2], [1, 6, 2, 0, 3]] = 41  # so many that no two divisors are equal
        got = case.call(logits, seen, text, padding, tried="3 texts of 8, 3 and 5 real tokens, 5 of them replaced")
        expected, mistakes = losses(logits, seen, text, padding, original, times, by_weights)
        advice = f"Weigh the binary cross-entropies of the real tokens, add them, and divide by the {divisor}."
        case.close("the loss", got, expected, advice, mistakes=mistakes)
        sure, same = torch.tensor([[200.0, -200.0]]), torch.tensor([[7, 8]])
        got = case.call(sure, same, same, same < 0, tried="a discriminator that is very certain, and wrong once")
        advice = "binary_cross_entropy_with_logits never rounds a probability to 0 or 1 before the logarithm."
        right = losses(sure, same, same, same < 0, original, times, by_weights)[0]
        case.close("the loss", got, right, advice, tolerance=1e-3)
        rest, answer = (seen, text, padding), case.answer
        case.answer = lambda x: case.protected(answer, x, *(one.clone() for one in rest))
        case.gradient_flows(logits, names=("logits",), tried="the same texts")

    text = (
        "Write `detection_loss(logits, seen, text, padding)`. All four are `[B, T]`: the discriminator's logits, the "
        "ids that it has read, the ids of the text, and a boolean tensor that is **True where there is padding**. The "
        f"larger a logit, the more the discriminator believes that the token is **{meaning}**. "
        "Compute the binary cross-entropy of each real token. An original token counts once, a replaced token counts "
        f"**{times} times**. Add these losses up and divide by the {divisor}. Where the sampled token equals the "
        "text's, nothing was replaced."
    )
    hints = (
        "Which tokens are real, which are replaced, and which target does each have? Start with three tensors [B, T].",
        "binary_cross_entropy_with_logits with reduction='none' gives one number for each token: weigh these.",
    )
    exercise = Exercise("17.11", "A loss with weights", 2, 12, hints, examine)
    return Variant(exercise, text, "def detection_loss(logits, seen, text, padding):")


def batch(case: Case) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """masked, labels, sampled as the answer gets them; what should be read; the text. Texts lie in rows."""
    text, chosen = case.randint(5, 30, (2, 6)), torch.zeros(2, 6, dtype=torch.bool)
    chosen[[0, 0, 0, 1, 1, 1], [1, 3, 4, 0, 2, 5]] = True
    masked = text.masked_fill(chosen, MASK)
    masked[0, 3], masked[1, 2] = text[0, 3], text[1, 2]  # chosen, and shown as they are
    sampled = torch.arange(30, 36)
    sampled[[0, 3, 4]] = text[chosen][[0, 3, 4]]  # lucky guesses
    return masked, text.masked_fill(~chosen, NOT_ASKED), sampled, text.masked_scatter(chosen, sampled), text


def rule_of(replaced: int, fake: bool) -> str:
    """What happens with a lucky guess, in words."""
    return f"counts as replaced and gets the label {replaced}" if fake else f"gets the label {NOT_ASKED}: not asked"


def labelled(
    seen: Tensor, text: Tensor, chosen: Tensor, original: int, replaced: int, fake: bool
) -> tuple[Tensor, dict[str, Tensor]]:
    """The right labels, and what known mistakes give by the sentence that explains each.

    original, replaced: the two labels. fake: whether a lucky guess counts as replaced.
    """
    rule = rule_of(replaced, fake)
    changed, lucky = seen != text, chosen & (seen == text)
    plain, swapped = torch.where(changed, replaced, original), torch.where(changed, original, replaced)
    right = plain.masked_fill(lucky, replaced if fake else NOT_ASKED)
    return right, {
        f"A lucky guess is original in the chapter only. Here it {rule}.": plain,
        f"This is the chapter's rule. Here a lucky guess {rule}.": changed.long(),
        f"A lucky guess {rule}.": plain.masked_fill(lucky, NOT_ASKED if fake else replaced),
        f"The labels are swapped: {original} stands for original, {replaced} for replaced.": (
            swapped.masked_fill(lucky, original if fake else NOT_ASKED)
        ),
        f"You used 1 and 0. The label is {original} for original and {replaced} for replaced.": (
            changed.long().masked_fill(lucky, 1 if fake else NOT_ASKED)
        ),
        f"Tokens that were not chosen are original: their label is {original}.": (
            right.masked_fill(~chosen, NOT_ASKED)
        ),
    }


def corrupting(draws: Draws) -> Variant:
    """A corruption with labels of its own, a rule of its own for lucky guesses, and texts in rows or in columns."""
    sequence_first, fake = draws.pick((True, False)), draws.pick((True, False))
    original, replaced = draws.pick(LABELS)
    shown = "[T, B]" if sequence_first else "[B, T]"

    def examine(case: Case) -> None:
        case.causes["shape mismatch"] = "There is one sample for each chosen token, masked or not: labels is not -100."
        rows = batch(case)
        masked, ids, sampled, wanted, text = (x.mT.contiguous() if sequence_first and x.ndim > 1 else x for x in rows)
        chosen = ids != NOT_ASKED
        got = case.call(masked, ids, sampled, tried=f"2 texts of 6 tokens as {shown}, 6 chosen, 3 lucky guesses")
        labels, seen = case.parts(got, "labels", "seen")
        across = text.masked_scatter(chosen, sampled)
        if is_close(labels, across) and is_close(seen, across != text):
            case.fail(COPIED.format(number="17.5"), "The labels come first here, and they follow other rules.")
        if is_close(labels, wanted) or is_close(labels, across):
            case.fail("But the two come in the wrong order: return the labels first, then what the model reads.")
        case.same_shape("labels", labels, masked)
        case.same_shape("seen", seen, masked)
        mistakes = {
            "The samples come text after text, and you filled them in position after position.": across,
            "This is the text: the samples are missing. seen[chosen] is a copy.": text,
            "A chosen token that was not masked gets a sample too.": torch.where(masked == MASK, wanted, masked),
            "The discriminator still reads [MASK]: the samples must be written into the tensor.": masked,
        }
        case.close("seen", seen, wanted, "The samples stand at the chosen tokens, in order.", mistakes=mistakes)
        right, wrong = labelled(wanted, text, chosen, original, replaced, fake)
        case.close("labels", labels, right, "Compare with the text without masks.", mistakes=wrong)
        case.refuse_in_place()

    order = " (each column is a text)" if sequence_first else ""
    text = (
        f"Write `corrupt(masked, labels, sampled)`. `masked` is what the generator has read, **`{shown}`**{order}. "
        f"`labels`, `{shown}`, holds the original id at each chosen token and -100 elsewhere; a chosen token is not "
        "always masked. `sampled`, `[N]`, holds one sampled id for each chosen token: those of the first text from "
        "left to right, then those of the second, and so on. Return **first the discriminator's labels, then what it "
        f"reads**, `{shown}` each. The label is **{original}** for an original and **{replaced}** for a replaced "
        f"token. **A lucky guess {rule_of(replaced, fake)}.** Tokens that were not chosen are original."
    )
    hints = (
        "Rebuild the text without masks first. Which tokens are chosen, and which of them are lucky guesses?",
        "A boolean mask goes row by row. "
        + ("Transpose first, and transpose back at the end." if sequence_first else "masked_scatter fills in order."),
    )
    exercise = Exercise("17.12", "Other labels for the discriminator", 3, 12, hints, examine)
    return Variant(exercise, text, "def corrupt(masked, labels, sampled):")


MAKERS = {"17.11": weighing, "17.12": corrupting}
