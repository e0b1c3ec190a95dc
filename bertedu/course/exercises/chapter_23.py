"""Exercises of chapter 23: int8 by columns, a queue, a threshold by cost, and a digest that guards a vocabulary."""

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
        "scales = weights.abs().amax(dim=0).clamp_min(1e-8) / 127, then divide, round, and only then .to(torch.int8).",
    ),
)
def quantize_columns(case: Case) -> None:
    weights = case.randn(6, 4) * torch.tensor([0.1, 1.0, 10.0, 0.5])
    weights[2, 0], weights[3, 1] = -0.9, 5.0  # the largest of column 0 is negative
    result = case.call(weights, tried="a matrix of 6 rows and 4 columns")
    numbers, scales = case.parts(result, "numbers", "scales")
    case.same_shape("numbers", numbers, [6, 4])
    scales = scales_by_column(case, scales, weights)
    right = weights.abs().amax(dim=0) / STEPS
    mistakes = {
        "This is the largest value with its sign. In column 0 the largest absolute value is a negative weight.": (
            weights.amax(dim=0) / STEPS
        ),
        "An int8 number ends at 127: divided by this scale, the largest weight would be 128.": (right * STEPS / 128),
        "255 steps have to serve both signs: from -127 to 127. The largest absolute value becomes 127.": (
            right * STEPS / 255
        ),
        "The range from the smallest to the largest value belongs to a zero point. Here zero stays zero.": (
            (weights.amax(dim=0) - weights.amin(dim=0)) / 255
        ),
    }
    case.close("scales", scales, right, "The largest absolute value of a column becomes 127.", mistakes=mistakes)
    case.dtype("numbers", numbers, torch.int8, "Four bytes a number are what we want to get rid of: .to(torch.int8).")
    exact = weights / right
    if not torch.equal(numbers, exact.round().to(torch.int8)):
        if torch.equal(numbers, exact.to(torch.int8)):
            case.almost("`.to(torch.int8)` cuts off the decimals: round first, or the error doubles.")
        case.fail("But numbers times scales is not as near to the weights as it could be: divide by the scale, round.")
    case.expect(not torch.equal(weights, numbers * scales), "But the numbers are not rounded.")
    numbers, scales = case.parts(
        case.call(torch.tensor([[0.0, 2.0], [0.0, -1.0]]), tried="a matrix whose first column is all zeros"),
        "numbers",
        "scales",
    )
    back = numbers.float() * scales.reshape(-1).float()
    case.expect(
        bool((scales > 0).all()) and bool(torch.isfinite(back).all()) and not bool(back[:, 0].any()),
        "But the scale of that column is 0, and 0 / 0 is nan. Which int8 number that becomes, no rule says.",
        "Keep scales away from 0, with clamp_min for example: zeros must come back as zeros.",
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
        "For each candidate: alarm = probabilities >= t; cost = c_fp · (alarm and not positive) + c_fn · (positive and "
        "no alarm). Return the candidate with the lowest sum. Don't forget one above all probabilities.",
    ),
)
def threshold_by_cost(case: Case) -> None:
    drawn = torch.rand(60, generator=case.generator)
    labels = (torch.rand(60, generator=case.generator) < drawn**3).long()  # certain of too much: not calibrated
    tries = [(drawn, labels, 1.0, 10.0), (drawn, labels, 5.0, 1.0), (drawn, labels, 1.0, 1.0)]
    for probabilities, truth, false_alarm, miss in tries:
        told = f"60 messages, a false alarm at {false_alarm:g} and a miss at {miss:g}"
        got = threshold_of(case, case.call(probabilities, truth, false_alarm, miss, tried=told))
        examine_cost(case, got, probabilities, truth, false_alarm, miss)
    few = torch.tensor([0.2, 0.6, 0.9])
    for truth, words in ((torch.zeros(3), "no alarm at all"), (torch.ones(3), "an alarm for each")):
        got = threshold_of(case, case.call(few, truth.long(), 1.0, 1.0, tried=f"3 messages where {words} is right"))
        spent = cost_at(got, few, truth, 1.0, 1.0)
        case.expect(not spent, f"But your threshold {got:g} costs {spent:g}, and {words} costs 0. Is it a candidate?")
    tied = torch.tensor([0.3, 0.3, 0.3, 0.8])
    truth = torch.tensor([0, 0, 1, 1])
    got = threshold_of(case, case.call(tied, truth, 1.0, 5.0, tried="messages of equal probability"))
    examine_cost(case, got, tied, truth, 1.0, 5.0)
    case.close_with("Chosen on validation. On the test set you only read what it costs.")


def threshold_of(case: Case, got: object) -> float:
    """What came back as a number."""
    if isinstance(got, Tensor) and got.numel() == 1:
        got = got.item()
    if not isinstance(got, int | float) or isinstance(got, bool):
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
        "c_fp / (c_fp + c_fn) is right for calibrated probabilities. These are not: try the candidates.": (
            false_alarm / (false_alarm + miss)
        ),
        "0.5 knows nothing about costs.": 0.5,
        "Is there an alarm at a probability that equals the threshold? It says >=.": min(
            candidates(probabilities), key=lambda t: spent(t + 1e-6)
        ),
    }
    if got > 1.5 or got < -0.5:
        case.fail(came, "Is that the cost, or a position in a list? A threshold is a probability.")
    for sentence, threshold in known.items():
        if is_close(torch.tensor(got), torch.tensor(threshold), 1e-4):
            case.fail(came, sentence)
    case.fail(came, "Compute the cost of each candidate, over all messages, and keep the cheapest.")


BASE = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{c}" for c in "abcdefgh"), "ab", "cé"]


def changed(*swaps: tuple[int, str]) -> list[str]:
    """The vocabulary with other tokens at some ids."""
    tokens = list(BASE)
    for number, token in swaps:
        tokens[number] = token
    return tokens


@exercise(
    "23.4",
    "A digest that notices",
    difficulty=3,
    minutes=12,
    hints=(
        "What must change the digest? Another token, another order, another border between tokens, another casing. "
        "Which of them does the broken version throw away?",
        "json.dumps([list(tokens), lower_case]) writes all of it down, borders included. Its bytes go into sha256.",
    ),
)
def vocabulary_digest(case: Case) -> None:
    told = "a vocabulary of 23 tokens"
    first = case.call(list(BASE), True, tried=told)
    case.is_a("the digest", first, str, "a text (hexdigest gives one)")
    case.expect(
        len(first) >= 16 and len(set(first)) > 4,
        f"But the digest has only {len(first)} characters: a length or a sum collides at once. Use hashlib.",
    )
    if first.lstrip("-").isdigit():
        case.fail(
            "But this looks like Python's hash(): for texts it is another number in each process (PYTHONHASHSEED).",
            "A digest that was stored at export must be the same in the service. hashlib has such functions.",
        )
    case.expect(case.call(list(BASE), True, tried=told) == first, "But the second call gives another digest.")
    swapped = changed((5, "b"), (6, "a"))
    case.begin(f"I called {case.name} on two vocabularies.", "pairs of vocabularies")
    for tokens, lower_case, sentence in (
        (swapped, True, "But two tokens have swapped their ids, and the digest is the same. Does it forget the order?"),
        (changed((21, "zz")), True, "But a token near the end is another one, and the digest is the same."),
        (changed((22, "ce")), True, "But 'cé' became 'ce', and the digest is the same. Encode as UTF-8, all of it."),
        (changed((5, "ab"), (6, "")), True, "But 'a', 'b' became 'ab', '': joined without a border they are the same."),
        ([*BASE, "a"], True, "But a token was added at the end, and the digest is the same. Is it a set?"),
        (BASE, False, "But one tokenizer makes texts lower-case and the other doesn't: same digest, other ids."),
    ):
        other = case.protected(case.answer, list(tokens), lower_case)
        case.expect(other != first, sentence)
    case.close_with("Written at export, compared at the start: a service with a wrong vocabulary never says 200.")
