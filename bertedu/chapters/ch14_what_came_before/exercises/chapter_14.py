"""Exercises of chapter 14: pairs and negatives, the pieces of a word, two language models."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, logsigmoid

from bertedu.before.fasttext import pieces
from bertedu.course.case import Case
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
        "torch.nn.functional.logsigmoid of both, the negatives' with a minus inside. Sum over K, then the mean over P.",
    ),
)
def skipgram_loss(case: Case) -> None:
    case.causes = {
        "must match the size of tensor": "center [P, D] needs an axis for the K negatives: center[:, None].",
    }
    for pairs, count, size in ((2, 3, 4), (6, 3, 8), (5, 5, 3)):
        center, context = case.randn(pairs, size), case.randn(pairs, size)
        negatives = case.randn(pairs, count, size)
        got = case.call(center, context, negatives, tried=f"{pairs} pairs, K = {count}, D = {size}")
        case.same_shape("the loss", got, [], "One number for all pairs together: a mean over the P pairs.")
        positive = (center * context).sum(dim=-1)
        negative = torch.einsum("pd,pkd->pk", center, negatives)
        right = sampling_loss(center, context, negatives)
        log_softmax = torch.cat([positive[:, None], negative], dim=1).log_softmax(dim=-1)[:, 0]
        true, drawn = logsigmoid(positive), logsigmoid(-negative)
        cosines = (cosine_similarity(center, context), cosine_similarity(center[:, None], negatives, dim=-1))
        of_context = torch.einsum("pd,pkd->pk", context, negatives)
        every_pair = logsigmoid(center @ context.T)  # [P, P]
        every_negative = logsigmoid(-(center @ negatives.mT)).sum(dim=-1)  # [P, P]
        mistakes = {
            "A loss is to be made small: the minus sign is missing.": -right,
            "The negatives are pushed towards the center here, like the true context. Which sign belongs inside "
            "their sigmoid?": -(true + logsigmoid(negative).sum(dim=-1)).mean(),
            "This is the mean over the K negatives. The loss adds them up.": -(true + drawn.mean(dim=-1)).mean(),
            "This is the mean over the K + 1 terms of a pair. The loss adds them up.": right / (count + 1),
            "This is the sum over the pairs. The loss is their mean.": pairs * right,
            "Every center is compared with the contexts of all pairs here (a matrix product). Pair by pair is asked "
            "for.": -(every_pair.mean(dim=-1) + drawn.sum(dim=-1)).mean(),
            "Every center is compared with the negatives of all pairs here (by broadcasting or a matrix product). Each "
            "pair has negatives of its own.": -(true + every_negative).mean(),
            "The negatives are compared with the context here. They belong to the center.": (
                -(true + logsigmoid(-of_context).sum(dim=-1)).mean()
            ),
            "This uses cosines. The loss has plain dot products: vectors may be long.": (
                -(logsigmoid(cosines[0]) + logsigmoid(-cosines[1]).sum(dim=-1)).mean()
            ),
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
    limited = (
        "Both terms are nearly 288. Is there a small number inside your logarithm, or a limit? It cuts large losses "
    )
    case.close(
        "the loss", got, torch.tensor(576.0), limited + "off, and their gradients too. logsigmoid needs neither."
    )
    case.gradient_flows(center, context, negatives, names=("center", "context", "negatives"), tried="5 pairs")
    case.close_with("Each step makes one dot product larger and K smaller: there is no layer in this model.")


@exercise(
    "14.3",
    "The pieces of a word",
    difficulty=2,
    minutes=8,
    without=("pieces",),
    hints=(
        "Mark the word first: <cow> has five characters. Then two loops: over lengths, and over where a piece begins.",
        "A run of n characters can begin at len(marked) - n + 1 positions. range ends before its second number.",
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
            (
                sorted([*wanted, word]),
                "The word itself is no run of the marked word. fastText has a vector for it besides its pieces.",
            ),
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
            f"the list of {word!r}", got, wanted, "Write down all runs of <cow>: there are 6.", mistakes=mistakes
        )
    case.close_with("horse and horses have 10 pieces in common: that is how an unseen plural gets a vector.")


def from_both_sides(log_left: Tensor, log_right: Tensor, log_prior: Tensor) -> Tensor:
    """log p(w | both sides), if the sides are independent given w: [B, V], [B, V] and [V], all log p."""
    return (log_left + log_right - log_prior).log_softmax(dim=-1)


@exercise(
    "14.4",
    "Two sides, one gap",
    difficulty=3,
    minutes=12,
    hints=(
        "Bayes: p(w | l, r) is proportional to p(l | w) · p(r | w) · p(w). And p(l | w) is proportional to "
        "p(w | l) / p(w).",
        "In logarithms a product is a sum, a quotient a difference. Then make the probabilities of each gap sum to 1.",
    ),
)
def two_sides(case: Case) -> None:
    for batch, vocabulary in ((1, 4), (3, 7)):
        left, right = (case.randn(batch, vocabulary).log_softmax(dim=-1) for _ in range(2))
        frequency = case.randn(vocabulary).log_softmax(dim=-1)
        got = case.call(
            left, right, frequency, tried=f"{batch} {'gap' if batch == 1 else 'gaps'} and {vocabulary} words"
        )
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
            "p(w) comes in as a logarithm already: it needs no second one.": (
                (left + right - frequency.log()).log_softmax(dim=-1)
            ),
            "All gaps together sum to 1 here. Each gap has its own distribution over the words.": (
                plain - plain.flatten().logsumexp(dim=0)
            ),
            "These are logarithms: where probabilities are multiplied, they are added.": (
                (left * right / frequency).log_softmax(dim=-1)
            ),
        }
        case.close("the log probabilities", got, wanted, "Write Bayes' rule down first.", mistakes=mistakes)
    case.close_with("It is right if the two sides know nothing of each other. BERT needs no such assumption.")
