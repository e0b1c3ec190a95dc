"""Variants of chapter 16: parameters where half a layer is shared, and a distillation loss by another divergence."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Row, compare
from bertedu.course.variant import COPIED, Draws, Variant

SIZES = ((30_000, 768, 128, 12, 3), (1000, 64, 16, 6, 1), (500, 32, 32, 4, 4), (8192, 128, 64, 8, 2))


def parameters(
    V: int,
    D: int,
    E: int,
    L: int,
    G: int,
    *,
    known: int,  # positions
    wider: int,  # the inner size of the feed-forward network is wider · D
    shared: tuple[str, ...],  # which halves of a layer a group shares
    biases: bool = True,
    norms: int = 1,  # LayerNorms of each half
    norm_of_words: bool = True,
    mapping: str = "with bias",  # "with bias", "without bias", "none"
) -> int:
    """How many parameters an encoder has whose layers share the drawn halves in groups."""
    inner, bias = wider * D, int(biases)
    halves = {
        "attention": 4 * (D * D + bias * D) + norms * 2 * D,
        "feed-forward network": 2 * D * inner + bias * (inner + D) + norms * 2 * D,
    }
    layers = sum((G if half in shared else L) * size for half, size in halves.items())
    mapped = {"with bias": E * D + D, "without bias": E * D, "none": 0}[mapping]
    return (V + known + 2) * E + 2 * E * norm_of_words + mapped + layers


def count_mistakes(wrong: Callable[..., int], half: str, other: str, known: int, wider: int) -> dict[str, Callable]:
    """What is said to a known mistake, and a program that makes it."""
    return {
        COPIED.format(number="16.1"): partial(wrong, known=512, wider=4, shared=(half, other)),
        f"Only the {half} is shared. Each of the L layers has a {other} of its own.": partial(
            wrong, shared=(half, other)
        ),
        f"Nothing is shared in your count. A group of layers has one {half}.": partial(wrong, shared=()),
        f"You share the {other}. The {half} is shared.": partial(wrong, shared=(other,)),
        f"You count 512 positions. There are {known} here.": partial(wrong, known=512),
        f"Your inner size is 4·D. It is {wider}·D here.": partial(wrong, wider=4),
        "The biases of the layers are missing.": partial(wrong, biases=False),
        "The LayerNorms of the layers are missing: two numbers for each of the D entries.": partial(wrong, norms=0),
        "You count two LayerNorms for each half of a layer. Each has one.": partial(wrong, norms=2),
        "The LayerNorm of the embeddings is missing.": partial(wrong, norm_of_words=False),
        "The mapping from E to D is missing.": partial(wrong, mapping="none"),
        "The mapping from E to D has a bias.": partial(wrong, mapping="without bias"),
        "Your embeddings are of size D. They are of size E, and a mapping leads to D.": lambda V, D, E, L, G: (
            wrong(V, D, D, L, G, mapping="none") + E * D + D
        ),
    }


def counting(draws: Draws) -> Variant:
    """Parameters where groups share only one half of a layer."""
    known, wider = draws.pick((128, 256, 1024)), draws.pick((2, 3))
    half, other = draws.pick((("attention", "feed-forward network"), ("feed-forward network", "attention")))
    wrong = partial(parameters, known=known, wider=wider, shared=(half,))

    def examine(case: Case) -> None:
        rows: list[Row] = [("V, D, E, L, G = " + ", ".join(map(str, sizes)), *sizes) for sizes in SIZES]
        advice = "Count embeddings, mapping, attention and feed-forward network one by one, and compare with a pencil."
        mistakes = count_mistakes(wrong, half, other, known, wider)
        compare(case, rows, wrong, mistakes, advice)

    text = (
        "An encoder shares only a part of its layers. Write `albert_parameters(V, D, E, L, G)`, its number of "
        f"parameters. Its embeddings (V words, **{known}** positions, 2 segments, a LayerNorm) are of size E, and a "
        "linear layer with a bias maps E to D. Each of the L layers consists of attention (four linear layers from D "
        f"to D) and a feed-forward network (from D to **{wider}·D** and back), all with biases. A LayerNorm belongs to "
        f"each of these two halves. The layers form G groups: all layers of a group share the **{half}** and its "
        f"LayerNorm, but each layer has the {other} and its LayerNorm for itself. There is no pooler."
    )
    hints = (
        "How many sets of weights of attention are there, and how many of the feed-forward network? L or G?",
        "Attention: 4 · (D² + D), and 2 · D for its LayerNorm. Count the other half in the same way.",
    )
    exercise = Exercise("16.11", "Sharing one half", 2, 10, hints, examine)
    return Variant(exercise, text, "def albert_parameters(V, D, E, L, G):")


def forward(s: Tensor, t: Tensor) -> Tensor:
    """KL(teacher ‖ student) of log-probabilities, [..., V] to [...]."""
    return (t.exp() * (t - s)).sum(-1)


def reverse(s: Tensor, t: Tensor) -> Tensor:
    """KL(student ‖ teacher)."""
    return forward(t, s)


def jensen_shannon(s: Tensor, t: Tensor) -> Tensor:
    """The mean of both distributions' KL to their mean."""
    middle = ((s.exp() + t.exp()) / 2).log()
    return (forward(middle, s) + forward(middle, t)) / 2


DIVERGENCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "KL(teacher ‖ student)": forward,
    "KL(student ‖ teacher)": reverse,
    "Jensen-Shannon divergence": jensen_shannon,
}
FORMULAS = {
    "KL(teacher ‖ student)": r"\sum_v p_v \ln \frac{p_v}{q_v}",
    "KL(student ‖ teacher)": r"\sum_v q_v \ln \frac{q_v}{p_v}",
    "Jensen-Shannon divergence": r"\frac12 \sum_v p_v \ln \frac{p_v}{m_v} + \frac12 \sum_v q_v \ln \frac{q_v}{m_v},"
    r"\quad m = \frac{p + q}{2}",
}
AVERAGES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "the mean over the real tokens of each text, and then the mean over the texts": lambda each, real: (
        (each * real).sum(1) / real.sum(1)
    ).mean(),
    "the sum over the real tokens of each text, and then the mean over the texts": lambda each, real: (
        (each * real).sum(1).mean()
    ),
}
OTHER_AVERAGES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "That is the mean over all real tokens of the batch at once, as in the chapter.": lambda each, real: each[
        real
    ].mean(),
    "Padding counts in your loss. Leave it out.": lambda each, real: each.mean(),
    "Padding counts in your sum over the tokens. Leave it out.": lambda each, real: each.sum(1).mean(),
    "Padding is left out of the sum, but you divide by all tokens.": lambda each, real: (each * real).mean(),
    "That is the sum over the texts. Take their mean at the end.": lambda each, real: (each * real).sum(),
}


def distillation(
    student: Tensor,
    teacher: Tensor,
    mask: Tensor,
    T: float,
    *,
    divergence: Callable[[Tensor, Tensor], Tensor],
    average: Callable[[Tensor, Tensor], Tensor],
    real: int,  # the number that the mask has for real tokens
    power: int = 2,  # of T, in front of the loss
    of_student: bool = True,  # whether the temperature is on this side
    of_teacher: bool = True,
    dim: int = -1,
) -> Tensor:
    """A soft loss of logits [B, tokens, V] at the temperature T, as one number."""
    s = (student / (T if of_student else 1.0)).log_softmax(dim)
    t = (teacher / (T if of_teacher else 1.0)).log_softmax(dim)
    return T**power * average(divergence(s, t), mask == real)


def distilling(draws: Draws) -> Variant:
    """A soft loss by another divergence, another mean and another mask."""
    name, averaged = draws.pick(tuple(DIVERGENCES)), draws.pick(tuple(AVERAGES))
    real = draws.pick((0, 1))
    wrong = partial(distillation, divergence=DIVERGENCES[name], average=AVERAGES[averaged], real=real)
    mean = next(iter(OTHER_AVERAGES.values()))
    mistakes: dict[str, Callable] = {
        COPIED.format(number="16.3"): partial(distillation, divergence=forward, average=mean, real=1, power=0),
        "The factor T² is missing.": partial(wrong, power=0),
        "You multiplied by T. The factor is T².": partial(wrong, power=1),
        "The temperature is missing: divide both logits by T.": partial(wrong, of_student=False, of_teacher=False),
        "Temperature and factor are missing.": partial(wrong, of_student=False, of_teacher=False, power=0),
        "Only the student is divided by T. Both are.": partial(wrong, of_teacher=False),
        "Only the teacher is divided by T. Both are.": partial(wrong, of_student=False),
        f"You took padding for the real tokens: the mask is {real} for real tokens.": partial(wrong, real=1 - real),
        "The softmax runs over the tokens. It belongs over the V words, the last axis.": partial(wrong, dim=1),
    }
    mistakes |= {sentence: partial(wrong, average=average) for sentence, average in OTHER_AVERAGES.items()}
    mistakes |= {
        f"You take {other}. Take {averaged}.": partial(wrong, average=average) for other, average in AVERAGES.items()
    }
    mistakes |= {
        f"That is {other}. Compute {name}.": partial(wrong, divergence=one) for other, one in DIVERGENCES.items()
    }

    def examine(case: Case) -> None:
        case.causes['"dim"'] = "Softmax needs an axis: along which one are the V scores of a token?"
        rows: list[Row] = []
        for lengths, width, words, temperature in (((4, 2), 5, 7, 2.0), ((1, 4, 3), 5, 5, 3.0), ((4, 4), 4, 6, 1.5)):
            size = (len(lengths), width, words)
            tokens = torch.arange(width) < torch.tensor(lengths).unsqueeze(1)
            mask = (tokens if real else ~tokens).long()
            tried = f"texts of {' and '.join(map(str, lengths))} tokens with T = {temperature:g}"
            rows.append((tried, 2 * case.randn(*size), 2 * case.randn(*size), mask, temperature))
        advice = "Compute the divergence of one token by hand first: both sides at T, and a sum over the words."
        compare(case, rows, wrong, mistakes, advice, names=("the loss",))
        tried, student, teacher, mask, temperature = rows[0]
        case.gradient_flows(student, names=("student",), tried=tried, teacher=teacher, mask=mask, T=temperature)

    text = (
        "Write `soft_loss(student, teacher, mask, T)` for logits `[B, tokens, V]`, a mask `[B, tokens]` that is "
        f"**{real} for real tokens and {1 - real} for padding**, and the temperature T. With p the teacher's and q the "
        f"student's probabilities, both at temperature T, the loss of a token is **{name}**,\n\n"
        f"$${FORMULAS[name]}.$$\n\n"
        f"Take **{averaged}**, and multiply the result by **T²**. Each text has a real token. Return one number, a "
        "tensor through which the student gets a gradient."
    )
    hints = (
        "log_softmax of both sides first, then the divergence of each token, [B, tokens]. The mean comes last.",
        "each * (mask of the real tokens), summed over axis 1. What is each text divided by, if anything?",
    )
    exercise = Exercise("16.12", "Distillation by another loss", 3, 15, hints, examine)
    return Variant(exercise, text, "def soft_loss(student, teacher, mask, T):")


MAKERS = {"16.11": counting, "16.12": distilling}
