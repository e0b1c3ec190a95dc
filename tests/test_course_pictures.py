"""The kit of the chapters' pictures: what colours say, where arrows end, what nobody could read."""

import pytest
import torch

from bertedu.course.building.drawing import svg_of, words_of
from bertedu.course.pictures import Box, Plane, Sheet, map_of_bert
from bertedu.course.pictures.colours import fill_of, ink_on
from bertedu.course.pictures.places import between
from bertedu.course.pictures.sheet import number


def words(sheet: Sheet) -> list[str]:
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        return words_of(svg_of(sheet.figure()))


def test_a_fill_is_white_at_zero_gold_above_and_purple_below():
    assert fill_of(0.0, 2.0) == "#ffffff"
    red, _, blue = (int(fill_of(2.0, 2.0)[i : i + 2], 16) for i in (1, 3, 5))
    assert red > blue
    red, _, blue = (int(fill_of(-2.0, 2.0)[i : i + 2], 16) for i in (1, 3, 5))
    assert red < blue


def test_a_fill_beyond_the_largest_value_stays_a_colour():
    assert fill_of(100.0, 2.0) == fill_of(2.0, 2.0)
    assert fill_of(1.0, 0.0) == "#ffffff"


@pytest.mark.parametrize("value", [-1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0])
def test_the_ink_on_every_fill_has_a_contrast_of_at_least_four_and_a_half(value):
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    fill = fill_of(value, 1.0)
    light, dark = sorted((luminance(fill), luminance(ink_on(fill))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_number_has_a_true_minus_and_zero_has_none():
    assert number(-0.584, 2) == "\u22120.58"
    assert number(-0.001, 2) == "0.00"


def test_a_grid_says_its_numbers_its_name_and_its_shape():
    sheet = Sheet(200, "A question?")
    box = sheet.grid(100, 100, torch.tensor([[1.0, -1.0], [0.0, 2.0]]), "scores", "[T, T]", rows=["a", "b"])
    assert words(sheet) == ["A question?", "1", "\u22121", "0", "2", "[T, T]", "scores", "a", "b"]
    assert (box.rows, box.columns) == (2, 2)
    assert box.cell(1, 1).x == pytest.approx(box.x + box.width / 2)


def test_a_vector_is_a_grid_of_one_row():
    assert Sheet(200, "?").grid(10, 100, torch.tensor([1.0, 2.0, 3.0])).rows == 1


def test_an_arrow_joins_the_sides_that_face_each_other():
    left, right, below = Box(0, 0, 10, 10), Box(50, 0, 10, 10), Box(0, 50, 10, 10)
    assert between(left, right, 5) == ((15, 5), (45, 5))
    assert between(right, left, 5) == ((45, 5), (15, 5))
    assert between(left, below, 5) == ((5, 15), (5, 45))
    assert between(below, left, 5) == ((5, 45), (5, 15))


def test_words_that_leave_the_sheet_are_refused_by_their_text():
    sheet = Sheet(100, "?")
    sheet.words(650, 60, "much too long for here")
    with pytest.raises(ValueError, match="'much too long for here' leaves the sheet"):
        sheet.figure()


def test_words_that_stand_on_others_are_refused_by_both_texts():
    sheet = Sheet(100, "?")
    sheet.words(100, 60, "first")
    sheet.words(110, 62, "second")
    with pytest.raises(ValueError, match="'second' stands on 'first'"):
        sheet.figure()


def test_a_chip_is_as_wide_as_its_token_needs():
    sheet = Sheet(100, "?")
    short, long = sheet.chips(10, 50, ["a", "tokenization"])
    assert long.width > short.width
    assert long.x > short.right


def test_the_map_of_bert_names_its_parts_in_the_order_of_the_data():
    sheet = Sheet(190, "Where?")
    boxes = map_of_bert(sheet, 50, {"attention"})
    assert list(boxes) == ["tokenizer", "embeddings", "attention", "feed-forward", "heads"]
    across = [box.x for box in boxes.values()]
    assert across == sorted(across)
    assert "self-attention" in words(sheet)


def test_every_text_is_eighteen_pixels_high_so_that_a_phone_shows_nine():
    sheet = Sheet(200, "A question?", "an answer")
    sheet.chip(10, 80, "token")
    sheet.grid(200, 120, [1.0, 2.0], "name", "[T]")
    sizes = {text.get_fontsize() for text in sheet.figure().axes[0].texts}
    assert min(sizes) >= 18 * 72 / 96


def test_a_plane_turns_numbers_into_pixels_and_tells_them_at_its_axes():
    sheet = Sheet(300, "?")
    plane = Plane(sheet, 100, 50, 200, 100, (0, 10), (-1, 1))
    assert plane.at(0, -1) == (100, 150) and plane.at(10, 1) == (300, 50)
    assert plane.point(5, 0) == (200, 100)
    plane.curve(lambda a: a / 10, 0, 10)
    plane.ticks(across=(0, 2.5), up=(-1, 1))
    assert words(sheet) == ["?", "0", "2.5", "\u22121", "1"]


def test_a_dot_stands_on_the_curve_and_not_below_it():
    sheet = Sheet(300, "?")
    sheet.dot((50, 50))
    sheet.line((0, 50), (100, 50))
    (curve,), (dot,) = sheet.figure().axes[0].lines, sheet.figure().axes[0].patches
    assert dot.get_zorder() > curve.get_zorder()
