"""The state of the playground in its address, hidden words that move with a text, and the map of vectors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.web_questions import CHECKPOINTS, ask_node

from bertedu.web.samples import start_for

STATE = Path(__file__).parent / "support" / "web_state.js"
START = start_for("world")["start"]


def ask(question: str, rows: list) -> list:
    return json.loads(ask_node(CHECKPOINTS["world-tiny"], question, rows, STATE))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"text": "Ünïcode & 漢字 #+% \n", "masks": []},
        {"text": START["text"], "masks": []},
        {"text": "another", "masks": [0, 3]},
        {"view": "change", "ablated": [[0, 1], [1, 0]], "hidden": [2, 4], "swapped": [1, 3], "temperature": 0.5},
        {"layer": 0, "head": 0, "token": 5, "depth": 0, "step": "layer.0.scores"},
        {"changed": "", "other": "x", "second": "y", "word": "z", "sentences": "a\nb"},
    ],
)
def test_an_address_says_the_whole_state(changes):
    state = {**START, **changes}
    ((found),) = ask("addresses", [{"start": START, "state": state}])
    assert found["state"] == state and not found["faults"]
    assert changes or found["address"] == "#"


def test_what_cannot_be_read_is_left_out_and_said():
    damaged: dict[str, tuple[str, dict[str, Any]]] = {
        "#view=nowhere": ("“view”", {}),
        "#layer=0": ("“layer”", {}),
        "#layer=-1&head=1e9": ("“layer”", {}),
        "#masks=1+x": ("“masks”", {}),
        "#ablated=1.2+3": ("“ablated”", {}),
        "#ablated=0.1": ("“ablated”", {}),
        "#ablated=9.9": ("Some of the heads", {"ablated": []}),
        "#temperature=0": ("“temperature”", {}),
        "#temperature=NaN": ("“temperature”", {}),
        "#swapped=1": ("“swapped”", {}),
        "#step=%3Cb%3E": ("“step”", {}),
        "#what=1": ("“what”", {}),
        "#layer=5&head=1": ("no head 1 in a layer 5: it has 2 layers of 2", {"layer": 0, "head": 0}),
        "#depth=9": ("", {"depth": 2}),
        f"#text={'a' * 20_001}": ("“text”", {"masks": []}),
        "#%E0%A4%A": ("cannot be read", {}),
    }
    rows = [{"start": START, "address": address} for address in damaged]
    for (address, (said, changes)), found in zip(damaged.items(), ask("readings", rows), strict=True):
        assert said in " ".join(found["faults"]), address
        assert bool(said) == bool(found["faults"]) and found["state"] == {**START, **changes}, address


def test_hidden_words_move_with_the_text():
    cases = [
        ("a b c", "a b c", [1], [1]),
        ("a b c", "x a b c", [1], [2]),
        ("a b c", "a b x c", [2, 0], [3, 0]),
        ("a b c", "a c", [1, 2], [1]),
        ("a b c", "a bb c", [1], [1]),  # the hidden word itself is being written
        ("a b c .", "x y z .", [1], []),  # another sentence
        ("a b", "", [0, 1], []),
    ]
    rows = [{"before": before, "after": after, "hidden": hidden} for before, after, hidden, _ in cases]
    assert ask("masks", rows) == [expected for *_, expected in cases]


def test_the_map_has_the_two_directions_of_most_difference():
    vectors = np.random.default_rng(0).normal(size=(3, 7, 20)).astype(np.float32)
    for found, rows in zip(ask("maps", vectors.tolist()), vectors, strict=True):
        moved = rows - rows.mean(axis=0)
        left, sizes, _ = np.linalg.svd(moved, full_matrices=False)
        points = np.array(found["points"])
        for axis in range(2):
            expected = left[:, axis] * sizes[axis]
            sign = np.sign(expected[np.abs(expected).argmax()])
            np.testing.assert_allclose(points[:, axis], sign * expected, atol=1e-3)
        assert abs(found["share"] - (sizes[:2] ** 2).sum() / (sizes**2).sum()) < 1e-4


def test_a_map_of_one_or_of_equal_vectors_is_a_point():
    one, equal = ask("maps", [[[1.0, 2.0]], [[1.0, 2.0]] * 3])
    assert one["points"] == [[0, 0]] and np.abs(equal["points"]).max() == 0
