"""Exercises of chapter 6: the masked language model. That on spans is in chapter_06_spans.py."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.heads import IGNORED

MASK, FIRST_WORD, VOCAB = 4, 5, 50  # the ids of the small vocabularies that the checks use


@exercise(
    "6.1",
    "How many masks?",
    difficulty=1,
    minutes=2,
    kind="value",
    hints=("How many of the 60 are chosen?", "Of those that are chosen, which share becomes [MASK]?"),
)
def how_many_masks(case: Case) -> None:
    """0.15 of 60, and 0.8 of those."""
    case.predicted(
        7.2,
        otherwise="First the number of chosen tokens, 15 % of 60. Then the share of those that becomes [MASK].",
        mistakes=[
            (9, "9 tokens are chosen and get a label. Not all of those are hidden: what happens to the others?"),
            (48, "80 % of all tokens: hardly a text would be left. 80 % of what?"),
            (8.1, "That is 90 % of the chosen: [MASK] and random words together. Only [MASK] is asked for."),
            (0.9, "That is a tenth of the chosen: the random words. How many become [MASK]?"),
            (7, "Close, but the fate of each token is drawn on its own: the average need not be a whole number."),
        ],
    )


def share(where: Tensor, among: Tensor) -> float:
    """Which share of `among` is in `where`."""
    return float((where & among).sum() / among.sum())


def check_labels(case: Case, labels: Tensor, seen: Tensor, ids: Tensor, chosen: Tensor) -> None:
    """The right id where a token was chosen, -100 elsewhere."""
    expected = ids.masked_fill(~chosen, IGNORED)
    hidden = chosen & (seen == MASK)
    case.close(
        "labels",
        labels,
        expected,
        f"A label is the token that stood there before, wherever a token was chosen, and {IGNORED} elsewhere.",
        mistakes={
            "Every token has a label now, and so the model is mostly asked for words that it can see. "
            "Who has to guess?": ids,
            "Those are the tokens that the model sees, so it is told to answer [MASK] at each [MASK]. "
            "Take the labels from the text as it was.": seen.masked_fill(~chosen, IGNORED),
            "Only hidden tokens have a label. The replaced and the kept ones were chosen too, and the model has to "
            "guess there as well: that is what they are for.": ids.masked_fill(~hidden, IGNORED),
            "The replaced and hidden tokens have a label, the kept ones have none. A kept token is a question too.": (
                ids.masked_fill(~chosen | (seen == ids), IGNORED)
            ),
            "The labels stand where nothing was chosen. Is the mask the wrong way round?": (
                ids.masked_fill(chosen, IGNORED)
            ),
            f"Where nothing is asked you put 0, and 0 is the id of [PAD]. cross_entropy leaves out {IGNORED}.": (
                ids.masked_fill(~chosen, 0)
            ),
        },
    )


def check_fates(case: Case, seen: Tensor, ids: Tensor, chosen: Tensor) -> None:
    """80 % [MASK], 10 % random, 10 % kept, within 2 points; random words differ."""
    masks, kept = share(seen == MASK, chosen), share(seen == ids, chosen)
    others = 1 - masks - kept
    came = f"But of the chosen tokens {masks:.0%} became [MASK], {others:.0%} another word, and {kept:.0%} stayed"
    wanted = "80 %, 10 % and 10 % are expected."
    if abs(masks - 0.8) > 0.02 or abs(others - 0.1) > 0.02:
        if abs(masks - 0.8) <= 0.02 and others < 0.05:
            line = "The 10 % seem to be 10 % of the 20 % that are left: 10 % of all chosen are half of those."
        elif masks > 0.97:
            line = "All are hidden. Where are the random words and the kept ones?"
        elif kept < 0.03:
            line = "None are left as they are."
        elif abs(masks - 0.72) < 0.02:
            line = (
                "Some [MASK]s were written over by random words. Draw one number for each token that decides its fate."
            )
        else:
            line = "Draw one number between 0 and 1 for each token, and cut the line from 0 to 1 into 0.8, 0.1 and 0.1."
        case.fail(f"{came}; {wanted}", line)
    random_words = seen[chosen & (seen != MASK) & (seen != ids)]
    if len(random_words.unique()) == 1:
        case.fail("But all replaced tokens became the same word. Draw a random word for each of them.")
    if len(random_words.unique()) < VOCAB - 6 or int(random_words.max()) != VOCAB - 1:
        case.fail(
            f"But the random words have ids from {int(random_words.min())} to {int(random_words.max())}.",
            f"They should come from the whole vocabulary, {VOCAB} words here.",
        )


@exercise(
    "6.2",
    "Eighty, ten, ten",
    difficulty=2,
    minutes=10,
    hints=(
        "Draw one number per token, fate = torch.rand(input_ids.shape). Which have fate < 0.8, which fate >= 0.9?",
        "labels = input_ids.masked_fill(~chosen, -100). Then torch.where(chosen & (fate < 0.8), mask_token_id, "
        "input_ids) hides, and a second torch.where puts random ids, drawn with torch.randint.",
    ),
)
def corrupt(case: Case) -> None:
    """Labels first, then what must not change, then the shares."""
    ids = case.randint(FIRST_WORD, VOCAB, (400, 100))
    chosen = torch.rand(ids.shape, generator=case.generator) < 0.4
    result = case.call(ids, chosen, MASK, VOCAB, tried="400 texts of 100 tokens, 40 % of them chosen")
    seen, labels = case.parts(result, "seen", "labels")
    case.same_shape("seen", seen, ids)
    case.same_shape("labels", labels, ids)
    if not torch.equal(seen[~chosen], ids[~chosen]):
        changed = share(seen != ids, ~chosen)
        case.fail(
            f"But {changed:.0%} of the tokens that were not chosen have changed.",
            "Only the chosen ones may be hidden or replaced: does each condition say `chosen & …`?",
        )
    check_labels(case, labels, seen, ids, chosen)
    check_fates(case, seen, ids, chosen)
    again, _ = case.call(ids, chosen, MASK, VOCAB, tried="the same texts again")
    if torch.equal(again, seen):
        case.almost(
            "The shares are right, but the second call gave exactly the first result.",
            "Each time a text is seen it should be masked anew: is there a fixed seed, or a fixed order?",
        )
    one, none = torch.full((1, 3), FIRST_WORD), torch.zeros(1, 3, dtype=torch.bool)
    seen, labels = case.call(one, none, MASK, VOCAB, tried="a text of which nothing is chosen")
    case.equal("seen", seen, one, "Nothing was chosen, so nothing should change.")
    case.equal("labels", labels, [[IGNORED] * 3], "Nothing was chosen, so there is no label.")


def mean_over_texts(logits: Tensor, labels: Tensor) -> Tensor:
    """The mistake of averaging each text first."""
    return torch.stack([cross_entropy(row, right) for row, right in zip(logits, labels, strict=True)]).mean()


@exercise(
    "6.3",
    "The loss, without cross_entropy",
    difficulty=2,
    minutes=8,
    hints=(
        "Which tokens count? asked = labels != -100 gives booleans [B, T]; logits[asked] is [N, V], labels[asked] [N].",
        "log_softmax over V turns scores into log-probabilities; pick the right one of each row with "
        "[range(N), right], change the sign, take the mean.",
    ),
)
def mlm_loss(case: Case) -> None:
    """Against cross_entropy, with every other mean that people take."""
    logits = 2 * case.randn(3, 6, VOCAB)
    labels = torch.full((3, 6), IGNORED)
    for row, column in ((0, 1), (0, 2), (0, 4), (1, 3), (2, 0), (2, 5)):
        labels[row, column] = int(case.randint(0, VOCAB, (1,)))
    result = case.call(logits, labels, tried="3 texts of 6 tokens with 3, 1 and 2 labels")
    asked = labels != IGNORED
    expected = cross_entropy(logits[asked], labels[asked])
    log_p = logits.log_softmax(-1)[asked][torch.arange(int(asked.sum())), labels[asked]]
    case.is_a("the loss", result, (int, float, Tensor), "one number, as a tensor")
    case.close(
        "the loss",
        result,
        expected,
        "It should be the mean, over the tokens with a label, of minus the log-probability of the right word.",
        mistakes={
            "You divided by all tokens. Those without a label are no question, so they do not count in the mean.": (
                -log_p.sum() / labels.numel()
            ),
            "That is the sum over the labels. The loss is their mean.": -log_p.sum(),
            "You divided by the number of texts. Divide by the number of labels.": -log_p.sum() / len(labels),
            "You took a mean for each text, and then the mean of those. So the only label of the second text weighs "
            "as much as the three of the first. Each label should count alike.": mean_over_texts(logits, labels),
            "The sign: log-probabilities are negative, and a loss is positive.": log_p.mean(),
            "You took the logarithm of the mean probability. It is the mean of the logarithms.": -log_p.exp()
            .mean()
            .log(),
            "Those are probabilities. The loss is minus their logarithm.": log_p.exp().mean(),
            "These are raw scores. Softmax (over the vocabulary) makes probabilities of them first.": (
                -logits[asked][torch.arange(6), labels[asked]].mean()
            ),
            "The softmax runs over the tokens. Each token's probabilities over the *words* should sum to 1.": (
                -logits.log_softmax(1)[asked][torch.arange(6), labels[asked]].mean()
            ),
        },
    )
    sure = torch.zeros(1, 2, VOCAB)
    sure[0, 0, 7] = 300.0
    result = case.call(sure, torch.tensor([[8, IGNORED]]), tried="a model that is very sure, and wrong")
    if not torch.isfinite(torch.as_tensor(result)):
        case.almost(
            f"The loss is right for ordinary scores, but here it became {float(result)}.",
            "The probability is so small that it is rounded to 0 before the logarithm. "
            "log_softmax takes both steps at once.",
        )
    case.close(
        "the loss",
        result,
        torch.tensor(300.0),
        "The scores differ by 300: so does the log-probability.",
        tolerance=1e-3,
    )
    case.gradient_flows(logits, names=("logits",), labels=labels, tried="the same texts")


@exercise(
    "6.5",
    "The batch, repaired",
    difficulty=3,
    minutes=6,
    hints=(
        "Print the labels of one text beside what the model sees. At how many tokens is it asked for what it can see?",
        "One line makes the right labels, and the last line returns others.",
    ),
)
def repaired_batch(case: Case) -> None:
    """Labels where a word was chosen only, and nothing else changed."""
    ids = case.randint(FIRST_WORD, VOCAB, (2, 8))
    ids[:, 0], ids[:, -1] = 2, 3
    special = ids < FIRST_WORD
    chosen = torch.zeros(2, 8, dtype=torch.bool)
    chosen[0, 2:4] = chosen[1, 5] = True
    result = case.call(ids, chosen, special, tried="2 texts of 8 tokens, of which 2 and 1 are chosen")
    if not hasattr(result, "keys") or set(result.keys()) != {"input_ids", "labels"}:
        case.fail('But it should return what the broken one returned: a dict with "input_ids" and "labels".')
    seen, labels = result["input_ids"], result["labels"]
    case.same_shape("input_ids", seen, ids)
    case.same_shape("labels", labels, ids)
    hidden = ids.masked_fill(chosen, MASK)
    case.close(
        "input_ids",
        seen,
        hidden,
        "The chosen tokens should be [MASK], all others as they were.",
        mistakes={"Nothing is hidden now. The inputs were right before: leave them.": ids},
    )
    case.close(
        "labels",
        labels,
        ids.masked_fill(~chosen, IGNORED),
        f"A label is the token that stood there before, where one was chosen, and {IGNORED} everywhere else.",
        mistakes={
            "That is what the broken one returns: the model is asked for every word, and sees nearly all of them.": (
                ids.masked_fill(special, IGNORED)
            ),
            "Even [CLS] and [SEP] have a label now.": ids,
            "Those labels say [MASK]: they were taken from what the model sees, after the words were hidden.": (
                hidden.masked_fill(~chosen, IGNORED)
            ),
            "The labels stand where the words were *not* chosen: the wrong way round.": ids.masked_fill(
                chosen | special, IGNORED
            ),
            f"Where nothing is asked you put 0, the id of [PAD]. {IGNORED} is what cross_entropy leaves out.": (
                ids.masked_fill(~chosen, 0)
            ),
        },
    )
    case.close_with("Now the loss asks for hidden words only.")
