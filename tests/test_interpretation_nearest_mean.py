"""The nearest mean against a loop over all choices of the two vectors that are left out."""

import pytest
import torch

from bertedu.errors import UserError
from bertedu.interpretation.nearest_mean import nearest_mean_accuracy


def test_a_sentence_is_no_part_of_the_mean_that_it_is_compared_with():
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(9, 4, generator=generator)
    labels = ["b", "a", "b", "a", "a", "b", "b", "a", "a"]
    unit, shares = torch.nn.functional.normalize(vectors.double(), dim=-1), {"a": [], "b": []}
    for i, own in enumerate(labels):
        for j, other in enumerate(labels):
            if own == other:
                continue
            means = {x: sum(unit[k] for k in range(9) if labels[k] == x and k not in (i, j)) for x in "ab"}
            cosines = {x: float(torch.cosine_similarity(unit[i], mean, dim=0)) for x, mean in means.items()}
            shares[own].append(cosines[own] > cosines[other])
    expected = sum(sum(right) / len(right) for right in shares.values()) / 2
    assert nearest_mean_accuracy(vectors, labels) == pytest.approx(expected)
    assert nearest_mean_accuracy(torch.ones(4, 3), [1, 2, 1, 2]) == 0.5, "a tie counts half"
    assert nearest_mean_accuracy(torch.tensor([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1]]), [0, 0, 1, 1]) == 1


@pytest.mark.parametrize("labels", [["a"] * 4, ["a", "b", "c", "a"], ["a", "b", "b", "b"]])
def test_a_mean_of_no_sentence_is_refused(labels):
    with pytest.raises(UserError, match="two labels, each of them at least twice"):
        nearest_mean_accuracy(torch.randn(4, 3), labels)
