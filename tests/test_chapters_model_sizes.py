"""The pictures of sizes: boxes to scale, points where they belong, and words that say the same."""

import pytest

from bertedu.chapters.ch16_albert_and_distilbert.model_sizes import Stack, size_and_work, stacks
from bertedu.errors import UserError


def test_boxes_are_to_scale():
    picture = stacks({"large": Stack(20_000_000, 5_000_000, 3, faint=(1,), remark="half"), "small": Stack(4, 4, 1)})
    boxes = picture.figure.axes[0].patches
    assert [round(box.get_height(), 6) for box in boxes[:4]] == [20, 5, 5, 5]
    assert [round(box.get_y(), 6) for box in boxes[:4]] == [0, 20, 25, 30]
    assert [box.get_alpha() for box in boxes[1:4]] == [1.0, 0.35, 1.0]
    assert "large, 35 million: embeddings of 20 and 3 layers (half)" in picture.alt
    assert "1 layer." in picture.alt


def test_shared_layers_count_as_full_work():
    """Work is what runs: 12·L·D² for L layers, however few of them are stored."""
    picture = size_and_work({"BERT": (108, 12, 768), "ALBERT": (12, 12, 768)}, "ALBERT")
    (x, y), (other_x, other_y) = ((line.get_xdata()[0], line.get_ydata()[0]) for line in picture.figure.axes[0].lines)
    assert (x, other_x) == (108, 12)
    assert y == other_y == pytest.approx(12 * 12 * 768**2 / 1e6)
    assert "ALBERT 12 million, 85 million" in picture.alt


@pytest.mark.parametrize("draw", [stacks, lambda models: size_and_work(models, "A")])
def test_nothing_to_draw_is_refused(draw):
    with pytest.raises(UserError, match="no model to draw"):
        draw({})
