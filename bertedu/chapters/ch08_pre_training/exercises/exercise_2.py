"""Exercise 8.2: AdamW in five lines."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def adamw(state: tuple[Tensor, ...], step: int, rate: float, decay: float, **change: bool) -> tuple[Tensor, ...]:
    """One step of AdamW, or of one of its misreadings. state: weight, gradient, mean, square."""
    weight, gradient, mean, square = state
    if change.get("l2"):
        gradient = gradient + decay * weight
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.98 * square + 0.02 * (gradient.abs() if change.get("absolute") else gradient**2)
    first, second = (1.0, 1.0) if change.get("uncorrected") else (1 - 0.9**step, 1 - 0.98**step)
    if change.get("next_step"):
        first, second = 1 - 0.9 ** (step + 1), 1 - 0.98 ** (step + 1)
    if change.get("square_uncorrected"):
        second = 1.0
    root = (square / second + 1e-6).sqrt() if change.get("inside") else (square / second).sqrt() + 1e-6
    if change.get("no_root"):
        root = square / second + 1e-6
    move = (gradient if change.get("no_mean") else mean / first) / root
    if change.get("decay_after"):
        return (weight - rate * move) * (1 - rate * decay), mean, square
    if not change.get("l2") and not change.get("no_decay"):
        move = move + (decay / rate if change.get("full_decay") else decay) * weight
    return weight + rate * move if change.get("uphill") else weight - rate * move, mean, square


MISREADINGS = {
    "l2": "The decay went through Adam: you added it to the gradient, so it is divided by √v too. "
    "Decoupled means: subtract `rate` · 0.01 · weight from the weight itself.",
    "uncorrected": "Both averages start at zero, so they are too small at first. Divide them by 1 − beta ** step.",
    "square_uncorrected": "The square needs its correction too: divide it by 1 − 0.98 ** step before the root.",
    "no_mean": "You divide the gradient itself. The step uses the corrected mean.",
    "inside": "Your epsilon stands under the square root. Take the root first, then add epsilon.",
    "no_root": "You divide by the average of the squares. Where is the square root?",
    "no_decay": "The weight did not decay at all.",
    "full_decay": "The decay isn't multiplied by the learning rate. It is `rate` · 0.01 · weight.",
    "uphill": "The step goes in the direction of the gradient. Subtract it.",
    "next_step": "`step` counts from 1 already. Use 1 − beta ** step as it is, not step + 1.",
    "decay_after": "You let the new weight decay. The decay uses the weight before the step.",
    "absolute": "The second average is the average of the squares: use `gradient**2`.",
}


@exercise(
    "8.2",
    "AdamW in five lines",
    difficulty=2,
    minutes=12,
    without=("torch.optim", "adamw", "adam"),
    hints=(
        "Update both averages first: new = beta · old + (1 − beta) · new value. Then divide each by 1 − beta ** step.",
        "`weight - rate * (corrected_mean / (corrected_square.sqrt() + 1e-6) + 0.01 * weight)`. Return all three.",
    ),
)
def adamw_step(case: Case) -> None:
    """The averages, then the weight, against every well-known misreading; then many steps against torch."""
    case.causes = {"only one element": "math.sqrt takes a single number. Use the tensor's own .sqrt()."}
    for step, tried in ((7, "step 7, with averages of six steps before"), (1, "step 1, with averages of zero")):
        weight, gradient = case.randn(4, 3), case.randn(4, 3)
        old = (torch.zeros(4, 3), torch.zeros(4, 3)) if step == 1 else (case.randn(4, 3), case.randn(4, 3) ** 2)
        state = (weight, gradient, *old)
        result = case.call(*state, step, 0.1, tried=tried)
        names = ("the new weight", "the new mean", "the new square")
        got = case.parts(result, "weight", "mean", "square")
        right = adamw(state, step, 0.1, 0.01)
        for name, one in zip(names, got, strict=True):
            case.same_shape(name, one, weight)
        wrong = {words: adamw(state, step, 0.1, 0.01, **{key: True}) for key, words in MISREADINGS.items()}
        kept = "You return the corrected average. The next step continues with the uncorrected one: return that."
        order = "You return the new {} as the second result. The order is weight, mean, square."
        swapped = "The two factors are swapped: the old average keeps the larger one."
        _, _, mean, square = state
        means = {kept: right[1] / (1 - 0.9**step), swapped: 0.1 * mean + 0.9 * gradient}
        means |= {order.format("weight"): right[0], order.format("square"): right[2]}
        means |= {MISREADINGS["l2"]: wrong[MISREADINGS["l2"]][1]}
        case.close(names[1], got[1], right[1], "It is 0.9 · old + 0.1 · gradient.", mistakes=means)
        squares = {MISREADINGS["absolute"]: wrong[MISREADINGS["absolute"]][2]}
        squares |= {"β₂ is 0.98 here, not 0.999.": 0.999 * square + 0.001 * gradient**2}
        squares |= {kept: right[2] / (1 - 0.98**step), swapped: 0.02 * square + 0.98 * gradient**2}
        case.close(names[2], got[2], right[2], "It is 0.98 · old + 0.02 · gradient².", mistakes=squares)
        told = {words: answer[0] for words, answer in wrong.items()}
        case.close(
            names[0], got[0], right[0], "Both averages are right. Look at what you compute from them.", mistakes=told
        )
    still = case.call(torch.ones(2), torch.zeros(2), torch.zeros(2), torch.zeros(2), 1, 0.1, tried="a gradient of zero")
    case.close(
        "the new weight",
        still[0],
        torch.full((2,), 0.999),
        "With a gradient of zero only the decay is left. Epsilon prevents 0 / 0.",
    )
    case.refuse_in_place()
