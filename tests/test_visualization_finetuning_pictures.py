"""Which pictures a task gets where its rows are unusual, and whether they say what the figures say."""

from io import BytesIO

import pytest
from matplotlib.image import imread
from matplotlib.text import Text

from bertedu import visualization
from bertedu.registry import TASKS
from bertedu.visualization.confusion import confusion_matrix, entity_confusion, label_outcomes
from bertedu.visualization.curves import training_curves
from bertedu.visualization.finetuning_curves import finetuning_curves


def test_texts_without_any_class_do_not_end_the_report():
    row = {"text": "a", "label": [], "prediction": [], "probability": 0.9, "mistake": 0.0}
    assert TASKS["multi-label"].pictures([row], visualization).keys() == {"calibration"}
    assert TASKS["multi-label"].pictures([row, {**row, "prediction": ["x"]}], visualization).keys() == {
        "classes",
        "calibration",
    }


def test_parts_of_speech_with_a_hyphen_are_not_drawn_as_entities():
    row = {"words": ["(", "a"], "tags": ["-LRB-", "NN-TL"], "prediction": ["-LRB-", "NN"], "probability": [0.9, 0.8]}
    picture, caption = TASKS["tagging"].pictures([{**row, "mistake": 0.8}], visualization)["confusion"]
    assert caption.startswith("Which tag") and "NN-TL as NN 1 times" in picture.alt
    mistake = TASKS["tagging"].in_words({**row, "mistake": 0.8})
    assert (mistake.right, mistake.said) == ("a NN-TL", "a NN (80%)")


NAME = "x" * 3000


@pytest.mark.parametrize(
    "picture",
    [
        lambda: confusion_matrix([NAME, "y"], ["y", "y"]),
        lambda: entity_confusion([[f"B-{NAME}", "O"]], [["O", "O"]]),
        lambda: label_outcomes([[NAME], []], [[], ["y"]]),
        lambda: training_curves([{"step": 1, "mlm_loss": 2.0}], {"mlm_loss": {NAME: 3.0, "$\\frac$": 2.0}}),
        lambda: finetuning_curves({0: [{"step": 1, "text_loss": 2.0, "validation_": 1.0}]}, "tagging", "", {NAME: 3.0}),
    ],
    ids=["classes", "entities", "sets", "pre-training", "fine-tuning"],
)
def test_a_name_of_3000_characters_makes_a_picture_of_ordinary_size(picture):
    made = picture()
    for axes in made.figure.axes:  # asked for, the ticks get their names
        assert axes.get_xticklabels() and axes.get_yticklabels()
    assert max(len(text.get_text()) for text in made.figure.findobj(Text)) < 100  # before anything is drawn
    assert max(imread(BytesIO(made.png()), format="png").shape) < 3000
