"""Exercises of chapter 8: AdamW, and runs with a fault."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "8.1",
    "Adam's first step",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "In the first step both averages have seen one gradient, g. What are they after the bias correction?",
        "The move is 0.01 · g / √g². How large is g / √g², whatever g is?",
    ),
)
def first_step(case: Case) -> None:
    """The learning rate itself, for a small gradient as for a large one."""
    descent = "That is learning rate times gradient: plain gradient descent. What does Adam divide by?"
    uncorrected = (
        "Those are the averages without bias correction, 0.1 · g and {} · g². Divide each by 1 − its beta first."
    )
    case.predicted(
        [0.01, 0.01],
        otherwise="Follow one gradient g through the first step: both averages are corrected to g and g². Then divide.",
        mistakes=[
            ([0.00001, 10.0], descent),
            ([0.00001, 10], descent),
            ([0.001, 1000.0], "Those are the gradients themselves. Adam divides each by its own size."),
            ([1.0, 1.0], "g divided by √g² is 1, that is right. By which number is it multiplied?"),
            ([0.001, 0.001], "Without the correction the first average is 0.1 · g. The correction divides by 1 − 0.9."),
            ([0.001 / 0.02**0.5] * 2, uncorrected.format(0.02)),
            ([0.0071] * 2, uncorrected.format(0.02)),
            ([0.0001, 100.0], "Those are the first averages, 0.1 · g. Correct them, then divide by √v."),
            ([1e-6, 1.0], "That is 0.01 · 0.1 · g. Correct the average, then divide by √v."),
            ([0.01, -0.01], "Both gradients are positive, so both weights move in the same direction."),
            ([-0.01, -0.01], "The size is right. How far is a distance: write it without a sign."),
            ([10.0, 0.00001], "You divided by the gradient twice. m is the gradient itself, and √v is its size."),
        ],
        tolerance=1e-6,
    )


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
    "inside": "Epsilon stands under the square root. Add it to the root.",
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


RUNS = (
    "labels at every token",
    "learning rate too high",
    "shuffled pair labels",
    "no warm-up",
    "frozen output layer",
)
DIAGNOSES = dict(zip("ABCDE", (RUNS[0], RUNS[1], RUNS[2], RUNS[3], RUNS[4]), strict=True))
LOOK_AT = {
    "A": "compare the training loss of A with its validation loss. What makes the training questions easier?",
    "B": "its losses look like those of D. Compare the learning rates, and what both runs say about pairs.",
    "C": "compare both tasks of C with the healthy run. One of them is learned, the other isn't.",
    "D": "its losses look like those of B. Which of the two starts at its highest learning rate?",
    "E": "compare E with the dotted line. A bias for each word is enough to reach it. What if that can't be learned?",
}


@exercise(
    "8.3",
    "Five patients",
    difficulty=2,
    minutes=10,
    kind="value",
    hints=(
        "Begin with the two easiest ones. In which run is the training loss far below the validation loss? "
        "In which run is one task learned as in the healthy run, and the other not at all?",
        "A bias for each word is enough to reach the dotted line: which run can't get down to it? For the last two, "
        "compare the last two columns of the table. With a warm-up, the learning rate at step 20 is far below the "
        "highest.",
    ),
)
def diagnose(case: Case) -> None:
    """All five letters; the first wrong one is told where to look."""
    case.doing = "You diagnosed five runs."
    case.is_a("the diagnosis", case.answer, dict, 'a dictionary like {"A": "no warm-up", "B": …}')
    given = {str(key).strip().upper(): value for key, value in case.answer.items()}
    missing = [letter for letter in DIAGNOSES if letter not in given]
    case.expect(not missing, f"But the dictionary has no fault for {', '.join(missing)}.")
    words = {name.lower(): name for name in RUNS}
    for letter, said in given.items():
        known = isinstance(said, str) and said.strip().lower() in words
        case.expect(known, f"But {letter} has {said!r}, and the possible faults are: {', '.join(RUNS)}.")
    twice = sorted({name for name in given.values() if list(given.values()).count(name) > 1})
    named = {letter: words[given[letter].strip().lower()] for letter in DIAGNOSES}
    right = [letter for letter, name in DIAGNOSES.items() if named[letter] == name]
    wrong = [letter for letter in DIAGNOSES if letter not in right]
    if wrong:
        count = f"{len(right)} of 5 are right." if right else "None is right yet."
        again = f" (And each fault occurs once: you have {twice[0]!r} more than once.)" if twice else ""
        case.fail(f"{count} You said {named[wrong[0]]!r} for {wrong[0]}: {LOOK_AT[wrong[0]]}{again}")
    case.close_with("All five are real runs, made by benchmarks/sick_runs.py.")
