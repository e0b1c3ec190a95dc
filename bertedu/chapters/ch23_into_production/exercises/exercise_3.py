"""Exercise 23.3: The cheapest threshold."""

from numbers import Real

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


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
