"""Which pictures a task gets where its rows are unusual, and whether they say what the figures say."""

from bertedu.visualization.finetuning_pictures import prediction_pictures
from bertedu.visualization.mistakes import in_words


def test_texts_without_any_class_end_the_report():
    row = {"text": "a", "label": [], "prediction": [], "probability": 0.9, "mistake": 0.0}
    assert prediction_pictures("multi-label", [row]).keys() == {"calibration"}
    assert prediction_pictures("multi-label", [row, {**row, "prediction": ["x"]}]).keys() == {"classes", "calibration"}


def test_parts_of_speech_with_a_hyphen_are_drawn_and_told_as_entities():
    row = {"words": ["(", "a"], "tags": ["-LRB-", "NN-TL"], "prediction": ["-LRB-", "NN"], "probability": [0.9, 0.8]}
    picture, caption = prediction_pictures("tagging", [{**row, "mistake": 0.8}])["confusion"]
    assert caption.startswith("Which tag") and "NN-TL as NN 1 times" in picture.alt
    mistake = in_words({**row, "mistake": 0.8})
    assert (mistake.right, mistake.said) == ("a NN-TL", "a NN (80%)")
