"""Exercises of chapter 14: pairs and negatives, the pieces of a word, two language models, and a causal mask."""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from bertedu.before.fasttext import pieces
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


@exercise(
    "14.1",
    "Count the pairs",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "Write the six words in a row. How many neighbors at distance 1 or 2 has the first word? And the third?",
        "Two words at distance 1 or 2 give two pairs: each of them is the center once.",
    ),
)
def count_pairs(case: Case) -> None:
    case.predicted(
        18,
        otherwise="Go through the six centers, one by one. Which words are at most two positions away from it?",
        mistakes=[
            (9, "You counted each two words once. Each of them is the center once, so it gives two pairs."),
            (24, "Six centers with four neighbors each: the words at both ends of the sentence have fewer."),
            (10, "That is a window of 1. Words at distance 2 count, too."),
            (30, "Those are all pairs of the sentence. Only words at most two positions away count."),
            (12, "Each center has words on both sides."),
            (36, "A word is no context of itself, and the ends of the sentence have fewer neighbors."),
        ],
    )


def sampling_loss(center: Tensor, context: Tensor, negatives: Tensor) -> Tensor:
    """Skip-gram with negative sampling: center, context [P, D], negatives [P, K, D] to a number.

    Mikolov, Sutskever et al. 2013, equation 4, as a loss.
    """
    positive = (center * context).sum(dim=-1)  # [P]
    negative = torch.einsum("pd,pkd->pk", center, negatives)
    return -(logsigmoid(positive) + logsigmoid(-negative).sum(dim=-1)).mean()


@exercise(
    "14.2",
    "The loss of skip-gram",
    difficulty=2,
    minutes=12,
    hints=(
        "Two kinds of dot products: [P] with the true context, and [P, K] with the negatives. Which sign has each "
        "inside the sigmoid?",
        "-(logsigmoid(positive) + logsigmoid(-negative).sum(dim=-1)).mean(), with torch.nn.functional.logsigmoid.",
    ),
)
def skipgram_loss(case: Case) -> None:
    for pairs, count, size in ((1, 1, 4), (6, 3, 8), (5, 5, 3)):
        center, context = case.randn(pairs, size), case.randn(pairs, size)
        negatives = case.randn(pairs, count, size)
        got = case.call(center, context, negatives, tried=f"{pairs} pairs with {count} negatives each, D = {size}")
        case.same_shape("the loss", got, [], "One number for all pairs together: a mean over the P pairs.")
        positive = (center * context).sum(dim=-1)
        negative = torch.einsum("pd,pkd->pk", center, negatives)
        right = sampling_loss(center, context, negatives)
        log_softmax = torch.cat([positive[:, None], negative], dim=1).log_softmax(dim=-1)[:, 0]
        true, drawn = logsigmoid(positive), logsigmoid(-negative)
        mistakes = {
            "A loss is to be made small: the minus sign is missing.": -right,
            "The negatives are pushed towards the center here, like the true context. Which sign belongs inside "
            "their sigmoid?": -(true + logsigmoid(negative).sum(dim=-1)).mean(),
            "This is the mean over the K negatives. The loss adds them up.": -(true + drawn.mean(dim=-1)).mean(),
            "This is the sum over the pairs. The loss is their mean.": pairs * right,
            "This is a softmax over the context and the negatives. Negative sampling asks K + 1 separate yes-or-no "
            "questions.": -log_softmax.mean(),
            "The negatives do not count here. Without them, all vectors may become equal.": -true.mean(),
            "The true context does not count here.": -drawn.sum(dim=-1).mean(),
            "The logarithm is missing: these are the probabilities themselves.": (
                -(positive.sigmoid() + (-negative).sigmoid().sum(dim=-1)).mean()
            ),
        }
        case.close("the loss", got, right, "Compute one pair with a pencil: K + 1 terms.", mistakes=mistakes)
    far = torch.full((1, 2), 12.0)
    got = case.call(far, -far, far[:, None], tried="a pair whose dot products are -288 and 288")
    if not bool(torch.isfinite(got).all()):
        case.almost(
            "The loss is not finite here: sigmoid(-288) is 0 in float32, and log(0) is minus infinity.",
            "logsigmoid computes both steps at once, without this.",
        )
    case.close("the loss", got, torch.tensor(576.0), "Both terms are nearly 288.")
    case.gradient_flows(center, context, negatives, names=("center", "context", "negatives"), tried="5 pairs")
    case.close_with("Each step makes one dot product larger and K smaller: there is no layer in this model.")


@exercise(
    "14.3",
    "The pieces of a word",
    difficulty=2,
    minutes=8,
    hints=(
        "Mark the word first: <cow> has five characters. Then two loops: over lengths, and over where a piece begins.",
        "for length in range(3, min(6, len(marked)) + 1), and for start in range(len(marked) - length + 1).",
    ),
)
def pieces_of_a_word(case: Case) -> None:
    for word in ("cow", "horses", "a", "banana", "xylophones"):
        got = case.call(word, tried=repr(word))
        case.is_a("the result", got, list | tuple | set | frozenset, "a list of strings")
        got = sorted(map(str, got))
        marked, wanted = f"<{word}>", sorted(pieces(word))

        def runs(text: str, shortest: int, longest: int) -> list[str]:
            lengths = range(shortest, min(longest, len(text)) + 1)
            return sorted(text[i : i + n] for n in lengths for i in range(len(text) - n + 1))

        mistakes = [
            (runs(word, 3, 6), "The marks < and > are missing: they tell a prefix from the middle of a word."),
            (runs(marked, 3, 5), "Pieces of 6 characters are missing: range ends before its second number."),
            (runs(marked, 2, 6), "Pieces of 2 characters are too short. The shortest have 3."),
            (runs(marked, 3, len(marked)), "Pieces of more than 6 characters are too long."),
            (runs(marked, 3, 3), "These are the pieces of 3 characters. Those of 4, 5 and 6 belong to them."),
            (
                sorted({piece for piece in wanted if len(set(wanted)) < len(wanted)}),
                "A piece that occurs twice in the word stands twice in the list.",
            ),
            (
                sorted(t[:n] for t in (marked[i:] for i in range(len(marked))) for n in range(3, 7) if t),
                "Near the end of the word there are shorter runs among yours: a slice past the end gives what is left.",
            ),
            (
                [p for p in wanted if not p.endswith(">")],
                "The pieces at the end of the word are missing: how far may a piece begin?",
            ),
        ]
        case.equal(
            f"the pieces of {word!r}", got, wanted, "Write down all runs of <cow>: there are 6.", mistakes=mistakes
        )
    case.close_with("horse and horses have 10 pieces in common: that is how an unseen plural gets a vector.")


def from_both_sides(left: Tensor, right: Tensor, frequency: Tensor) -> Tensor:
    """log p(w | both sides), if the sides are independent given w: left, right [B, V], frequency [V], all log p."""
    return (left + right - frequency).log_softmax(dim=-1)


@exercise(
    "14.4",
    "Two sides, one gap",
    difficulty=3,
    minutes=12,
    hints=(
        "Bayes: p(w | l, r) is proportional to p(l | w) · p(r | w) · p(w). And p(l | w) is proportional to "
        "p(w | l) / p(w).",
        "In logarithms: left + right - frequency. Then make the probabilities sum to 1 over the vocabulary.",
    ),
)
def two_sides(case: Case) -> None:
    for batch, vocabulary in ((1, 4), (3, 7)):
        left, right = (case.randn(batch, vocabulary).log_softmax(dim=-1) for _ in range(2))
        frequency = case.randn(vocabulary).log_softmax(dim=-1)
        got = case.call(left, right, frequency, tried=f"{batch} gaps and {vocabulary} words")
        case.same_shape("the result", got, [batch, vocabulary])
        wanted = from_both_sides(left, right, frequency)
        plain = left + right - frequency
        mistakes = {
            "The probabilities do not sum to 1 yet: subtract the logarithm of their sum, over the vocabulary.": plain,
            "A frequent word is counted twice here: once on each side. Divide by p(w) once.": (
                (left + right).log_softmax(dim=-1)
            ),
            "p(w) should be divided out, and here it is multiplied once more.": (
                (left + right + frequency).log_softmax(dim=-1)
            ),
            "This is the mean of both sides. If both are fairly sure, together they should be surer.": (
                ((left + right) / 2).log_softmax(dim=-1)
            ),
            "This adds the probabilities. The two sides are two observations: multiply.": (
                torch.logaddexp(left, right) - torch.tensor(2.0).log()
            ),
            "These are probabilities, and their logarithms are asked for.": wanted.exp(),
            "This sums to 1 over the batch. Each gap has its own distribution over the words.": (
                plain.log_softmax(dim=0)
            ),
            "p(w) is divided out twice here.": (left + right - 2 * frequency).log_softmax(dim=-1),
        }
        case.close("the log probabilities", got, wanted, "Write Bayes' rule down first.", mistakes=mistakes)
    case.close_with("It is right if the two sides know nothing of each other. BERT needs no such assumption.")


@exercise(
    "14.5",
    "Repair the mask",
    difficulty=3,
    minutes=12,
    hints=(
        "Entry [b, 0, i, j] belongs to query i and key j. For which j must query i get a very negative number?",
        "torch.ones(T, T).triu(diagonal=1).bool() marks j > i. A key is hidden if it is later or if it is padding.",
    ),
)
def repair_the_mask(case: Case) -> None:
    for lengths, left in (([4], False), ([5, 3], False), ([1], False), ([2, 6, 6], False), ([5, 3], True)):
        longest = max(lengths)
        mask = (torch.arange(longest) < torch.tensor(lengths)[:, None]).long()  # [B, T]
        mask = mask.flip(1) if left else mask
        side = ", padded on the left" if left else ""
        got = case.call(mask, tried=f"texts of {lengths} tokens{side}")
        case.same_shape("the bias", got, [len(lengths), 1, longest, longest], "[B, 1, T, T]: queries, then keys.")
        case.expect(
            got.is_floating_point(),
            f"But the bias has the type {str(got.dtype).removeprefix('torch.')}, and it is added to the scores.",
            "Give 0.0 where a token may attend, and a very negative number where it may not.",
        )
        scores = 3 * case.randn(len(lengths), 1, longest, longest)
        weights = (scores + got).softmax(dim=-1)
        text = mask.bool()[:, None, :, None].expand_as(weights)  # queries that are no padding
        later = torch.ones(longest, longest, dtype=torch.bool).triu(diagonal=1)
        padding = ~mask.bool()[:, None, None, :].expand_as(weights)
        may = text & ~later & ~padding
        case.expect(
            not weights[text].isnan().any(),
            "But some weights are nan: all keys of a query are hidden. The first token must be able to attend to "
            "something: to itself.",
        )
        own = got.softmax(dim=-1).diagonal(dim1=-2, dim2=-1)[text[..., 0]]
        case.expect(
            own.min() > 1e-4,
            "But a token does not attend to itself.",
            "The prediction at a position is for the next token, so the token itself may be seen: diagonal=1.",
        )
        weights = weights.masked_fill(~text, 0.0)
        seen = {"later": float(weights.masked_fill(~later | padding, 0.0).max())}
        seen["padding"] = float(weights.masked_fill(~padding, 0.0).max())
        if seen["later"] > 1e-4:
            back = bool(weights.masked_fill(~later.T, 0.0).max() < 1e-4)
            case.fail(
                f"But a token gives the weight {seen['later']:.2f} to a later token.",
                "It is the other way round: earlier tokens are hidden. Queries are rows, keys are columns."
                if back
                else "Multiplying or adding 1 and 0 hides nothing: softmax gives every finite score a weight."
                if bool((got >= 0).all()) and bool((got == 1).any())
                else "Hide all keys on the right of the query: the token that is to be predicted stands there.",
            )
        case.expect(
            seen["padding"] < 1e-4,
            f"But a token gives the weight {seen['padding']:.2f} to padding.",
            "A key is hidden if it is later or if it is padding: both masks belong together.",
        )
        wanted = scores.masked_fill(~may, -1e9).softmax(dim=-1).masked_fill(~text, 0.0)
        case.expect(
            is_close(weights, wanted),
            "But the weights on earlier tokens are not those that the scores alone would give.",
            "Where a token may attend, the bias is 0.",
        )
    case.close_with("This line is all that makes a GPT of BERT's layers.")
