"""GloVe's counts and loss: against plain loops, and against singular values where all weights are 1."""

import math
from collections import Counter

import torch
from torch.testing import assert_close

from bertedu.before.glove import Glove, cooccurrences, weighting

TEXT = [[3, 4, 5, 3, 4], [5, 3], [4], [5, 5, 5]]


def counted(window: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    words = torch.tensor([word for sentence in TEXT for word in sentence])
    sentences = torch.tensor([number for number, sentence in enumerate(TEXT) for _ in sentence])
    return cooccurrences(words, sentences, 6, window)


def test_a_pair_is_counted_for_both_sides_and_only_within_sentences():
    expected: Counter = Counter()
    for sentence in TEXT:
        for i, one in enumerate(sentence):
            for j, other in enumerate(sentence):
                if 0 < abs(i - j) <= 3:
                    expected[one, other] += 1 / abs(i - j)
    pairs, counts = counted()
    found = {tuple(pair.tolist()): count.item() for pair, count in zip(pairs, counts, strict=True)}
    assert found.keys() == expected.keys()
    assert all(math.isclose(found[pair], expected[pair], rel_tol=1e-6) for pair in found)


def test_the_weight_of_frequent_pairs_is_capped():
    assert_close(weighting(torch.tensor([100.0, 5000.0, 6.25])), torch.tensor([1.0, 1.0, (1 / 16) ** 0.75]))


def test_biases_and_logarithm_are_in_the_loss():
    torch.manual_seed(0)
    model, (pairs, counts) = Glove(6, 3), counted()
    total = 0.0
    for (i, j), count in zip(pairs.tolist(), counts.tolist(), strict=True):
        product = sum((model.first.weight[i, k] * model.second.weight[j, k]).item() for k in range(3))
        error = product + (model.first_bias.weight[i, 0] + model.second_bias.weight[j, 0]).item() - math.log(count)
        total += min(1.0, (count / 100) ** 0.75) * error**2
    assert_close(model.loss(pairs, counts).item(), total / len(pairs), rtol=1e-5, atol=0)


def test_training_reaches_the_least_squares():
    """With weights of 1 what D = 1 can fit beside the biases is the first singular direction (Eckart & Young 1936)."""
    torch.manual_seed(0)
    logs = torch.randn(5, 5, dtype=torch.float64)
    pairs = torch.cartesian_prod(torch.arange(5), torch.arange(5))
    counts = 1e6 * logs.flatten().exp()  # all far above the count that is enough
    centered = logs - logs.mean(dim=0) - logs.mean(dim=1, keepdim=True) + logs.mean()
    best = (torch.linalg.svdvals(centered)[1:] ** 2).sum() / 25  # what no product of two numbers can fit
    model = Glove(5, 1).double()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=500, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model.loss(pairs, counts)
        loss.backward()
        return loss

    optimizer.step(closure)
    assert_close(model.loss(pairs, counts).item(), best.item(), rtol=1e-3, atol=0)


def test_both_sets_of_vectors_are_added_up():
    model = Glove(6, 3)
    assert_close(model.word_vectors(), (model.first.weight + model.second.weight).detach())
