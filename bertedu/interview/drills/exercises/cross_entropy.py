"""Whiteboard drill: cross-entropy with labels that are ignored, by log-sum-exp."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy as reference

from bertedu.course.case import Case
from bertedu.interview.drills.drill import Drill

TASK = """
Write `cross_entropy(logits, labels, ignore_index=-100)`: the loss of BERT's masked language model.

    logits   [N, V]   a score for each of V classes
    labels   [N]      the right class, or ignore_index where there is none

Return one number (a tensor without axes): the mean of -log softmax(logits) at the right class, over those positions
whose label is not ignore_index. If every label is ignored, return 0, and not nan.

It has to be exact for logits of ±1000 too: subtract the log of the sum of exponentials, computed safely.

Allowed: max, exp, log, sum, logsumexp, indexing. Not allowed: torch's cross_entropy, nll_loss, log_softmax.
"""

STUB = """
import torch


def cross_entropy(logits, labels, ignore_index=-100):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def cross_entropy(logits, labels, ignore_index=-100):
    kept = labels != ignore_index
    logits, labels = logits[kept], labels[kept]  # [K, V] and [K]
    highest = logits.max(dim=-1, keepdim=True).values
    log_sum = highest[:, 0] + (logits - highest).exp().sum(dim=-1).log()
    losses = log_sum - logits[torch.arange(len(labels)), labels]
    return losses.sum() / max(len(labels), 1)
"""

NO_CLASS = "A label of -100 is no class: leave these positions out before you index with the labels."
LABELS = torch.tensor([3, -100, 0, 6, -100, -100, 2, 6])


def examine(case: Case) -> None:
    """Without ignored labels, then with them; another ignore_index; large logits; all ignored; the gradient."""
    case.causes = {
        "out of bounds": NO_CLASS,
        "index out of range": NO_CLASS,
    }
    logits, all_kept = 2 * case.randn(8, 7), case.randint(0, 7, (8,))
    got = case.call(logits, all_kept, tried="8 positions, 7 classes, no label ignored")
    advice = "For each position: logsumexp of its logits minus the logit of its label; then the mean."
    one_number(case, got, reference(logits, all_kept), advice, plain_mistakes(logits, all_kept))
    got = case.call(logits, LABELS, tried="8 positions of which three labels are -100")
    advice = "Without ignored labels it was right. Which positions may count, in the sum and in what it is divided by?"
    one_number(case, got, reference(logits, LABELS), advice, ignoring_mistakes(logits))
    other = LABELS.masked_fill(LABELS == -100, 5)
    got = case.call(logits, other, 5, tried="an ignore_index of 5")
    constant = {"You leave out -100, whatever ignore_index is.": reference(logits, other)}
    negative = {"You leave out negative labels. The argument says which label is ignored.": reference(logits, other)}
    one_number(case, got, reference(logits, other, ignore_index=5), "Use the argument.", constant | negative)
    large(case)
    nothing(case, logits)
    own = case.answer
    case.answer = lambda scores: own(scores, LABELS.clone())
    case.gradient_flows(logits, names=("logits",), tried="8 positions")
    case.answer = own


def one_number(case: Case, got: object, expected: Tensor, advice: str, mistakes: dict[str, Tensor]) -> None:
    """Not yet, unless the loss is the expected number."""
    if isinstance(got, Tensor) and got.ndim == 1 and len(got) in (5, 8):
        case.fail(f"But it returned {len(got)} numbers: take the mean over the positions.")
    if isinstance(got, float):
        case.fail("But it returned a float. A loss stays a tensor, so that it can be differentiated: no `.item()`.")
    case.close("the loss", got, expected, advice, mistakes=mistakes)


def plain_mistakes(logits: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """What known mistakes give where no label is ignored."""
    right, probabilities = reference(logits, labels), logits.softmax(-1)
    own = logits[torch.arange(8), labels]
    return {
        "The sign is wrong: a loss is minus the log of a probability.": -right,
        "This is the sum over the positions. The mean is asked for.": 8 * right,
        "You divide by all N·V logits. The mean is over the positions.": right / 7,
        "The exponentials run over the positions. The classes lie along the last axis.": (
            (logits.logsumexp(0)[labels] - own).mean()
        ),
        "Softmax runs over the positions. The classes lie along the last axis.": (
            -logits.log_softmax(0)[torch.arange(8), labels].mean()
        ),
        "This is the mean probability. Take its log, for each position, before the mean.": probabilities.gather(
            1, labels[:, None]
        ).mean(),
        "You take the log of a mean probability. Take the log of each first.": -(
            probabilities.gather(1, labels[:, None]).mean().log()
        ),
        "Softmax is taken twice: the inputs are logits, and log-sum-exp does it all.": reference(probabilities, labels),
        "The log-sum-exp is missing: this is only minus the mean logit of the labels.": -own.mean(),
        "The logit of the label is not subtracted: this is the mean log-sum-exp.": logits.logsumexp(-1).mean(),
        "This is in bits. The loss is in nats, with the natural logarithm.": right / torch.log(torch.tensor(2.0)),
    }


def ignoring_mistakes(logits: Tensor) -> dict[str, Tensor]:
    """What known mistakes give where labels are ignored."""
    kept = LABELS != -100
    right, count = reference(logits, LABELS), int(kept.sum())
    at_zero = reference(logits, LABELS.clamp_min(0))
    return {
        "The sum is right, but you divide by all positions. Divide by those that have a label.": right * count / 8,
        "The ignored positions count as class 0. They should count nowhere.": at_zero,
        "The ignored positions count as the last class, or as another that -100 points to. Leave them out.": (
            reference(logits, LABELS % 7)
        ),
        "The ignored positions count as class 0 in the sum, and are left out of the divisor.": at_zero * 8 / count,
        "The log-sum-exp of the ignored positions is still in the sum.": (
            (logits.logsumexp(-1).sum() - logits[kept, LABELS[kept]].sum()) / count
        ),
        "You set the logits of ignored positions to 0, so that each still costs log V.": (
            reference(logits * kept[:, None], LABELS.clamp_min(0))
        ),
        "The logits of ignored positions are 0, so that each still costs log V.": (
            reference(logits * kept[:, None], LABELS.clamp_min(0)) * 8 / count
        ),
    }


def large(case: Case) -> None:
    """Logits of ±1000, whose exponentials are infinite or 0."""
    logits = torch.tensor([[1000.0, 960.0, 0.0], [-1000.0, -1030.0, -1001.0]])
    labels = torch.tensor([1, 1])
    got = case.call(logits, labels, tried="logits of ±1000")
    case.is_a("the loss", got, Tensor | float, "a tensor with one number")
    if not bool(torch.as_tensor(got).isfinite().all()):
        case.fail(
            f"But the loss is {float(got):.3g}: e to the 1000 does not fit into float32, and e to the -1000 is 0.",
            "Subtract the largest logit of each position before exp, and add it again after log.",
        )
    advice = "Each position has a maximum of its own: max(dim=-1, keepdim=True). And a small constant inside log shows."
    case.close("the loss", got, reference(logits, labels), advice)


def nothing(case: Case, logits: Tensor) -> None:
    """All labels ignored: 0 in the forward pass, and no nan in the backward pass."""
    case.begin(f"I called {case.name} on labels that are all ignored, and asked for gradients.", "no label at all")
    leaf = logits.clone().requires_grad_()
    got = case.protected(case.answer, leaf, torch.full((8,), -100))
    case.expect(got is not None, f"But {case.name} returned None.")
    case.expect(
        not bool(torch.as_tensor(got).isnan().any()),
        "But the loss is nan, the result of 0 / 0: one batch without a label would make every weight nan.",
        "Divide by at least 1.",
    )
    case.close("the loss", got, torch.tensor(0.0), "Nothing is asked, so nothing is lost.")
    if isinstance(got, Tensor) and got.requires_grad:
        got.backward()
        gradient = torch.zeros(1) if leaf.grad is None else leaf.grad
        case.expect(
            gradient.isfinite().all(), "But the gradient of the logits is nan: 0 · nan is nan. Divide by at least 1."
        )


DRILL = Drill(
    name="cross-entropy",
    title="Cross-entropy by log-sum-exp",
    minutes=8,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="06",
    section="The loss, by hand",
    hints=(
        "-log softmax(z)[y] = logsumexp(z) - z[y]. Which positions take part, and by how many do you divide?",
        "kept = labels != ignore_index selects rows of both. logsumexp: m = max, then m + log Σ exp(z - m). Divide by "
        "max(number of kept, 1).",
    ),
    examine=examine,
    without=("cross_entropy", "nll_loss", "log_softmax"),
)
