"""Exercises of chapter 23: int8 by columns, a queue, a threshold by cost, and a digest that guards a vocabulary."""

from numbers import Real

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise

STEPS = 127  # of a positive int8 number


@exercise(
    "23.1",
    "One scale for each column",
    difficulty=2,
    minutes=10,
    hints=(
        "The largest absolute value of a column becomes 127. Which axis of [in, out] do you take the maximum over?",
        "weights.abs().amax(dim=…) has a number for each column. Keep it above 0, divide it by 127: the scales. "
        "Then divide the weights by them, round, and only then .to(torch.int8).",
    ),
)
def quantize_columns(case: Case) -> None:
    weights = case.randn(6, 4) * torch.tensor([0.1, 1.0, 10.0, 0.5])
    weights[2, 0], weights[3, 1] = -0.9, 5.0  # the largest of column 0 is negative
    result = case.call(weights, tried="a matrix of 6 rows and 4 columns")
    numbers, scales = case.parts(result, "integers", "scales")
    if isinstance(numbers, Tensor) and isinstance(scales, Tensor) and numbers.numel() == 4 and scales.numel() == 24:
        case.fail("But the first part has 4 numbers and the second 24: the integers come first, then the scales.")
    case.same_shape("integers", numbers, [6, 4])
    scales = scales_by_column(case, scales, weights)
    right = weights.abs().amax(dim=0) / STEPS
    mistakes = {
        "This is the largest value with its sign. In column 0 the largest absolute value is a negative weight.": (
            weights.amax(dim=0) / STEPS
        ),
        "That is the largest absolute value itself. It becomes 127: what is the step between two integers?": right
        * STEPS,
        "This is 1 / scale: weight ≈ scale · integer, so a larger weight needs a larger scale.": 1 / right,
        "An int8 number ends at 127: divided by this scale, the largest weight would be 128.": (right * STEPS / 128),
        "255 steps have to serve both signs: from -127 to 127. The largest absolute value becomes 127.": (
            right * STEPS / 255
        ),
        "The range from the smallest to the largest value belongs to a zero point. Here zero stays zero.": (
            (weights.amax(dim=0) - weights.amin(dim=0)) / 255
        ),
    }
    case.close("scales", scales, right, "The largest absolute value of a column becomes 127.", mistakes=mistakes)
    case.dtype("integers", numbers, torch.int8, "Four bytes a number are what we want to get rid of: .to(torch.int8).")
    exact = weights / right
    if not torch.equal(numbers, exact.round().to(torch.int8)):
        if torch.equal(numbers, exact.to(torch.int8)):
            case.almost("`.to(torch.int8)` cuts off the decimals: round first, or the error doubles.")
        case.fail("But numbers times scales is not as near to the weights as it could be: divide by the scale, round.")
    case.expect(not torch.equal(weights, numbers * scales), "But the numbers are not rounded.")
    small = torch.tensor([[0.0, 2e-4], [0.0, -1e-4]])
    result = case.call(small, tried="a matrix with a column of zeros and one of tiny weights")
    numbers, scales = case.parts(result, "integers", "scales")
    back = numbers.float() * scales.reshape(-1).float()
    case.expect(
        bool((scales > 0).all()) and bool(torch.isfinite(back).all()) and not bool(back[:, 0].any()),
        "But the scale of the column of zeros isn't above 0. Divided by 0, a zero is nan, and no rule says which int8 "
        "number that becomes.",
        "Keep scales away from 0, with clamp_min for example: zeros must come back as zeros.",
    )
    case.expect(
        numbers[0, 1].item() == STEPS,
        f"But the largest weight of the other column, 0.0002, became {numbers[0, 1].item()} and not 127.",
        "What keeps scales away from 0 must be far smaller than any weight.",
    )
    case.close_with("An outlier now costs its own column precision, and no other one.")


def scales_by_column(case: Case, scales: Tensor, weights: Tensor) -> Tensor:
    """The scales as [out]; one for all, or one a row, ends the check in words."""
    case.is_a("scales", scales, Tensor, "a tensor")
    rows, columns = weights.shape
    if scales.numel() == 1:
        case.fail("But there is one scale for the whole matrix: its largest weight decides for all columns.")
    if scales.numel() == rows:
        case.fail("But there is a scale for each row. Each output is computed from one column: that is where it fits.")
    case.expect(
        scales.numel() == columns, f"But there are {scales.numel()} scales, and {columns} columns: one for each."
    )
    return scales.reshape(-1)


@exercise(
    "23.2",
    "A queue at 90 %",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "First the utilization ρ: how much of each second is the server busy?",
        "The mean waiting time is ρ / (1 - ρ) times the time of one request. At ρ = 0.5 that is once 10 ms.",
    ),
)
def waiting(case: Case) -> None:
    case.predicted(
        90,
        otherwise="The utilization is 0.9. Put it into ρ / (1 - ρ), and multiply by the time of one request.",
        tolerance=0.01,
        mistakes=[
            (18, "Waiting does not grow in proportion: 1 - ρ goes towards 0. Put ρ = 0.9 into the formula."),
            (9, "9 is ρ / (1 - ρ), the number of times that one request takes. How many milliseconds is that?"),
            (100, "100 ms is what a client sees: waiting and its own 10 ms. Waiting alone was asked for."),
            (10, "That is the waiting time at 50 requests a second, or the time of one request."),
            (0.09, "The formula gives the unit that you put in: 10 ms, not 0.01 s."),
            (1, "Divide by what is free, 1 - ρ, which is 0.1."),
        ],
    )


def cost_at(threshold: float, probabilities: Tensor, labels: Tensor, false_alarm: float, miss: float) -> float:
    """What the decisions "alarm from this probability on" cost in all."""
    alarm, positive = probabilities >= threshold, labels.bool()
    return float(false_alarm * (alarm & ~positive).sum() + miss * (~alarm & positive).sum())


def candidates(probabilities: Tensor) -> list[float]:
    """A threshold for each way to decide: each probability, and one above all."""
    return [*probabilities.unique().tolist(), 1.1]


def cheapest(probabilities: Tensor, labels: Tensor, false_alarm: float, miss: float) -> float:
    """The candidate that costs least."""
    return min(candidates(probabilities), key=lambda t: cost_at(t, probabilities, labels, false_alarm, miss))


@exercise(
    "23.3",
    "The cheapest threshold",
    difficulty=2,
    minutes=12,
    hints=(
        "Between two neighboring probabilities no decision changes. So there are only N + 1 thresholds to try.",
        "For each candidate: where is an alarm, and where is a positive? Count the alarms without a positive and the "
        "positives without an alarm, each times its cost. One candidate must lie above 1: no alarm at all.",
    ),
)
def threshold_by_cost(case: Case) -> None:
    drawn = torch.rand(60, generator=case.generator)
    labels = (torch.rand(60, generator=case.generator) < drawn**3).long()  # certain of too much: not calibrated
    tries = [(drawn, labels, 1.0, 10.0), (drawn, labels, 5.0, 1.0), (drawn, labels, 1.0, 1.0)]
    for probabilities, truth, false_alarm, miss in tries:
        told = f"60 messages (costs {false_alarm:g} and {miss:g})"
        got = threshold_of(case, case.call(probabilities, truth, false_alarm, miss, tried=told))
        examine_cost(case, got, probabilities, truth, false_alarm, miss)
    few, no_alarm = torch.tensor([0.2, 0.6, 0.9]), "no alarm at all"
    for truth, words in ((torch.zeros(3), no_alarm), (torch.ones(3), "an alarm for each")):
        got = threshold_of(case, case.call(few, truth.long(), 1.0, 1.0, tried=f"3 messages where {words} is right"))
        spent = cost_at(got, few, truth, 1.0, 1.0)
        case.expect(not spent, f"But your threshold {got:g} costs {spent:g}, and {words} costs 0. Is it a candidate?")
    certain = torch.tensor([0.9, 0.99995, 1.0])  # softmax gives exactly 1 where the logits are far apart
    got = threshold_of(case, case.call(certain, torch.zeros(3).long(), 1.0, 1.0, tried="a probability of exactly 1"))
    spent = cost_at(got, certain, torch.zeros(3), 1.0, 1.0)
    case.expect(
        not spent, f"But at your threshold {got:g}, a probability of 1 is an alarm: >=. No alarm must be possible."
    )
    tied = torch.tensor([0.3, 0.3, 0.3, 0.8])
    for classes, false_alarm, miss in (([0, 0, 1, 1], 1.0, 5.0), ([1, 0, 0, 1], 5.0, 1.0)):
        truth = torch.tensor(classes)
        got = threshold_of(case, case.call(tied, truth, false_alarm, miss, tried="messages of equal probability"))
        examine_cost(case, got, tied, truth, false_alarm, miss)
    case.close_with("Chosen on validation. On the test set you only read what it costs.")


def threshold_of(case: Case, got: object) -> float:
    """What came back as a number."""
    if isinstance(got, Tensor) and got.numel() == 1:
        got = got.item()
    if not isinstance(got, Real) or isinstance(got, bool):  # numpy's numbers too
        case.fail("But the threshold should be a number: the probability from which on there is an alarm.")
    return float(got)


def examine_cost(
    case: Case, got: float, probabilities: Tensor, labels: Tensor, false_alarm: float, miss: float
) -> None:
    """Not yet, where another threshold is cheaper; a known wrong way is named."""

    def spent(threshold: float) -> float:
        return cost_at(threshold, probabilities, labels, false_alarm, miss)

    best = cheapest(probabilities, labels, false_alarm, miss)
    if spent(got) <= spent(best) + 1e-6:
        return
    came = f"But with your threshold {got:.3g} these cost {spent(got):g}, and {spent(best):g} is possible."
    known = {
        "The two costs are swapped: a false alarm is an alarm where nothing was.": cheapest(
            probabilities, labels, miss, false_alarm
        ),
        "That is the threshold with the fewest errors. The two kinds of errors cost differently.": cheapest(
            probabilities, labels, 1.0, 1.0
        ),
        "false_alarm / (false_alarm + miss) is right for calibrated probabilities. These aren't: try candidates.": (
            false_alarm / (false_alarm + miss)
        ),
        "That is the formula with the costs swapped, and it needs calibrated probabilities, too.": (
            miss / (false_alarm + miss)
        ),
        "0.5 knows nothing about costs.": 0.5,
        "Is there an alarm at a probability that equals the threshold? It says >=.": min(
            candidates(probabilities), key=lambda t: spent(t + 1e-6)
        ),
    }
    if got > 1.5 or got < -0.5:
        case.fail(
            came,
            "A threshold above 1 means no alarm at all: do you mean that? Or is it the cost, or a position in a list? "
            "A threshold is a probability.",
        )
    for sentence, threshold in known.items():
        if is_close(torch.tensor(got), torch.tensor(threshold), 1e-4):
            case.fail(came, sentence)
    case.fail(came, "Compute the cost of each candidate, over all messages, and keep the cheapest.")


BASE = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{c}" for c in "abcdefgh"), "ab", "cé", "–"]
BASE += [f"word{number}" for number in range(3000)]
A, B, CONTINUED_A, ACCENT, MIDDLE = 5, 6, 13, 22, 1500  # ids


def changed(*swaps: tuple[int, str]) -> list[str]:
    """The vocabulary with other tokens at some ids."""
    return [dict(swaps).get(number, token) for number, token in enumerate(BASE)]


class Elsewhere(str):
    """A token as in another process: equal, with another hash()."""

    def __hash__(self) -> int:
        return hash(f"elsewhere {self!s}")


# Two vocabularies that must differ, and what to say where they don't.
PAIRS = (
    (BASE, changed((MIDDLE, "zz")), "a token in the middle is another one."),
    (BASE, changed((A, "b"), (B, "a")), "two tokens have swapped their ids. Does it forget the order?"),
    (BASE, changed((len(BASE) - 1, "zz")), "a token near the end is another one."),
    (BASE, changed((ACCENT, "ce")), "'cé' became 'ce'. Encode as UTF-8, all of it."),
    (BASE, changed((ACCENT, "cè")), "'cé' became 'cè'. Encode as UTF-8, all of it."),
    (BASE, changed((ACCENT, "ce\u0301")), "'é' became 'e' and an accent: two characters. Keep tokens as they are."),
    (BASE, changed((A, "A")), "'a' became 'A'. lower_case says what happens to texts: keep tokens as they are."),
    (BASE, changed((A, "##a"), (CONTINUED_A, "a")), "'a' and '##a' have swapped their ids."),
    (BASE, changed((A, "ab"), (B, "")), "'a', 'b' became 'ab', '': joined without a border they are the same."),
    *(
        (changed((A, f"a{c}"), (B, "b")), changed((A, "a"), (B, f"{c}b")), f"{said} can be a token's part: no border.")
        for c, said in ((",", "a comma"), ("|", "|"), (" ", "a space"), ("\t", "a tab"))
    ),
    (BASE, [*BASE, "a"], "a token was added at the end. Is it a set?"),
)


@exercise(
    "23.4",
    "A digest that notices",
    difficulty=3,
    minutes=12,
    hints=(
        "What must change the digest? Another token, another order, another border between tokens, another casing. "
        "Which of them does the broken version throw away?",
        "Write it all down so that the borders stay visible, as JSON does. Its bytes go into hashlib.sha256.",
    ),
)
def vocabulary_digest(case: Case) -> None:
    told = f"a vocabulary of {len(BASE):,} tokens"
    first = case.call(list(BASE), True, tried=told)
    case.is_a("the digest", first, str, "a text (hexdigest gives one)")
    case.expect(
        len(first) >= 16 and len(set(first)) > 4,
        f"But the digest has only {len(first)} characters: a length or a sum collides at once. Use hashlib.",
    )
    case.expect(
        not first.lstrip("-").isdigit(),
        "But this looks like Python's hash(): for texts it is another number in each process (PYTHONHASHSEED).",
        "A digest that was stored at export must be the same in the service. hashlib has such functions.",
    )
    case.expect(case.call(list(BASE), True, tried=told) == first, "But the second call gives another digest.")
    case.expect(
        case.protected(case.answer, [Elsewhere(token) for token in BASE], True) == first,
        "But in another process the digest would be another one: Python's hash(), and with it the order of a set, "
        "differ there (PYTHONHASHSEED). hashlib has functions that don't.",
    )
    case.begin(f"I called {case.name} on pairs of vocabularies.", "pairs of vocabularies")
    for *pair, sentence in PAIRS:
        one, other = (case.protected(case.answer, list(tokens), True) for tokens in pair)
        case.expect(one != other, f"But the digests of two vocabularies are the same: {sentence}")
    case.expect(
        case.protected(case.answer, list(BASE), False) != first,
        "But one tokenizer makes texts lower-case and the other doesn't: same digest, other ids.",
    )
    case.close_with(
        "Written at export, compared at the start: it keeps a service with a wrong vocabulary from answering."
    )
