"""The pictures of notebook 21: what is drawn is what is told."""

import math
from itertools import combinations

import pytest

from bertedu.chapters.ch21_which_one.family_pictures import (
    CHANGES,
    KINDS,
    chance_marks,
    differences,
    family_map,
    front,
    rankings,
    spending,
)
from bertedu.visualization.picture import GREEN, GREY, ORANGE


def test_a_change_is_told_of_its_own_kind():
    assert all(len(changes) == len(KINDS) for changes in CHANGES.values())
    assert "DeBERTa (18) recipe: as RoBERTa; positions: relative, disentangled." in family_map().alt


def test_every_line_ends_at_its_rank():
    picture = rankings({"reviews": ["bert", "albert", "xlnet"], "films": ["xlnet", "bert", "albert"]}, followed=1)
    lines = [list(line.get_ydata()) for line in picture.figure.axes[0].lines]
    assert lines == [[1, 2], [2, 3], [3, 1]]
    assert "reviews: BERT, ALBERT, XLNet; films: XLNet, BERT, ALBERT." in picture.alt


@pytest.mark.parametrize("panels", [1, 3, 5])
def test_only_intervals_without_zero_are_colored(panels):
    gaps = {"albert": (-0.12, -0.08), "xlnet": (-0.01, 0.03), "electra": (0.08, 0.12)}
    picture = differences({f"task {number}": gaps for number in range(panels)})
    assert picture.alt.count("better ELECTRA; worse ALBERT") == panels and "XLNet" not in picture.alt
    drawn = [axes for axes in picture.figure.axes if axes.axison]
    assert len(drawn) == panels and [axes.get_title() for axes in drawn] == [f"task {n}" for n in range(panels)]
    bars = [line.get_color() for line in drawn[0].lines if len(line.get_xdata()) == 2][1:]  # the first is at 0
    assert bars == [ORANGE, GREY, GREEN]


def test_marks_are_counted_rightly():
    picture = chance_marks([0, 2, 2, 4], comparisons=90)
    assert picture.alt == "Marks by chance: 2 on average, most often 2, none in 25 %."
    assert sorted(bar.get_height() for bar in picture.figure.axes[0].patches) == [25, 25, 50]


def test_the_front_is_drawn_through_no_beaten_point():
    points = {"bert": (1.0, 0.5), "albert": (2.0, 0.4), "xlnet": (3.0, 0.6)}
    picture = front(points, ["bert", "xlnet"], "milliseconds", "score")
    line = picture.figure.axes[0].lines[0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1.0, 3.0], [0.5, 0.6])
    assert picture.alt == "score by milliseconds. On the Pareto front, cheapest first: BERT, XLNet."


def test_labels_of_the_front_do_not_cover_each_other():
    close = {name: (1.0 + number / 1000, 0.5) for number, name in enumerate(("bert", "albert", "xlnet", "electra"))}
    points = {**close, "deberta": (2.0, 0.6)}
    picture = front(points, ["bert"], "milliseconds", "score")
    picture.figure.draw_without_rendering()
    boxes = [label.get_window_extent().padded(-1) for label in picture.figure.axes[0].texts]
    assert len(boxes) == 5
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_costs_meet_where_they_should():
    ways = {"encoder": lambda n: 100.0, "prompt": lambda n: 0.5 * n}
    assert "they meet at 200 texts. After 1,000: encoder 100; prompt 500." in spending(ways, [10, 1000], 200.0).alt
    assert "they never meet" in spending(ways, [10, 1000], math.inf).alt
