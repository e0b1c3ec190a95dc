"""What widgets draw, without a widget: the lines of the attention explorer, and many dimensions in two."""

import re

import numpy as np
import pytest
import torch

from bertedu.visualization.widgets.context import in_two_dimensions
from bertedu.visualization.widgets.explorer import explorer_html


def test_the_threshold_drops_the_weak_and_draws_the_strong():
    weights = np.array([[[[0.5, 0.3, 0.2], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]]]])
    tokens = ["a", "b", "c"]
    for threshold, lines in ((0.0, 9), (0.25, 4), (0.5, 3), (0.95, 1)):
        assert explorer_html(weights, tokens, 1, 1, threshold, None).count("<line") == lines
    assert explorer_html(weights, tokens, 1, 1, 0.25, 0).count("<line") == 2


def test_lines_of_the_explorer_lead_from_left_to_right():
    weights = np.zeros((1, 1, 3, 3))
    weights[0, 0, 0, 2] = 1
    page = explorer_html(weights, ["a", "b", "c"], 1, 1, 0.5, None)
    (line,) = re.findall(r'<line x1="(\d+)" y1="([\d.]+)" x2="(\d+)" y2="([\d.]+)"', page)
    left, top, right, bottom = map(float, line)
    assert left < right and top < bottom


def test_the_two_dimensions_are_those_with_the_most_variance():
    generator = torch.Generator().manual_seed(0)
    flat = torch.randn(4, 3, 2, generator=generator) @ torch.randn(2, 10, generator=generator)
    common = torch.randn(1, 3, 10, generator=generator)  # what all sentences share at a layer is no difference
    points, kept = in_two_dimensions(flat + 50 * common)
    assert kept == pytest.approx(1)
    flat = flat - flat.mean(dim=0)
    gaps = [np.linalg.norm(vectors[:, None] - vectors[None], axis=-1) for vectors in (flat[:, 2].numpy(), points[:, 2])]
    assert gaps[1] == pytest.approx(gaps[0], abs=1e-3)
