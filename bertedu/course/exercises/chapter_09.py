"""Exercises of chapter 9: looking inside."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.interpretation.heads import attention_layers, without_heads
from bertedu.interpretation.rollout import attention_rollout
from bertedu.model import BertForPreTraining


@exercise(
    "9.1",
    "Three unequal shares",
    difficulty=1,
    minutes=2,
    kind="value",
    hints=("What is log₂ of ½, and of ¼?", "½ · 1 + ¼ · 2 + ¼ · 2."),
)
def three_shares(case: Case) -> None:
    """1.5 bits."""
    case.predicted(
        1.5,
        otherwise="Each share p adds p times the bits it takes to name it: log₂(1/p). Add up the three.",
        mistakes=[
            (2, "2 bits would be four even shares. Here one token gets half, and one gets nothing."),
            (
                math.log2(3),
                "That is three even shares. Here one of them is twice as large, so the head is more decided.",
            ),
            (1.5 * math.log(2), "That is the right sum in nats. Bits want the logarithm to base 2."),
            (
                -1.5,
                "The size is right. Logarithms of shares are negative, and the minus before the sum turns that round.",
            ),
            (5, "You added the bits 1, 2 and 2. Each counts only as often as its share: ½, ¼ and ¼."),
            (1, "1 bit is two even shares. One half is there, but the other half is split once more."),
        ],
        tolerance=5e-3,
    )


def followed(attentions: list[Tensor], keep: float = 0.5, turned: bool = False, summed: bool = False) -> Tensor:
    """Rollout, and the ways in which it goes wrong."""
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        heads = weights.sum(dim=1) if summed else weights.mean(dim=1)
        mixed = (1 - keep) * heads + keep * torch.eye(weights.size(-1))
        shares = shares @ mixed if turned else mixed @ shares
    return shares


@exercise(
    "9.2",
    "Rollout in four lines",
    difficulty=2,
    minutes=8,
    hints=(
        "Begin with the identity: before any layer each token holds its own word. Each layer multiplies.",
        "mixed = 0.5 * weights.mean(dim=1) + 0.5 * torch.eye(T). The new layer stands on the left: mixed @ shares.",
    ),
)
def my_rollout(case: Case) -> None:
    """Three layers whose matrices do not commute, then one layer, then a batch."""
    attentions = [case.randn(2, 3, 5, 5).mul(2).softmax(dim=-1) for _ in range(3)]
    got = case.call(attentions, tried="3 layers of 3 heads on 2 texts of 5 tokens")
    right = attention_rollout(attentions)
    if isinstance(got, Tensor) and got.shape == right.shape:
        got = got[-1]  # the package's form, every layer kept, is as right
    case.same_shape("the result", got, [2, 5, 5], "Heads are averaged, layers multiplied: neither axis is left.")
    means = torch.stack([weights.mean(dim=1) for weights in attentions])
    added = means.mean(dim=0)
    mistakes = {
        "Two things: the residual ½ I is missing, and the new layer has to stand on the left.": followed(
            attentions, keep=0.0, turned=True
        ),
        "That is attention times attention, without the way around it. Where is the residual, ½ I?": followed(
            attentions, keep=0.0
        ),
        "The layers stand in the reverse order. What token i takes now (the new layer) is made of what those tokens "
        "already held: which of the two stands on the left?": followed(attentions, turned=True),
        "That is the mean over the layers. Layers follow one another, so their matrices multiply.": added,
        "That is the mean over the layers, with the residual. Layers follow one another: multiply.": 0.5 * added
        + 0.5 * torch.eye(5),
        "The heads are added up. Their mean is asked for: then every row still sums to 1.": followed(
            attentions, summed=True
        ),
        "A + I is twice ½ A + ½ I in each layer. Halve both, or divide each row by its sum.": 8 * followed(attentions),
        "That is the last layer alone.": 0.5 * means[-1] + 0.5 * torch.eye(5),
        "That is the last layer's attention alone, without residual.": means[-1],
        "The first layer is missing.": followed(attentions[1:]),
        "The last layer is missing.": followed(attentions[:-1]),
    }
    advice = "Each layer is ½ A + ½ I, and the layers multiply. Do the rows of each factor sum to 1?"
    case.close("the result", got, right[-1], advice, mistakes=mistakes)
    one = case.call(attentions[:1], tried="a single layer")
    one = one[-1] if isinstance(one, Tensor) and one.ndim == 4 else one
    case.close("the result", one, right[0], "With one layer it is that layer's ½ A + ½ I.")


def small_model() -> BertForPreTraining:
    """Two layers of three heads, d = 4, with biases that are not zero."""
    sizes = {"vocab_size": 20, "intermediate_size": 16, "max_position_embeddings": 8}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        config = BertConfig.preset("tiny", hidden_size=12, num_hidden_layers=2, num_attention_heads=3, **sizes)
        model = BertForPreTraining(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@torch.no_grad()
def answers(model: nn.Module, gone: list[tuple[int, int]] | None = None) -> Tensor:
    """The logits of two texts, with some heads silenced."""
    ids = torch.tensor([[2, 7, 8, 9, 3], [2, 5, 6, 11, 3]])
    with without_heads(model, gone or []):
        return model(ids).prediction_logits


def head_mistakes(layer: int, head: int) -> dict[str, Tensor]:
    """What a wrong silence would answer, by the sentence that explains it."""
    model = small_model()
    attention = attention_layers(model)[layer]
    own = slice(4 * head, 4 * head + 4)
    found = {}

    def tried(sentence: str, *parts: tuple[Tensor, Any]) -> None:
        kept = [(part, part.detach().clone()) for part, _ in parts]
        with torch.no_grad():
            for part, where in parts:
                part[where] = 0
            found[sentence] = answers(model)
            for part, before in kept:
                part.copy_(before)

    out, value, query = attention.output, attention.value, attention.query
    tried(
        "You took rows. A linear layer's weight is [out, in], and the head comes in: which axis is that?",
        (out.weight, own),
    )
    tried(
        "The value's weight is gone, but its bias still speaks. The output projection reads the head in one place.",
        (value.weight, own),
    )
    every = slice(None)
    tried("A head without queries looks at all tokens alike, and still hands on what it finds.", (query.weight, own))
    tried("The output's bias is gone too. It belongs to no head.", (out.weight, (every, own)), (out.bias, every))
    tried("The whole layer is silent: only one of its heads was asked for.", (out.weight, every))
    tried(
        "These columns are spread over all heads. A head's d entries lie side by side.",
        (out.weight, (every, slice(head, None, 3))),
    )
    tried("One column is gone, and a head has d = D / H of them.", (out.weight, (every, head)))
    found["Nothing has changed: the copy answers as the model did."] = answers(model)
    found["Another head is silent. Both numbers count from 0."] = answers(model, [(layer, head - 1)])
    found["The right head, in another layer."] = answers(model, [(1 - layer, head)])
    return found


@exercise(
    "9.3",
    "A head falls silent",
    difficulty=2,
    minutes=8,
    hints=(
        "copy.deepcopy makes a model of its own. What head h mixed are the entries h · d to h · d + d − 1 that come "
        "into the output projection.",
        "A linear layer's weight is [out, in]: set weight[:, head * d : (head + 1) * d] to 0, inside torch.no_grad().",
    ),
)
def silenced(case: Case) -> None:
    """Middle and last heads of both layers, and the original as it was."""
    model = small_model()
    before = answers(model)
    for layer, head in ((0, 1), (1, 2)):
        got = case.call(model, layer, head, tried=f"layer {layer} and head {head} of a model with 2 layers of 3 heads")
        case.is_a("the result", got, nn.Module, "a model")
        if not torch.equal(answers(model), before):
            case.fail(
                "But the model that I gave you has changed too.",
                "A copy is asked for, so that the next head can be tried: see copy.deepcopy.",
            )
        got.eval()
        expected = answers(model, [(layer, head)])
        advice = (
            "Print d and the slice that you set to 0: which entries come into the output projection from this head?"
        )
        case.close(
            "what it answers", answers(got), expected, advice, mistakes=head_mistakes(layer, head), tolerance=1e-4
        )
    case.close_with("The package does it with a hook, so that nothing needs to be copied.")


SENTENCE = "The old judge will judge the old man , and the man will hope that hope is not lost"


@exercise(
    "9.4",
    "Labels by lot",
    difficulty=2,
    minutes=8,
    hints=(
        "Keep a dictionary from words in lower case to labels, and fill it when a word comes up for the first time.",
        "torch.Generator().manual_seed(seed) and torch.randint(number_of_labels, (), generator=…).item(); or "
        "random.Random(seed).randrange(number_of_labels).",
    ),
)
def my_control_labels(case: Case) -> None:
    """One label for each type, by lot, from 0."""
    words = SENTENCE.split()
    got = case.call(words, 4, 0, tried=f"{len(words)} words, some of them twice, with 4 labels")
    case.is_a("the result", got, (list, tuple), "a list of numbers")
    case.expect(
        len(got) == len(words), f"But {len(got)} labels came for {len(words)} words: each place wants its label."
    )
    case.expect(all(isinstance(label, int) for label in got), "But not all labels are whole numbers (int).")
    outside = sorted({label for label in got if not 0 <= label < 4})
    case.expect(not outside, f"But there are labels {outside}: with 4 labels they go from 0 to 3.")
    by_type: dict[str, set[int]] = {}
    for word, label in zip(words, got, strict=True):
        by_type.setdefault(word, set()).add(label)
    torn = [word for word, labels in by_type.items() if len(labels) > 1]
    case.expect(
        not torn,
        f"But {torn[0] if torn else ''!r} got different labels in different places.",
        "Drawn for each token anew, nobody could learn them, and every probe would look selective.",
    )
    case.expect(by_type["The"] == by_type["the"], "But 'The' and 'the' got different labels. They are one type.")
    many = [f"word{number}" for number in range(600)]
    got = case.call(many, 3, 0, tried="600 different words with 3 labels")
    counts = [list(got).count(label) for label in range(3)]
    case.expect(
        min(counts) > 140,
        f"But the labels 0, 1, 2 came {counts} times: every label should be as likely as the others.",
    )
    again, other = case.protected(case.answer, many, 3, 0), case.protected(case.answer, many, 3, 1)
    case.expect(list(again) == list(got), "But the second call with the same seed gave other labels. Use the seed.")
    case.expect(
        list(other) != list(got),
        "But seed 1 gave the same labels as seed 0. Does the seed reach the lottery?",
    )
    shifted = sum(a == b for a, b in zip(got, other, strict=True)) / len(many)
    case.expect(
        0.2 < shifted < 0.5,
        f"But seed 0 and seed 1 agree on {shifted:.0%} of the words; two lotteries with 3 labels agree on a third.",
        "Are the labels drawn, or counted off?",
    )


@exercise(
    "9.5",
    "A mean of what is there",
    difficulty=3,
    minutes=8,
    hints=(
        "Multiply the states with the mask, [B, T, 1], before you sum. By how many tokens do you divide each row?",
        "(states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1), with the mask in the dtype of the states.",
    ),
)
def masked_mean(case: Case) -> None:
    """Padding full of large numbers, an empty row, half precision, gradients."""
    states, mask = case.randn(3, 6, 4), torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] + [0] * 5])
    states = torch.where(mask[:, :, None] == 1, states, torch.tensor(50.0))
    got = case.call(states, mask, tried="3 texts of 6, 4 and 1 tokens, with 50s on the padding")
    case.same_shape("the result", got, [3, 4], "One vector for each text.")
    weights = mask[:, :, None].float()
    total = (states * weights).sum(dim=1)
    expected = total / weights.sum(dim=1)
    mistakes = {
        "The 50s of the padding are in your mean. Multiply with the mask first.": states.mean(dim=1),
        "The padding adds nothing now, but you still divide by T. How many tokens has a short text?": total / 6,
        "That is the sum of the real tokens. A mean divides by their number.": total,
        "You divide by the real tokens of the whole batch. Each text has its own number.": total / weights.sum(),
        "That is the vector of the first token, [CLS]. The mean over the real tokens is asked for.": states[:, 0],
        "The padding is summed, and only the divisor knows the mask.": states.sum(dim=1) / weights.sum(dim=1),
    }
    case.close(
        "the result", got, expected, "Compare the row with one token: it should be that token.", mistakes=mistakes
    )
    booleans = case.call(states, mask.bool(), tried="the same with a mask of booleans")
    case.close("the result", booleans, expected, "A mask of True and False should do as well as 1 and 0.")
    empty = case.call(states[:1], torch.zeros(1, 6, dtype=torch.long), tried="a text that is all padding")
    if isinstance(empty, Tensor) and empty.isnan().any():
        case.almost("All padding gave NaN, 0 divided by 0. Keep the divisor at 1 or more.")
    case.close("the result", empty, torch.zeros(1, 4), "Zeros are asked for where there is no token.")
    half = case.call(states.half(), mask, tried="states in float16")
    case.dtype("the result", half, torch.float16, "Turn the mask into the dtype of the states.")
    case.gradient_flows(states, names=("states",), tried="3 texts", attention_mask=mask)
