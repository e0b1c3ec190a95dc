"""The pictures of notebook 19: what is drawn is what is told."""

import pytest
import torch

from bertedu.chapters.ch19_modernbert.modernbert_pictures import (
    ladder,
    layers_compared,
    mask_panels,
    packed_batch,
    schedules,
    wavelengths,
)


def test_a_new_part_is_told_from_an_old_one():
    alt = layers_compared().alt
    assert "new, GeGLU" in alt and "new, words" not in alt and "*" not in alt


def test_a_wavelength_is_told_of_its_theta():
    picture = wavelengths({100: torch.tensor([6.28, 62.8]), 900: torch.tensor([6.28, 188.5])}, {128: "a window"})
    assert "θ 100 from 6 to 63; θ 900 from 6 to 188 positions. Marked: 128." in picture.alt
    assert len(picture.figure.axes[0].lines) == 3


def test_a_mask_counts_what_is_seen():
    picture = mask_panels({"all": torch.ones(4, 4), "own": torch.eye(4).bool()})
    assert "all, 16 of 16 pairs; own, 4 of 16 pairs" in picture.alt


def test_a_packed_text_is_drawn_at_its_place():
    """Three texts: bars begin at 0 in the rectangle and at their offsets in the packed sequence."""
    picture = packed_batch([2, 4, 1])
    rows, masks = picture.figure.axes
    packed = [bars.get_paths()[0].vertices[0].tolist() for bars in rows.collections[2::3]]
    assert [x for x, _ in packed] == [0, 2, 6]
    assert "a rectangle of 12 tokens" in picture.alt and "7 tokens without gaps" in picture.alt
    assert "21 of 49 pairs" in masks.get_title()


def test_the_trapezoid_falls_at_its_end():
    picture = schedules(warmup=5, decay=20)
    linear, trapezoid = (line.get_ydata() for line in picture.figure.axes[0].lines)
    assert trapezoid[795] == 1 and trapezoid[-1] == 0 and trapezoid[850] == pytest.approx(0.5, abs=0.01)
    assert linear[50] == pytest.approx(1) and linear[525] == pytest.approx(0.5, abs=0.01)
    assert "level until 80 %" in picture.alt


def test_a_run_stands_above_its_model():
    runs = [
        {"model": "BERT", "learning_rate": 0.1, "loss": 4.0},
        {"model": "+ RoPE", "learning_rate": 0.1, "loss": 2.0},
        {"model": "+ RoPE", "learning_rate": 0.3, "loss": 1.0},
    ]
    picture = ladder(runs)
    low, high = picture.figure.axes[0].lines
    assert [round(x) for x in low.get_xdata()] == [0, 1] and list(low.get_ydata()) == [4.0, 2.0]
    assert [round(x) for x in high.get_xdata()] == [1] and "RoPE 1.0 to 2.0" in picture.alt
