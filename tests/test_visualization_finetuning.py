"""Pictures of a fine-tuned model: what is drawn, what is said in words, and what is measured on the way."""

import random

import numpy as np
import pytest
from support.finetuning_runs import log

from bertedu.corpora.readers import Answer, Question
from bertedu.errors import UserError
from bertedu.finetuning.calibration import calibration_bins, expected_calibration_error
from bertedu.finetuning.squad_metrics import best_threshold, squad_figures
from bertedu.visualization import (
    chosen_places,
    confusion_matrix,
    entity_confusion,
    label_outcomes,
    no_answer_curve,
    reliability_diagram,
    score_scatter,
)
from bertedu.visualization.comparison import comparison
from bertedu.visualization.finetuning_curves import finetuning_curves


def fields(picture) -> dict[tuple[str, str], str]:
    """The numbers in a square, by the names of their row and column."""
    axes = picture.figure.axes[0]
    rows, columns = ([label.get_text() for label in of()] for of in (axes.get_yticklabels, axes.get_xticklabels))
    places = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in axes.texts}
    return {(rows[row], columns[column]): number for (row, column), number in places.items()}


def test_rows_of_the_confusion_are_right_and_columns_predicted():
    picture = confusion_matrix(["x", "x", "x", "y"], ["x", "y", "y", "y"])
    assert fields(picture) == {("x", "x"): "1", ("x", "y"): "2", ("y", "y"): "1"}
    assert picture.figure.axes[0].get_ylabel() == "right"
    assert "x as y 2 times" in picture.alt and "2 on the diagonal" in picture.alt
    assert "Nothing is mixed up" in confusion_matrix(["x"], ["x"]).alt
    for right, found in ((["x"], []), ([], [])):
        with pytest.raises(UserError, match="give one of each a row"):
            confusion_matrix(right, found)


def test_of_a_hundred_classes_the_confused_ones_are_drawn():
    labels = [f"class {number:03}" for number in range(100)]
    found = ["class 099" if label == "class 050" else label for label in labels]
    picture = confusion_matrix(labels, found)
    numbers = fields(picture)
    assert numbers["class 050", "class 099"] == "1" and numbers["all others", "all others"] == "80"
    assert len({row for row, _ in numbers}) == 21 and "19 on the diagonal, 80 stay among" in picture.alt


def test_an_entity_with_other_boundaries_is_counted_as_that():
    right = [["B-per", "I-per", "O", "B-loc", "O", "B-loc", "O"]]
    found = [["B-per", "O", "O", "B-per", "O", "O", "B-loc"]]
    picture = entity_confusion(right, found)
    assert fields(picture) == {
        ("per", "other boundaries"): "1",
        ("loc", "per"): "1",
        ("loc", "missed"): "1",
        ("invented", "loc"): "1",
    }
    assert "3 entities, and 1 invented (last row)" in picture.alt and "0 on the diagonal" in picture.alt
    with pytest.raises(UserError, match="no entity"):
        entity_confusion([["O"]], [["O"]])


def test_a_missed_class_does_not_count_as_invented():
    picture = label_outcomes([["x", "y"], ["x"], []], [["x"], ["x", "z"], ["z"]])
    assert "x: found 2, missed 0, invented 0; y: found 0, missed 1, invented 0; z: found 0, missed 0, invented 2" in (
        picture.alt
    )
    with pytest.raises(UserError, match="no class"):
        label_outcomes([[]], [[]])


def test_the_calibration_error_follows_its_definition():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0, 1, 500)
    right = rng.uniform(0, 1, 500) < sure**2
    error = 0.0
    for m in range(10):
        inside = (sure > m / 10) & (sure <= (m + 1) / 10)
        error += abs(sure[inside].sum() - right[inside].sum()) / 500
    assert expected_calibration_error(sure.tolist(), right.tolist()) == pytest.approx(error)
    assert [one.count for one in calibration_bins([0.0, 0.3, 0.31, 1.0], [True] * 4)] == [1, 1, 1, 1]
    assert "100% sure: 0% right of 1" in reliability_diagram([1.0], [False]).alt
    with pytest.raises(UserError, match="give as many of each"):
        reliability_diagram([0.5], [])
    with pytest.raises(UserError, match=r"1\.5 is not between"):
        reliability_diagram([1.5], [True])


def test_the_threshold_curve_has_the_best_of_the_metrics():
    rng = random.Random(0)
    questions, rows = [], []
    for number in range(80):
        answers = (Answer("b", 0),) if rng.random() < 0.6 else ()
        span = rng.choice("bc")
        score = float(rng.randrange(-5, 5))  # many are equal
        questions.append(Question(str(number), "q", "b c", answers))
        span_f1 = float(bool(answers) and span == "b")
        rows.append({"answers": [a.text for a in answers], "span": span, "span_f1": span_f1, "no_answer_score": score})
    scores = {str(number): row["no_answer_score"] for number, row in enumerate(rows)}
    spans = {str(number): row["span"] for number, row in enumerate(rows)}
    picture = no_answer_curve(rows)
    every, answerable, unanswerable = picture.figure.axes[0].get_lines()[:3]
    for place, f1, one, other in zip(*every.get_data(), answerable.get_ydata(), unanswerable.get_ydata(), strict=True):
        said = {key: "" if scores[key] > place else spans[key] for key in spans}
        figures = squad_figures(questions, said)
        assert figures["f1"] == pytest.approx(f1)
        assert figures["has_answer_f1"] == pytest.approx(one) and figures["no_answer_f1"] == pytest.approx(other)
    for number, row in enumerate(rows):
        row["no_answer_score"] += number / 1000
    scores = {str(number): row["no_answer_score"] for number, row in enumerate(rows)}
    assert f"the best is {best_threshold(questions, spans, scores)[1]:.3f}" in no_answer_curve(rows).alt
    assert f"never an answer, it is {float(np.mean([not row['answers'] for row in rows])):.3f}" in (
        no_answer_curve(rows, -1e9).alt
    )
    middle = float(np.median(list(scores.values())))
    said = {key: "" if scores[key] > middle else spans[key] for key in spans}
    assert (
        f"in use, {middle:.2f}, it is {squad_figures(questions, said)['f1']:.3f}" in no_answer_curve(rows, middle).alt
    )
    with pytest.raises(UserError, match="nothing to decide"):
        no_answer_curve([row for row in rows if row["answers"]])


def test_the_spread_over_seeds_is_that_of_its_row():
    picture = comparison({"cls": [0.6, 0.8], "mean": [0.9]}, {"bag of words": 0.75}, "accuracy")
    assert "cls 0.700 ± 0.141 over 2 seeds; mean 0.900 ± 0.000 over 1 seed; baseline bag of words 0.750" in picture.alt
    assert [label.get_text() for label in picture.figure.axes[0].get_yticklabels()] == ["cls", "mean"]
    with pytest.raises(UserError, match="without a figure"):
        comparison({"cls": []}, {}, "accuracy")


def test_the_mean_of_the_seeds_is_drawn_beside_them():
    picture = finetuning_curves({0: log(0), 2: log(2)}, "classification", "accuracy", {"bag of words": 0.7})
    loss, accuracy = picture.figure.axes
    assert len(loss.get_lines()) == 6 and len(accuracy.get_lines()) == 6
    assert accuracy.get_lines()[2].get_ydata().tolist() == pytest.approx([0.4, 0.8])
    assert loss.get_lines()[5].get_ydata().tolist() == [4.0, 4.0]
    assert [text.get_text() for text in loss.get_legend().get_texts()] == ["training batches", "validation"]
    assert "loss on validation: from 4.000 to 4.000" in picture.alt
    assert loss.get_lines()[2].get_ydata()[3] == pytest.approx(2.0 - 0.2 * 4 + 1)  # between both, in the middle of five
    assert "2 seeds, in the mean. Loss on training batches: from 2.800 to 1.400" in picture.alt
    assert "bag of words 0.700" in picture.alt
    assert [line.get_data() for line in accuracy.get_lines()[3:5]] == [([8], [0.8])] * 2, "another checkpoint is ringed"
    assert len(finetuning_curves({0: log(0)}, "classification", "accuracy").figure.axes[1].get_lines()) == 2
    with pytest.raises(UserError, match="no figures to draw"):
        finetuning_curves({0: []}, "classification", "accuracy")


def test_scores_and_places_are_told_the_right_way_round():
    assert "the right ones run from 1.00 to 2.00, the model's from 0.00 to 5.00" in score_scatter([1, 2], [0, 5]).alt
    alt = chosen_places([[0, 1]], [[2]]).alt
    assert "the model: 50% sentence 1, 50% sentence 2" in alt and "chooser: 0% sentence 1, 0% sentence 2, 100%" in alt
