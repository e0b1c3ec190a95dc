"""Variants of chapter 8: a step of Adam by other rules, and a training loop with three bugs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

State = tuple[Tensor, Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Rules:
    """One step of Adam. As it stands here it is that of the chapter."""

    first_beta: float = 0.9
    second_beta: float = 0.98
    decay: float = 0.01
    epsilon: float = 1e-6
    corrected: bool = True
    inside: bool = False
    decoupled: bool = True
    most: float | None = None
    always_scaled: bool = False
    each_clipped: bool = False
    rooted: bool = True

    def step(self, state: State, step: int, learning_rate: float) -> tuple[Tensor, Tensor, Tensor]:
        """The new weight, mean and square."""
        weight, gradient, mean, square = state
        if self.most is not None:
            scale = self.most / gradient.norm()
            clipped = gradient * (scale if self.always_scaled else scale.clamp(max=1.0))
            gradient = gradient.clamp(-self.most, self.most) if self.each_clipped else clipped
        if not self.decoupled:
            gradient = gradient + self.decay * weight
        mean = self.first_beta * mean + (1 - self.first_beta) * gradient
        square = self.second_beta * square + (1 - self.second_beta) * gradient**2
        m, v = mean, square
        if self.corrected:
            m, v = m / (1 - self.first_beta**step), v / (1 - self.second_beta**step)
        power = 0.5 if self.rooted else 1.0
        root = (v + self.epsilon) ** power if self.inside else v**power + self.epsilon
        move = m / root + self.decoupled * self.decay * weight
        return weight - learning_rate * move, mean, square


# What differs from the chapter, by the field that says so: the values, and the text about them.
TWISTS: tuple[tuple[dict, str], ...] = (
    ({"corrected": False}, "There is **no bias correction**, as in the code that trained BERT."),
    ({"inside": True}, "ε is **under the square root**: √(v̂ + ε)."),
    ({"decoupled": False}, "The decay is **not decoupled**: λ·w is added to the gradient before anything else, and "
     "nowhere else."),
    ({"most": 1.0}, "The gradient is **clipped first**: if the norm of the whole tensor is above **1**, it is "
     "multiplied by 1 / norm."),
    ({"most": 0.5}, "The gradient is **clipped first**: if the norm of the whole tensor is above **0.5**, it is "
     "multiplied by 0.5 / norm."),
)  # fmt: skip


def misreadings(rules: Rules, changed: dict) -> list[tuple[Rules, str]]:
    """Rules of known mistakes, and the sentence about each."""
    chapter = Rules()
    found = [
        (replace(rules, **{name: getattr(chapter, name) for name in changed}), "What is different from the chapter's "
         f"step is missing: {'clip the gradient first' if rules.most else 'read the point in bold again'}."),
        (replace(rules, first_beta=0.9), f"β₁ is {rules.first_beta:g} here."),
        (replace(rules, second_beta=0.98), f"β₂ is {rules.second_beta:g} here."),
        (replace(rules, decay=0.01), f"λ is {rules.decay:g} here."),
        (replace(rules, epsilon=1e-6), f"ε is {rules.epsilon:g} here."),
        (replace(rules, decay=0.0), "There is no decay at all."),
        (replace(rules, rooted=False), "Where is the square root of the second average?"),
    ]  # fmt: skip
    if rules.corrected:
        found.append((replace(rules, corrected=False), "The bias correction is missing: divide by 1 − beta ** step."))
    if rules.decoupled:
        through = "The decay went through both averages. Subtract learning_rate · λ · weight from the weight itself."
        found.append((replace(rules, decoupled=False), through))
    if rules.most:
        found.append((replace(rules, always_scaled=True), "A gradient with a smaller norm stays as it is."))
        found.append(
            (replace(rules, each_clipped=True), "You clipped each number. Scale the whole tensor by its norm.")
        )
    return found


def stepping(draws: Draws) -> Variant:
    """A step of Adam with other constants, and one thing done otherwise."""
    (first, second), (changed, told) = draws.pick(((0.8, 0.95), (0.95, 0.99), (0.85, 0.9))), draws.pick(TWISTS)
    rules = Rules(first, second, draws.pick((0.02, 0.05, 0.1)), epsilon=0.001, **changed)
    names = ("the new weight", "the new mean", "the new square")

    def examine(case: Case) -> None:
        case.causes = {"only one element": "math.sqrt takes a single number. Use the tensor's own .sqrt()."}
        for step, size, tried in (
            (7, 1.0, "step 7, with averages of six steps before"),
            (1, 1.0, "step 1, with averages of zero"),
            (3, 0.05, "step 3, with a small gradient"),
        ):
            old = (case.randn(4, 3), case.randn(4, 3) ** 2) if step > 1 else (torch.zeros(4, 3), torch.zeros(4, 3))
            state = (case.randn(4, 3), size * case.randn(4, 3), *old)
            result = case.call(*state, step, 0.1, tried=tried)
            got = case.parts(result, "weight", "mean", "square")
            right, copied = rules.step(state, step, 0.1), Rules().step(state, step, 0.1)
            for name, one in zip(names, got, strict=True):
                case.same_shape(name, one, state[0])
            if all(is_close(one, other) for one, other in zip(got, copied, strict=True)):
                case.fail("But every number of the result is the chapter's.", COPIED.format(number="8.2"))
            wrong = [(one.step(state, step, 0.1), said) for one, said in misreadings(rules, changed)]
            wrong.sort(key=lambda pair: not all(map(is_close, got, pair[0])))  # first what agrees in all three
            kept = "You return the corrected average. The next step continues with the uncorrected one."
            corrected = (right[0], right[1] / (1 - first**step), right[2] / (1 - second**step))
            for at in (1, 2, 0):  # the averages first: the weight follows from them
                mistakes = {said: one[at] for one, said in wrong if not is_close(one[at], right[at])}
                mistakes |= {kept: corrected[at]} if at else {}
                advice = "Follow the formula from the first line on." if at else "Both averages are right."
                case.close(names[at], got[at], right[at], advice, mistakes=mistakes)
        case.refuse_in_place()

    text = (
        "A step t of AdamW is, for a weight w with the gradient g and the learning rate η,\n\n"
        "$$m \\leftarrow \\beta_1 m + (1 - \\beta_1)\\, g \\qquad "
        "v \\leftarrow \\beta_2 v + (1 - \\beta_2)\\, g^2 \\qquad "
        "w \\leftarrow w - \\eta \\left( \\frac{\\hat m}{\\sqrt{\\hat v} + \\epsilon} + \\lambda w \\right)$$\n\n"
        "with $\\hat m = m / (1 - \\beta_1^t)$ and $\\hat v = v / (1 - \\beta_2^t)$. Write it for tensors, as "
        "`adam_step(weight, gradient, mean, square, step, learning_rate)`, with one difference. "
        f"{told} The constants are β₁ = **{first:g}**, β₂ = **{second:g}**, λ = **{rules.decay:g}** and ε = "
        "**0.001**. `step` is t and counts from 1, `learning_rate` is η. Return the new weight, mean and "
        "square. Don't change the old ones."
    )
    hints = (
        "Write the chapter's step with the new numbers first. Which one line does the point in bold change?",
        "mean = β₁ · mean + (1 − β₁) · gradient, and the same for the square of the gradient. What comes before it, "
        "and what after it?",
    )
    exercise = Exercise("8.11", "Adam by other rules", 2, 12, hints, examine)
    return Variant(exercise, text, "def adam_step(weight, gradient, mean, square, step, learning_rate):")


RIGHT = """\
def train(weight, batches, learning_rate, warmup):  # weight [D]; a batch is a list of parts (x [N, D], y [N])
    total = len(batches)
    for step, parts in enumerate(batches, start=1):
        gradient = 0 * weight
        count = sum(len(y) for _, y in parts)
        for x, y in parts:
            error = x @ weight - y  # [N]
            gradient = gradient + 2 * error @ x / count
        norm = (gradient**2).sum() ** 0.5
        gradient = gradient * min(1.0, 1.0 / norm)
        factor = min(step / warmup, (total - step) / (total - warmup))
        weight = weight - learning_rate * factor * gradient
    return weight"""
RESET = "    for step, parts in enumerate(batches, start=1):\n        gradient = 0 * weight\n"
Bug = tuple[str, str, str]  # a line of the program, what is planted, and what is said to somebody who leaves it
SUMS: tuple[Bug, ...] = (
    ("@ x / count", "@ x / len(y) / len(parts)", "An example in a small part weighs more than one in a large part."),
    (RESET, "".join(reversed([line[4:] if "gradient" in line else line for line in RESET.splitlines(True)])),
     "The gradient of the step before is still in it."),
    ("gradient = gradient + 2 *", "gradient = 2 *", "Only the last part of a batch counts."),
)  # fmt: skip
NO_MEAN: Bug = ("2 * error @ x / count", "2 * error @ x", "The gradient is that of the sum, not of the mean.")
CLIPS: tuple[Bug, ...] = (
    ("gradient * min(1.0, 1.0 / norm)", "gradient / norm", "A gradient with a norm below 1 is made larger."),
    ("gradient * min(1.0, 1.0 / norm)", "gradient.clamp(-1.0, 1.0)", "Each number is clipped, not the norm."),
    ("(gradient**2).sum() ** 0.5", "(gradient**2).sum()", "That is the square of the norm."),
)
SCHEDULES: tuple[Bug, ...] = (
    ("min(step / warmup", "min((step - 1) / warmup", "The first step has a learning rate of 0."),
    ("(total - step) / (total - warmup)", "(total - step) / total", "The learning rate never gets to its highest."),
    ("min(step / warmup, ", "max(step / warmup, ", "The learning rate is far too high: which of the two holds?"),
)


def planted(bugs: Sequence[Bug]) -> str:
    """The program with these bugs."""
    program = RIGHT
    for line, wrong, _ in bugs:
        program = program.replace(line, wrong)
    return program


def run(program: str, *inputs: object) -> Tensor:
    """What a program gives."""
    names: dict = {}
    exec(program, names)
    return names["train"](*inputs)


def drawn_batches(case: Case, sizes: Sequence[Sequence[int]], scale: float) -> list[list[tuple[Tensor, Tensor]]]:
    """Batches of parts with so many examples."""
    return [[(scale * case.randn(size, 3), case.randn(size)) for size in parts] for parts in sizes]


def repairing(draws: Draws) -> Variant:
    """A training loop with three bugs: in the sum over parts, in clipping, in the schedule."""
    bugs = [draws.pick(group) for group in (SUMS, CLIPS, SCHEDULES)]
    everything = (*SUMS, *CLIPS, *SCHEDULES, NO_MEAN)

    def examine(case: Case) -> None:
        sizes = ((1, 4), (3, 2, 1), (5,), (2, 6), (1, 1, 4), (2, 3), (4, 2))
        for scale, tried in (
            (0.3, "7 batches with gradients of all sizes"),
            (2.0, "7 batches with large gradients"),
            (0.1, "7 batches with small gradients"),
        ):
            given = case.randn(3), drawn_batches(case, sizes, scale), 0.3, 3
            got, right = case.call(*given, tried=tried), run(RIGHT, *given)
            if is_close(got, right, 1e-4):
                continue
            wrong = {"That is what the program gives as it was.": run(planted(bugs), *given)}
            for left in combinations(bugs, 2):
                wrong[f"Two bugs are left. {left[0][2]} {left[1][2]}"] = run(planted(left), *given)
            wrong |= {f"One bug is left. {bug[2]}": run(planted([bug]), *given) for bug in bugs}
            wrong |= {bug[2]: run(planted([bug]), *given) for bug in everything if bug not in bugs}
            mistakes = {said: one for said, one in wrong.items() if not is_close(one, right)}
            case.close("the weight", got, right, "Follow one step by hand.", mistakes=mistakes, tolerance=1e-4)

    text = (
        "The program above trains a linear model on the mean of squared errors, with gradient descent. Each batch "
        "comes in parts, and one step should use the gradient of the mean over **all examples** of the batch. A "
        "gradient whose norm is above 1 should be scaled to the norm 1. In step t, counted from 1, the learning rate "
        "should be learning_rate · t / warmup up to t = warmup, and then fall linearly to 0 in the last step. "
        "The program has **three bugs**, one in each of these three things. Write it again, repaired, as "
        "`train_repaired(weight, batches, learning_rate, warmup)`. There are always more "
        "batches than steps of the warm-up."
    )
    hints = (
        "Try one batch with two parts of 1 and 3 examples, then a tiny gradient, then print the factor of each step.",
        "One bug is before the norm is computed or in the sum over parts, one in the two lines about the norm, one in "
        "the factor.",
    )
    exercise = Exercise("8.12", "Three bugs in a training loop", 3, 15, hints, examine)
    return Variant(exercise, text, "def train_repaired(weight, batches, learning_rate, warmup):", planted(bugs))


MAKERS = {"8.11": stepping, "8.12": repairing}
