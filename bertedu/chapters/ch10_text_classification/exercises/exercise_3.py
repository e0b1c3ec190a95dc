"""Exercise 10.3: How fast is layer 1?"""

import torch

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import pace_at


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
