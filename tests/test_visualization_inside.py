"""Figures of looking inside: what is drawn where, and what is said in words."""

import numpy as np
import pytest
import torch

from bertedu.errors import UserError
from bertedu.interpretation.rollout import attention_flow, attention_rollout
from bertedu.visualization.attention_paths import attention_paths
from bertedu.visualization.head_maps import head_maps
from bertedu.visualization.layers import cosines_by_layer
from bertedu.visualization.saliency import saliency_strip

TOKENS = ["[CLS]", "the", "cat", "[SEP]"]


def random_attentions(texts: int = 2, length: int = 4):
    generator = torch.Generator().manual_seed(0)
    return tuple((3 * torch.randn(texts, 2, length, length, generator=generator)).softmax(dim=-1) for _ in range(3))


def words_of(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_panels_of_paths_stand_in_order_and_are_of_one_sentence():
    attentions = random_attentions()
    picture = attention_paths(attentions, TOKENS, sentence=1)
    alone = tuple(layer[1:] for layer in attentions)
    flow = attention_flow(alone)
    expected = [alone[-1][0].mean(dim=0), attention_rollout(alone)[-1, 0], flow / flow.sum(dim=1, keepdim=True)]
    panels = [axes for axes in picture.figure.axes if axes.get_title()]
    assert [axes.get_title().split()[0] for axes in panels] == ["attention", "rollout", "flow"]
    for axes, panel in zip(panels, expected, strict=True):
        assert np.allclose(axes.images[0].get_array(), panel, atol=1e-6)
    rollout = expected[1][2]
    told = f"cat takes most from {TOKENS[int(rollout.argmax())]} ({rollout.max():.0%})"
    assert told in picture.alt.split("Rollout through all layers: ")[1].split("Flow")[0]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == TOKENS


def test_padding_is_not_drawn():
    attentions = random_attentions(length=6)
    for layer in attentions:
        layer[..., 4:] = 0
        layer /= layer.sum(dim=-1, keepdim=True)
    picture = attention_paths(attentions, [*TOKENS, "[PAD]", "[PAD]"])
    assert picture.figure.axes[0].images[0].get_array().shape == (4, 4) and "[PAD]" not in picture.alt
    with pytest.raises(UserError, match="sentence 2 with 6 tokens was asked for"):
        attention_paths(attentions, [*TOKENS, "[PAD]", "[PAD]"], sentence=2)
    with pytest.raises(UserError, match=r"of 6 tokens, and sentence 0 with 4 tokens"):
        attention_paths(attentions, TOKENS)


def test_the_frame_stands_around_its_head():
    scores = torch.tensor([[0.1, 0.2, 0.3], [0.9, 0.25, 0.05]])
    picture = head_maps({"entropy (bits)": scores, "rise": scores - 0.5})
    first, second = (axes for axes in picture.figure.axes if axes.get_visible())
    assert np.allclose(first.images[0].get_array(), scores) and first.get_title() == "entropy (bits)"
    frame = first.patches[0]
    assert (frame.get_x(), frame.get_y()) == (-0.5, 0.5) and "0.90" in words_of(first)
    low, high = second.images[0].get_clim()
    assert low == -high == pytest.approx(-0.45), "white is not at 0"
    assert "entropy (bits): highest 0.90 in layer 2 head 1, lowest 0.05 in layer 2 head 3, mean 0.30" in picture.alt
    assert "6 heads, 2 layers of 3" in picture.alt


def test_the_same_colour_means_the_same_number_in_maps_of_one_scale():
    scores = torch.tensor([[0.1, 0.2], [0.4, 0.3]])
    picture = head_maps({"bits": 5 * scores, "one": scores, "two": 2 * scores}, same_scale=("one", "two"))
    limits = [axes.images[0].get_clim()[1] for axes in picture.figure.axes if axes.get_visible()]
    assert limits == pytest.approx([2, 0.8, 0.8])
    with pytest.raises(UserError, match="same_scale names three, and the maps are one"):
        head_maps({"one": scores}, same_scale=("three",))


def test_maps_of_different_models_are_refused():
    for measures in ({}, {"a": torch.ones(2, 2), "b": torch.ones(2, 3)}, {"a": torch.ones(3)}):
        with pytest.raises(UserError, match=r"give one or more of the same shape"):
            head_maps(measures)
    assert not words_of(head_maps({"many": torch.ones(12, 12)}).figure.axes[0])


def test_a_bar_against_the_answer_hangs_down():
    picture = saliency_strip(torch.tensor([0.5, -1.25, 0.0, -0.001]), TOKENS, "log p(mat)")
    (axes,) = picture.figure.axes
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.4, -1.0, 0.0, -0.0008])
    assert words_of(axes)[::2] == ["0.50", "-1.25", "0.00", "0.00"] and words_of(axes)[1::2] == TOKENS
    assert picture.alt == "log p(mat): [CLS] 0.50, the -1.25, cat 0.00, [SEP] 0.00."
    blue, orange = (axes.patches[place].get_facecolor() for place in (0, 1))
    assert blue != orange
    for scores in (torch.ones(3), torch.ones(1, 4)):
        with pytest.raises(UserError, match=r"there are 4 tokens: give \[T\]"):
            saliency_strip(scores, TOKENS)


def test_a_long_text_keeps_its_second_row():
    tokens = [f"w{number}" for number in range(20)]
    picture = saliency_strip(torch.arange(20) / 100, tokens)
    first, second = picture.figure.axes
    assert words_of(first)[1::2] == tokens[:16] and words_of(second)[1::2] == tokens[16:]
    assert "w19 0.190" in picture.alt and first.get_xlim() == second.get_xlim()


def test_names_of_lines_stand_where_the_lines_end():
    picture = cosines_by_layer({"within": torch.tensor([0.2, 0.9]), "across": torch.tensor([0.1, 0.3])}, "bank")
    picture.png()
    (axes,) = picture.figure.axes
    for name, value in (("within", 0.9), ("across", 0.3)):
        (text,) = (text for text in axes.texts if text.get_text() == name)
        line = next(line for line in axes.get_lines() if line.get_label() == name)
        assert text.get_color() == line.get_color()
        pixel = axes.transAxes.transform(text.get_position())
        assert axes.transData.inverted().transform(pixel)[1] == pytest.approx(value, abs=0.01)
    assert picture.alt == "bank, layer by layer: input within 0.20, across 0.10; layer 1 within 0.90, across 0.30."
    with pytest.raises(UserError, match=r"lengths \[2, 3\]"):
        cosines_by_layer({"within": torch.ones(2), "across": torch.ones(3)})


def test_names_of_lines_do_not_cover_each_other():
    picture = cosines_by_layer({name: torch.tensor([0.0, 0.5]) for name in ("a", "b", "c")})
    heights = sorted(text.get_position()[1] for text in picture.figure.axes[0].texts)
    assert min(np.diff(heights)) > 0.05
