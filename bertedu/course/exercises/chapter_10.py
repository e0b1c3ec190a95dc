"""Exercises of chapter 10: text classification."""

import torch
from torch.nn.functional import cross_entropy

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import pace_at


@exercise(
    "10.1",
    "Before the first step",
    difficulty=1,
    minutes=2,
    kind="value",
    hints=("Equal logits: which share does each of three classes get?", "Minus the natural logarithm of one third."),
)
def first_loss(case: Case) -> None:
    case.predicted(
        1.10,
        otherwise="Three equal logits give three equal shares. What is minus the logarithm of one of them?",
        mistakes=[
            (0, "A loss of 0 is that of a model which gives the right class the whole share."),
            (0.33, "One third is the share of the right class. The loss is minus its logarithm."),
            (1.58, "That is in bits, log₂ 3. The loss takes the natural logarithm."),
            (0.48, "That is the logarithm to the base 10. The loss takes the natural one."),
            (0.69, "That is ln 2, the first loss with two classes. How many are there here?"),
            (-1.1, "The number is right and its sign is not: the loss is minus the logarithm."),
        ],
        tolerance=0.011,
    )


@exercise(
    "10.2",
    "Three ways to one vector",
    difficulty=2,
    minutes=8,
    hints=(
        "attention_mask[:, :, None] is [B, T, 1]: it fits beside vectors [B, T, D].",
        "masked_fill(~real, 0) before the sum, and divide by the number of real tokens; masked_fill(~real, -torch.inf) "
        "before the maximum.",
    ),
)
def pooling(case: Case) -> None:
    vectors = case.randn(2, 5, 4) - 3  # all values negative: a padding of 0 would win the maximum
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    vectors[1, 2:] = 9.0
    tried = "2 texts of 5 and 2 tokens, the second padded to 5"
    parts = [vectors[0], vectors[1, :2]]
    results = {how: case.call(vectors, mask, how, tried=f"{tried}, how = {how!r}") for how in ("cls", "mean", "max")}
    for how, result in results.items():
        case.same_shape(how, result, [2, 4], "One vector for each text is asked for.")
    case.close("cls", results["cls"], vectors[:, 0], "[CLS] is the first token of each text.")
    zeroed = vectors * mask[:, :, None]
    case.close(
        "mean",
        results["mean"],
        torch.stack([part.mean(dim=0) for part in parts]),
        "The mean is over the real tokens of each text.",
        mistakes={
            "The padding is averaged in: it is part of the sum and of the count.": vectors.mean(dim=1),
            "The padding is out of the sum, but it still counts: by how many tokens is the sum of a text divided?": (
                zeroed.mean(dim=1)
            ),
            "You divided each text by the number of real tokens of the whole batch.": zeroed.sum(dim=1) / mask.sum(),
        },
    )
    case.close(
        "max",
        results["max"],
        torch.stack([part.amax(dim=0) for part in parts]),
        "The maximum is over the real tokens of each text, dimension by dimension.",
        mistakes={
            "The padding wins the maximum: it must never be the largest.": vectors.amax(dim=1),
            "The padding became 0, and where all real values are negative 0 wins. What is smaller than any number?": (
                zeroed.amax(dim=1)
            ),
        },
    )
    one = case.randn(1, 1, 3)
    for how in ("cls", "mean", "max"):
        result = case.call(one, torch.ones(1, 1, dtype=torch.long), how, tried=f"a single token, how = {how!r}")
        case.close(how, result, one[:, 0], "One token alone is its own mean and its own maximum.")


@exercise(
    "10.3",
    "How fast is layer 1?",
    difficulty=2,
    minutes=5,
    hints=(
        "The head is multiplied by decay 0 times, layer L once. How often are the embeddings?",
        "For depth 0 (embeddings) to L + 1 (head) the power of decay is L + 1 - depth.",
    ),
)
def rates(case: Case) -> None:
    def expected(layers: int, rate: float, decay: float) -> list[float]:
        settings = FinetuningSettings(layer_decay=decay)
        return [rate * pace_at(settings, depth, layers)[0] for depth in range(layers + 2)]

    for layers, rate, decay in ((4, 0.001, 0.5), (2, 0.01, 0.9), (12, 2e-5, 1.0)):
        right = expected(layers, rate, decay)
        result = case.call(layers, rate, decay, tried=f"L = {layers}, rate {rate}, decay {decay}")
        got = torch.as_tensor([float(one) for one in result], dtype=torch.double)
        if len(got) == layers:
            case.fail(f"But {layers} rates came: the embeddings and the head learn too, so {layers + 2} are asked for.")
        if len(got) == layers + 1:
            case.fail(f"But {layers + 1} rates came, and {layers + 2} are asked for: embeddings, layers and the head.")
        wanted = torch.tensor(right, dtype=torch.double)
        case.same_shape("rates", got, [layers + 2], "One rate for the embeddings, each layer and the head.")
        relative = got / rate
        case.close(
            "the shares of the rate",
            relative,
            wanted / rate,
            "Each step down multiplies once more by the decay, and the head is at the full rate.",
            mistakes={
                "They are in the wrong order: the list begins with the embeddings, the slowest.": wanted.flip(0) / rate,
                "Even the head is slowed down: it is 0 steps below itself.": wanted / rate * decay,
                "Each is one step too fast: layer L is one step below the head.": wanted / rate / decay,
                "The rates fall by equal amounts; a decay multiplies.": torch.tensor(
                    [1 - (1 - decay) * (layers + 1 - depth) for depth in range(layers + 2)], dtype=torch.double
                ),
            },
        )


@exercise(
    "10.4",
    "The best threshold",
    difficulty=3,
    minutes=10,
    hints=(
        "Write f1(threshold) first, then try every probability as the threshold.",
        "max(probabilities, key=lambda threshold: (f1(threshold), threshold)) settles ties by the larger threshold.",
    ),
)
def threshold(case: Case) -> None:
    rows = [
        ([0.9, 0.7, 0.4, 0.2], [1, 1, 0, 0], 0.7, "four texts, the two surest right"),
        ([0.30, 0.10, 0.25, 0.05], [1, 0, 1, 0], 0.25, "a rare label that never reaches one half"),
        ([0.2, 0.8, 0.6, 0.5, 0.1], [0, 1, 0, 1, 0], 0.5, "five texts in mixed order"),
        ([0.9, 0.6, 0.5], [1, 0, 0], 0.9, "three texts with one right"),
        ([0.95, 0.7, 0.6, 0.5, 0.4, 0.2], [1, 0, 1, 1, 1, 0], 0.4, "six texts, one wrong among the sure ones"),
        ([0.8, 0.6, 0.3], [1, 0, 1], 0.3, "three texts, the least sure right"),
    ]
    for probabilities, right, best, tried in rows:
        result = case.call(list(probabilities), list(right), tried=tried)
        got = float(result)
        if abs(got - best) < 1e-6:
            continue
        told = f"But the threshold {got:g} came for probabilities {probabilities} with truths {right}. "
        if abs(got - 0.5) < 1e-6:
            case.fail(told + "One half is only where one begins: which threshold gives the highest F1?")
        if all(abs(got - one) > 1e-6 for one in probabilities):
            case.fail(told + "It is none of the probabilities. Try each of them as the threshold.")
        if all(one < got for one in probabilities if abs(one - got) > 1e-6):
            case.fail(told + "That is the highest of them, best for precision alone. F1 asks for recall too.")
        if all(one > got for one in probabilities if abs(one - got) > 1e-6):
            case.fail(told + "That is the lowest of them, best for recall alone. F1 asks for precision too.")
        case.fail(
            told + f"{best:g} has a higher F1, or the same and is larger. "
            "Is a text chosen where its probability is at least the threshold, and not only above it?"
        )
    got = float(case.call([0.9, 0.8, 0.6, 0.5], [1, 0, 0, 1], tried="two thresholds with the same F1"))
    case.expect(
        abs(got - 0.9) < 1e-6,
        "But of two thresholds with the same F1 (0.9 and 0.5) the smaller one came: the larger is asked for.",
    )


@exercise(
    "10.5",
    "Down to zero",
    difficulty=3,
    minutes=6,
    hints=(
        "What does cross_entropy do with its first input before it takes a logarithm?",
        "It takes logits: hand them over as they are.",
    ),
)
def loss(case: Case) -> None:
    logits, labels = case.randn(6, 3), case.randint(0, 3, (6,))
    right = cross_entropy(logits, labels)
    result = case.call(logits, labels, tried="6 rows of 3 logits")
    shares = logits.softmax(dim=-1)
    chosen = shares.gather(1, labels[:, None])
    case.same_shape("the loss", result, [], "One number for the batch. The mean is asked for.")
    case.close(
        "the loss",
        result,
        right,
        "It is not the mean of minus the logarithm of the right class's share.",
        mistakes={
            "That is the broken loss: there are still two softmaxes.": cross_entropy(shares, labels),
            "That is the sum over the rows. The mean is asked for.": right * len(labels),
            "Its sign is turned round: training would drive the right class down.": -right,
            "That is one minus the mean share of the right class: a logarithm is missing.": 1 - chosen.mean(),
        },
    )
    surely = 1000 * torch.eye(3)
    result = case.call(surely, torch.tensor([1, 0, 2]), tried="logits of 1,000, two rows of three wrong")
    case.expect(
        bool(torch.isfinite(result).all()),
        "But the loss is not finite: the share of the right class is 0 there, and its logarithm is minus infinity.",
        "Is there a function that takes softmax and logarithm in one?",
    )
    case.close("the loss", result, torch.tensor(2000 / 3), "For large logits it is how far the right one lies behind.")
    case.close_with("And 0.55: with three classes the best shares, (1, 0, 0), taken as logits, give −ln(e / (e + 2)).")
