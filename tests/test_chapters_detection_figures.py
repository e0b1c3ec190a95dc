"""What both models of ELECTRA got right, counted by hand."""

import math

import pytest
import torch

from bertedu.chapters.ch17_electra.detection_figures import detection_figures
from bertedu.family.electra_pair import PairOutput


def output_of(detector_logits: list[list[float]]) -> PairOutput:
    """Two texts of 4 and 3 real tokens. Two of four words are right; tokens 1 and 2 of the first text are replaced."""
    words = torch.tensor([[2.0, 0, 0], [0, 2, 0], [0, 0, 2], [2, 0, 0]])
    replaced = torch.tensor([[False, True, True, False], [False, False, False, True]])  # the last one is padding
    real = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]).bool()
    seen = torch.zeros(2, 4).long()
    return PairOutput(words, torch.tensor([0, 1, 0, 1]), seen, replaced, torch.tensor(detector_logits), real)


def test_padding_does_not_count_and_precision_is_not_recall():
    """Marked are tokens 1 and 3 of the first text, 0 of the second, and the padding, which has no part."""
    figures = detection_figures(output_of([[-1, 1, -1, 1], [1, -1, -1, 5]]))
    assert figures["generator right"] == 0.5
    assert figures["replaced"] == pytest.approx(2 / 7)
    assert figures["precision"] == pytest.approx(1 / 3)
    assert figures["recall"] == pytest.approx(1 / 2)


def test_the_weight_of_50_is_taken_off_the_detection_loss():
    output = output_of([[0, 0, 0, 0], [0, 0, 0, 9]])
    figures = detection_figures(output)
    assert figures["detection loss"] == pytest.approx(math.log(2), abs=1e-5)
    assert figures["MLM loss"] + 50 * figures["detection loss"] == pytest.approx(output.loss.item())


def test_a_discriminator_that_marks_nothing_has_figures_of_0():
    figures = detection_figures(output_of([[-1] * 4, [-1] * 4]))
    assert figures["precision"] == figures["recall"] == 0
