"""Pictures: what is drawn, what is said in words, and what lands in the file."""

import base64
import errno
import os

import matplotlib.pyplot
import numpy as np
import pytest
import torch
from support.small_runs import lines

from bertedu.errors import UserError
from bertedu.visualization import (
    attention_grid,
    attention_heatmap,
    attention_lines,
    prediction_bars,
    training_curves,
)
from bertedu.visualization.attention import describe_grid, habit

TOKENS = ["[CLS]", "the", "cat", "[SEP]"]


def attend_to(*targets: int) -> torch.Tensor:
    """[T, T]: token i gives 0.7 of its attention to targets[i], the rest to all alike."""
    weights = torch.full((len(targets), len(targets)), 0.3 / len(targets))
    weights[range(len(targets)), list(targets)] += 0.7
    return weights


def test_rows_of_a_heat_map_are_queries_and_columns_keys():
    weights = attend_to(2, 2, 0, 3)
    picture = attention_heatmap(weights, TOKENS, "layer 1, head 1")
    axes = picture.figure.axes[0]
    assert np.allclose(axes.images[0].get_array(), weights)
    assert [label.get_text() for label in axes.get_yticklabels()] == TOKENS
    assert axes.get_xlabel() == "attends to"
    assert picture.figure.axes[1].get_ylabel() == "attention weight"
    assert "the attends most to cat (77%)" in picture.alt and "cat attends most to [CLS]" in picture.alt


def test_a_grid_shows_every_head_in_its_place():
    weights = torch.stack(
        [torch.stack([attend_to(0, 1, 2, 3), attend_to(1, 2, 3, 3)]), torch.stack([attend_to(0, 0, 1, 2)] * 2)]
    )
    picture = attention_grid(weights, TOKENS)
    assert len(picture.figure.axes) == 4
    for axes, head in zip(picture.figure.axes, weights.flatten(0, 1), strict=True):
        assert np.allclose(axes.images[0].get_array(), head)
    assert "layer 1 head 1 77% on the token itself" in picture.alt
    assert "layer 1 head 2 58% on the token after" in picture.alt
    assert "layer 2 head 1 58% on the token before" in picture.alt


def test_special_tokens_count_as_special():
    assert habit(attend_to(3, 3, 0, 0).numpy(), TOKENS) == "85% on [CLS] and [SEP]"
    assert habit(attend_to(3, 3, 0, 0).numpy(), ["<s>", *TOKENS[1:3], "</s>"]) == "85% on <s> and </s>"


def test_the_mask_of_another_member_is_called_by_its_name():
    picture = prediction_bars("<mask> <mask>", [[("cat", 0.6)], [("sat", 0.5)]])
    assert [axes.get_title(loc="left") for axes in picture.figure.axes] == ["<mask> number 1", "<mask> number 2"]


def test_a_model_with_many_heads_is_told_shortly():
    text = describe_grid(torch.full((12, 12, 4, 4), 0.25).numpy(), TOKENS)
    assert "all 144 attention heads" in text and "the first four layers and heads are told" in text and len(text) < 1500


def test_lines_lead_from_the_left():
    picture = attention_lines(attend_to(2, 2, 2, 2), TOKENS)
    axes = picture.figure.axes[0]
    thickest = max(axes.get_lines(), key=lambda line: line.get_linewidth())
    assert list(thickest.get_xdata()) == [0, 1] and thickest.get_ydata()[1] == 2
    left = {text.get_text(): text.get_position() for text in axes.texts if text.get_ha() == "right"}
    assert left["cat"][1] == 2 and left["[CLS]"][1] == 0


@pytest.mark.parametrize("draw", [attention_heatmap, attention_lines, attention_grid])
def test_weights_of_another_text_are_refused(draw):
    shape = (1, 2, 5, 5) if draw is attention_grid else (5, 5)
    with pytest.raises(UserError, match=r"shape \[.*5, 5\] and there are 4 tokens"):
        draw(torch.ones(shape), TOKENS)


def test_curves_tell_validation_from_training_and_draw_baselines():
    picture = training_curves(lines(), {"mlm_accuracy": {"n-gram, both sides": 0.35}})
    panel = next(axes for axes in picture.figure.axes if axes.get_title(loc="left") == "Masked words: accuracy")
    curves = {line.get_label(): line for line in panel.get_lines()}
    assert list(curves["training"].get_xdata()) == list(range(50, 501, 50))
    assert list(curves["validation"].get_xdata()) == list(range(51, 502, 50))
    assert list(curves["training"].get_ydata()) == [step / 1500 for step in range(50, 501, 50)]
    assert any(set(line.get_ydata()) == {0.35} for line in panel.get_lines())
    assert [text.get_text() for text in panel.texts] == ["n-gram, both sides"]
    assert "Masked words: accuracy, training: from 3.3% to 33.3%" in picture.alt
    assert "n-gram, both sides: 35.0%" in picture.alt


def test_a_figure_that_is_not_a_number_does_not_break_the_curves():
    picture = training_curves([{"step": 5, "mlm_loss": float("nan")}, {"step": 10, "mlm_loss": 3.0}])
    assert "training: from 3.00 to 3.00" in picture.alt


def test_curves_of_nothing_are_refused():
    for nothing in ([], [{"step": 3}]):
        with pytest.raises(UserError, match="no figures to draw"):
            training_curves(nothing)


def test_bars_stand_in_the_order_of_their_words():
    picture = prediction_bars("the [MASK] .", [[("cat", 0.6), ("dog", 0.3)]])
    (axes,) = picture.figure.axes
    assert [bar.get_width() for bar in axes.patches] == [0.6, 0.3]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cat", "dog"]
    assert axes.yaxis_inverted(), "the best answer belongs on top"
    assert picture.alt == "The model's guesses for 'the [MASK] .': cat 60.0%, dog 30.0%."


def test_two_masks_have_two_panels():
    picture = prediction_bars("[MASK] [MASK]", [[("cat", 0.6)], [("sat", 0.5), ("is", 0.1)]])
    assert len(picture.figure.axes) == 2 and "mask 2: sat 50.0%, is 10.0%" in picture.alt
    with pytest.raises(UserError, match="no answers"):
        prediction_bars("the", [])


def test_dollar_signs_are_not_read_as_formulas():
    weights = torch.eye(3)
    for draw in (attention_heatmap, attention_lines):
        draw(weights, ["$", "\\frac", "$x_"], "$ $").png()
    prediction_bars("$[MASK]$ \\frac", [[("$", 0.5), ("$\\", 0.2)]]).png()


def test_pictures_do_not_pile_up_in_pyplot():
    before = matplotlib.pyplot.get_fignums()
    attention_heatmap(attend_to(0, 1, 2, 3), TOKENS).png()
    assert matplotlib.pyplot.get_fignums() == before


def test_a_notebook_shows_words_for_a_picture():
    picture = prediction_bars("the [MASK] .", [[("cat", 0.6)]])
    data, metadata = picture._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == metadata["image/png"]["alt"] == picture.alt
    assert 'alt="The model&#x27;s guesses' in picture.html()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_saved_picture_keeps_its_words(suffix, tmp_path):
    path = tmp_path / f"bars{suffix}"
    prediction_bars("the [MASK] .", [[("cat", 0.6)]]).save(path)
    assert suffix == ".pdf" or b"cat 60.0%" in path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_name_that_no_program_opens_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"bars\.txt: a picture is saved as one of \.png"):
        prediction_bars("the [MASK] .", [[("cat", 0.6)]]).save(tmp_path / "bars.txt")


def test_a_full_disk_leaves_the_picture_of_before(tmp_path, monkeypatch):
    path = tmp_path / "bars.png"
    path.write_bytes(b"as before")

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"bars\.png could not be written \(No space left on device\)"):
        prediction_bars("the [MASK] .", [[("cat", 0.6)]]).save(path)
    assert path.read_bytes() == b"as before" and len(list(tmp_path.iterdir())) == 1
