"""Exercise 3.2: Attention in four lines."""

import re
from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

from bertedu.chapters.ch03_self_attention.exercises.shared import is_shaped
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise
from bertedu.course.raising import own_line
from bertedu.model.attention import attend


@exercise(
    "3.2",
    "Attention in four lines",
    difficulty=2,
    minutes=15,
    without=("scaled_dot_product", "multi_head_attention", "attend"),
    hints=(
        "One query is compared with all keys: which axis of the scores holds the keys?",
        "scores = query @ key.transpose(-2, -1), then divide, softmax(scores, dim=-1), then weights @ value.",
    ),
)
def attention(case: Case) -> None:
    case.causes['"dim"'] = "Along which axis of the scores lie the keys that one query chooses from?"
    query, key, value = (case.randn(2, 3, 5, 8) for _ in range(3))
    tried = "2 sentences of 5 tokens with 3 heads"
    result = case.call(query, key, value, tried=tried, function=without_raw_errors(case))
    values, weights = case.parts(result, "outputs", "weights")
    if is_shaped(values, [2, 3, 5, 5]) and is_shaped(weights, [2, 3, 5, 8]):
        case.fail("But the two come in the wrong order: return the outputs first, then the weights.")
    case.same_shape("outputs", values, [2, 3, 5, 8])
    case.same_shape("weights", weights, [2, 3, 5, 5], "Each of 5 tokens attends to each of 5 tokens.")
    if is_close(weights.mT, attend(query, key, value)[1], 1e-4):
        case.fail("But the weights are transposed: their rows should belong to the queries, their columns to the keys.")
    softmax_axis(case, weights)
    scores = query @ key.mT
    if is_close(weights, scores.softmax(-1), 1e-4):
        case.almost(
            "The weights are closer to 0 and 1 than they should be. A step that keeps the scores small is missing."
        )
    if is_close(weights, (scores / 8).softmax(-1), 1e-4):
        case.almost(
            "The weights are flatter than they should be: you divided by d. What is the standard deviation of a score?"
        )
    if is_close(weights, (scores / 5**0.5).softmax(-1), 1e-4):
        case.almost("You divided by √T, and T is the number of tokens. Scores grow with the length of a query, d.")
    if is_close(weights, (scores / 3**0.5).softmax(-1), 1e-4):
        case.almost("You divided by √H, and H is the number of heads. Scores grow with the length of a query, d.")
    if is_close(weights, (scores / 2).softmax(-1), 1e-4):
        case.almost("You divided by 2, as in the example by hand. There d was 4. What is d here?")
    expected_values, expected_weights = attend(query, key, value)
    wrong_way = attend(key, query, value)[1]
    swapped = {"These are the weights with query and key swapped: the rows belong to the queries.": wrong_way}
    case.close("weights", weights, expected_weights, "Check how the scores are computed.", mistakes=swapped)
    mistakes = {
        "The weights are transposed before the product: row i of the weights makes row i of the output.": (
            weights.mT @ value
        ),
        "The weights are right, but they average the keys. They should average the values.": weights @ key,
    }
    case.close("outputs", values, expected_values, "The weights are right. What do they average?", mistakes=mistakes)
    other_sizes(case)
    one = [case.randn(1, 1, 1, 4) for _ in range(3)]
    single, _ = case.parts(case.call(*one, tried="a single token"), "outputs", "weights")
    case.close("outputs", single, one[2], "A single token can attend only to itself.")
    case.gradient_flows(query, key, value, names=("query", "key", "value"), tried="2 sentences of 5 tokens")
    given_softmax(case)


def given_softmax(case: Case) -> None:
    """A softmax that is handed in: it hides the last key, and sees what it was called with."""
    query, key, value = (case.randn(2, 3, 4, 8) for _ in range(3))
    calls: list[tuple] = []

    def hides_the_last_key(scores: Tensor, dim: int | None = None) -> Tensor:
        calls.append((list(scores.shape), dim))
        bias = torch.zeros(scores.shape[-1:])
        bias[-1] = -torch.inf
        return (scores.detach() + bias).softmax(-1)

    case.causes["positional argument"] = (
        "It gets a fourth argument here: `def attention(query, key, value, softmax=torch.softmax)`."
    )
    tried = "4 tokens, with a softmax that hides the last key"
    result = case.call(query, key, value, hides_the_last_key, tried=tried)
    values, weights = case.parts(result, "outputs", "weights")
    case.expect(
        calls,
        "But that softmax was never called.",
        "Call the function that you are given, `softmax(scores, dim=-1)`, and no other one.",
    )
    shape, dim = calls[0]
    case.expect(
        len(calls) == 1 and shape == [2, 3, 4, 4],
        f"But that softmax was called {len(calls)} times, first on the shape {shape}.",
        "Call it once, on the scores of all sentences and heads: [2, 3, 4, 4] here.",
    )
    case.expect(
        dim in (-1, 3),
        f"But that softmax was called with dim = {dim}.",
        "Tell it the axis of the keys: softmax(scores, dim=-1).",
    )
    bias = torch.tensor([0.0, 0.0, 0.0, -torch.inf])
    expected_values, expected_weights = attend(query, key, value, bias)
    given = "It was called on other numbers than the divided scores, or its result was changed afterwards."
    case.close("weights", weights, expected_weights, given)
    case.close("outputs", values, expected_values, "The weights are right. What do they average?")


def softmax_axis(case: Case, weights: Tensor) -> None:
    """Rows of weights that do not sum to 1: over which axis did softmax run?"""
    rows, columns = weights.sum(-1), weights.sum(-2)
    if not is_close(rows, torch.ones_like(rows), 1e-4):
        came = f"But row 0 of the weights sums to {rows[0, 0, 0]:.2f}, and every row should sum to 1"
        if is_close(columns, torch.ones_like(columns), 1e-4):
            case.fail(
                came + ".",
                "Your columns sum to 1, so softmax runs over the queries. "
                "Which axis holds the keys that one query chooses from?",
            )
        if is_close(weights.sum(1), torch.ones_like(weights.sum(1)), 1e-4):
            case.fail(came + ".", "Your softmax runs over the heads: each head should have weights of its own.")
        if is_close(weights.sum(0), torch.ones_like(weights.sum(0)), 1e-4):
            case.fail(came + ".", "Your softmax runs over the batch, so one sentence would depend on the others.")
        case.fail(came + ". Is there a softmax, and does anything change its result afterwards?")


def other_sizes(case: Case) -> None:
    """Other sizes than in the first call: a divisor that is a constant shows."""
    query, key, value = (case.randn(1, 2, 3, 2) for _ in range(3))
    tried = "1 sentence of 3 tokens with 2 heads of size 2"
    result = case.call(query, key, value, tried=tried, function=without_raw_errors(case))
    values, weights = case.parts(result, "outputs", "weights")
    constant = "You divide by the same number as at d = 8. Compute it from the shape of query or key."
    mistakes = {constant: (query @ key.mT / 8**0.5).softmax(-1)}
    expected_values, expected_weights = attend(query, key, value)
    advice = "It was right for d = 8. What should depend on the shapes?"
    case.close("weights", weights, expected_weights, advice, mistakes=mistakes)
    case.close("outputs", values, expected_values, advice)


def without_raw_errors(case: Case) -> Callable:
    """The answer, with torch's sentence about sizes replaced where the cause is known: key.T."""

    @wraps(case.answer)
    def run(*inputs: Tensor) -> object:
        try:
            return case.answer(*inputs)
        except RuntimeError as error:
            if re.search(r"\w\.T\b", own_line(error) or ""):
                case.fail(
                    f"But {case.name} stopped, because .T reverses all axes: [B, H, T, d] becomes [d, T, H, B].",
                    "Swap only the last two axes. Which method of a tensor swaps two axes that you name?",
                )
            if "size of tensor" in str(error) or "batch2 tensor" in str(error):
                case.fail(
                    f"But {case.name} stopped, because the sizes of two tensors do not fit: {str(error).rstrip('.')}.",
                    f"It happened in your line: {own_line(error)}",
                    "The scores are query @ key with the last two axes of key swapped, T and d, and no others; "
                    "weights @ value needs no swap. Which shapes do your two tensors have?",
                )
            raise

    return run
