"""Exercises of chapter 10: text classification."""

import torch
from torch.nn.functional import cross_entropy, nll_loss

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import pace_at


@exercise(
    "10.1",
    "Before the first step",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "If all logits are equal, which probability does each of the three classes get?",
        "Minus the natural logarithm of one third.",
    ),
)
def first_loss(case: Case) -> None:
    case.predicted(
        1.10,
        otherwise="Three equal logits give three equal probabilities. What is minus the logarithm of one of them?",
        mistakes=[
            (0, "A model has the loss 0 if it gives the right class the probability 1."),
            (0.33, "One third is the probability of the right class. The loss is minus its logarithm."),
            (1.58, "That is in bits, log₂ 3. The loss uses the natural logarithm."),
            (0.48, "That is the logarithm to the base 10. The loss uses the natural logarithm."),
            (0.69, "That is ln 2, the first loss with two classes. How many classes are there here?"),
            (-1.1, "The size is right, but the sign is not: the loss is *minus* the logarithm."),
        ],
        tolerance=0.011,
    )


@exercise(
    "10.2",
    "Three ways to one vector",
    difficulty=2,
    minutes=12,
    hints=(
        "attention_mask[:, :, None] is [B, T, 1]. With vectors [B, T, D] it broadcasts over the D dimensions.",
        "real = attention_mask[:, :, None].bool() is True at the real tokens. masked_fill(~real, 0) before the sum, "
        "and divide by the number of real tokens; masked_fill(~real, -torch.inf) before the maximum.",
    ),
)
def pooling(case: Case) -> None:
    case.causes = {
        "must match the size": "Has the mask one axis more, [B, T, 1], so that it fits vectors [B, T, D]? "
        "And the numbers of tokens, [B, 1], so that they fit sums [B, D]?",
        "boolean masks": "The mask has the numbers 1 and 0, and masked_fill takes True and False: "
        "`attention_mask == 0` is True at the padding.",
    }
    vectors = case.randn(2, 5, 4) - 3  # all values negative: a padding of 0 would win the maximum
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    vectors[1, 2:] = 9.0
    tried = "2 texts of 5 and 2 tokens, the second padded to 5"
    parts = [vectors[0], vectors[1, :2]]

    def pooled(how: str) -> torch.Tensor:
        result = case.call(vectors, mask, how, tried=f"{tried}, how = {how!r}")
        if isinstance(result, tuple):
            case.fail(
                f"But {how} is a tuple. `max(dim=1)` returns values and positions: take its `.values`, or `amax`."
            )
        case.same_shape(how, result, [2, 4], "Return one vector for each text.")
        return result

    case.close("cls", pooled("cls"), vectors[:, 0], "[CLS] is the first token of each text.")
    zeroed = vectors * mask[:, :, None]
    case.close(
        "mean",
        pooled("mean"),
        torch.stack([part.mean(dim=0) for part in parts]),
        "Take the mean over the real tokens of each text.",
        mistakes={
            "The padding is averaged in: it is part of the sum and of the count.": vectors.mean(dim=1),
            "The padding is not in the sum, but it is still counted. By how many tokens do you divide each sum?": (
                zeroed.mean(dim=1)
            ),
            "You divided the sum of each text by the number of real tokens of the whole batch.": zeroed.sum(dim=1)
            / mask.sum(),
            "The real tokens were removed and the padding stayed: the mask is used the wrong way round.": (
                (vectors - zeroed).sum(dim=1) / mask.sum(dim=1, keepdim=True)
            ),
        },
    )
    case.close(
        "max",
        pooled("max"),
        torch.stack([part.amax(dim=0) for part in parts]),
        "Take the maximum over the real tokens of each text, for each dimension.",
        mistakes={
            "The padding wins the maximum: it must never be the largest.": vectors.amax(dim=1),
            "The padding became 0, and 0 wins where all real values are negative. What is below any number?": (
                zeroed.amax(dim=1)
            ),
            "The real tokens were filled in place of the padding: the mask is used the wrong way round.": (
                vectors.masked_fill(mask[:, :, None] == 1, -torch.inf).amax(dim=1)
            ),
        },
    )
    pooling_of_one_token_and_of_low_values(case)


def pooling_of_one_token_and_of_low_values(case: Case) -> None:
    """A text of a single token; and a maximum far below zero, where padding must not win."""
    one = case.randn(1, 1, 3)
    for how in ("cls", "mean", "max"):
        result = case.call(one, torch.ones(1, 1, dtype=torch.long), how, tried=f"a single token, how = {how!r}")
        case.close(how, result, one[:, 0], "A single token is its own mean and its own maximum.")
    low = torch.tensor([[[-6e4, -5e4], [-4e4, -6e4], [0.0, 0.0]]])  # half precision reaches 65,504
    result = case.call(low, torch.tensor([[1, 1, 0]]), "max", tried="values far below zero, how = 'max'")
    case.close(
        "max",
        result,
        torch.tensor([[-4e4, -5e4]]),
        "The padding was set to a number that is not low enough: here the real values are lower, so the padding wins.",
        "Which value is below every number?",
    )


@exercise(
    "10.3",
    "How fast is layer 1?",
    difficulty=2,
    minutes=8,
    hints=(
        "The head's learning rate is multiplied by the decay 0 times, that of layer L once. How often that of the "
        "embeddings?",
        "For depth 0 (embeddings) to L + 1 (head) the power of the decay is L + 1 - depth.",
    ),
)
def learning_rates(case: Case) -> None:
    for layers, rate, decay in ((4, 0.001, 0.5), (2, 0.01, 0.9), (12, 2e-5, 1.0)):
        settings = FinetuningSettings(layer_decay=decay)
        scales = torch.tensor([pace_at(settings, depth, layers)[0] for depth in range(layers + 2)], dtype=torch.double)
        result = case.call(layers, rate, decay, tried=f"L = {layers}, learning rate {rate}, decay {decay}")
        numbers = plain(result)
        if not isinstance(numbers, list) or not all(isinstance(one, int | float) for one in numbers):
            case.fail(f"But it should return a list of {layers + 2} numbers.")
        got = torch.tensor(numbers, dtype=torch.double)
        if len(got) == layers:
            case.fail(
                f"But the list has {layers} numbers. The embeddings and the head learn too: {layers + 2} numbers."
            )
        if len(got) == layers + 1:
            case.fail(f"But the list has {layers + 1} numbers and needs {layers + 2}: embeddings, L layers, head.")
        case.same_shape("the list", got, [layers + 2], "One number each for the embeddings, every layer and the head.")
        wanted = rate * scales
        if not bool((got - wanted).abs().le(1e-5 * rate).all()):
            right = f"It should be: {by_name(wanted)}."
            case.fail(f"But the list is: {by_name(got)}.", right, advice_on_rates(got / rate, scales, decay))


def by_name(rates: torch.Tensor) -> str:
    """The learning rates with what they belong to."""
    names = ("embeddings", *(f"layer {number}" for number in range(1, len(rates) - 1)), "head")
    return ", ".join(f"{name} {rate:.3g}" for name, rate in zip(names, rates.tolist(), strict=True))


def advice_on_rates(got: torch.Tensor, scales: torch.Tensor, decay: float) -> str:
    """What a wrong list looks like; both lists are divided by the head's learning rate."""
    flat, first = scales.clone(), torch.ones(1, dtype=torch.double)
    flat[0] = scales[1]
    mistakes = {
        "The order is reversed: the list begins with the embeddings, which learn most slowly.": scales.flip(0),
        "You slowed down the head as well. Its learning rate is multiplied 0 times.": scales * decay,
        "Every number is one step too large: layer L is one step below the head.": scales / decay,
        "Layer L learns as fast as the head here, and it is one step below.": torch.cat([scales[1:], first]),
        "The embeddings learn as fast as layer 1 here, and they are one step below.": flat,
        "You divide by the decay. Multiply: each step down should be slower.": 1 / scales,
    }
    known = [sentence for sentence, wrong in mistakes.items() if torch.allclose(got, wrong, rtol=1e-5)]
    steps = got.diff()
    if not known and float(steps[0].abs()) > 1e-9 and torch.allclose(steps, steps[:1], rtol=1e-4):
        known = ["The learning rates fall by equal amounts. A decay multiplies."]
    if not known and torch.allclose(got, scales, atol=0.06):
        known = ["This is nearly right. Are the numbers rounded? Return them as they are."]
    return (*known, "Each step down multiplies by the decay once more, and the head has the full learning rate.")[0]


@exercise(
    "10.5",
    "Down to zero",
    difficulty=3,
    minutes=8,
    hints=(
        "What does cross_entropy do with its first argument before it takes a logarithm?",
        "It expects logits: pass them on as they are.",
    ),
)
def loss(case: Case) -> None:
    logits, labels = case.randn(6, 3), case.randint(0, 3, (6,))
    right = cross_entropy(logits, labels)
    result = case.call(logits, labels, tried="6 rows of 3 logits")
    probabilities = logits.softmax(dim=-1)
    chosen = probabilities.gather(1, labels[:, None])
    case.same_shape("the loss", result, [], "Return one number for the batch: the mean.")
    case.close(
        "the loss",
        result,
        right,
        "It is not the mean of minus the logarithm of the right class's probability.",
        "Only one line of broken_loss is wrong. What should cross_entropy get as its first argument?",
        mistakes={
            "That is the broken loss: there are still two softmaxes.": cross_entropy(probabilities, labels),
            "That is the sum over the rows. Return the mean.": right * len(labels),
            "You divided by the number of logits. Divide by the number of rows.": right / logits.shape[1],
            "The sign is wrong: training would make the right class less probable.": -right,
            "That is one minus the mean probability of the right class: a logarithm is missing.": 1 - chosen.mean(),
            "That is minus the mean logit of the right class: a softmax is missing.": -logits.gather(
                1, labels[:, None]
            ).mean(),
            "That is minus the mean probability of the right class: a logarithm is missing.": -chosen.mean(),
            "Your softmax goes over the rows of the batch. It goes over the classes of each row: dim=-1.": (
                nll_loss(logits.log_softmax(dim=0), labels)
            ),
        },
    )
    surely = 1000 * torch.eye(3)
    result = case.call(surely, torch.tensor([1, 0, 2]), tried="logits of 1,000, two rows of three wrong")
    case.expect(
        not bool(torch.isnan(result).any()),
        "But the loss is NaN: exp(1000) is infinite, and infinity divided by infinity is NaN (0 · log 0, too).",
        "Is there a function that does softmax and logarithm in one step?",
    )
    case.expect(
        bool(torch.isfinite(result).all()),
        "But the loss is not finite: the probability of the right class is 0 there, and log 0 is minus infinity.",
        "Is there a function that does softmax and logarithm in one step?",
    )
    case.close(
        "the loss",
        result,
        torch.tensor(2000 / 3),
        "For large logits, the loss of a row is the largest logit minus the right one.",
        "Is there a small number inside your logarithm, or a limit? It cuts large losses off, and their gradients too.",
    )
    answer, case.answer = case.answer, lambda x: case.protected(answer, x, labels.clone())
    case.gradient_flows(logits, names=("logits",), tried="the 6 rows")
    case.answer = answer
    case.close_with("And 0.55: the best probabilities, (1, 0, 0), used as logits, give −ln(e / (e + 2)) = 0.55.")
