"""JSON from outside: what is refused, and in which words."""

import json

import pytest
from support.processor_time import processor_seconds, yardstick

from bertedu.errors import UserError
from bertedu.files import read_json_object
from bertedu.json_values import check_object, fits, parse_json

DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1', r"a\.json, line 3, column 8: not valid JSON \(.*\): the file is damaged or cut short"),
        ("[" * DEEP + "]" * DEEP, r"line 3: JSON that cannot be read \(nested more than 100 levels deep"),
        ("[" * 300 + "]" * 300, r"line 3: JSON that cannot be read \(nested more than 100 levels deep"),
        ("9" * 6000, "line 3: a number of 6,000 digits"),
        ("[1e999]", "line 3: '1e999' is too large for a number"),
        ("[NaN]", "line 3: NaN is not a number in JSON"),
        ('{"a": 1, "a": 2}', "line 3: an object has the key 'a' twice"),
        ("", r"line 3, column 1: not valid JSON"),
    ],
)
def test_json_that_python_chokes_on_is_refused_in_words(text, says):
    with pytest.raises(UserError, match=says) as raised:
        parse_json(text, "a.json", 3)
    assert len(str(raised.value)) < 300


def test_a_key_that_is_there_twice_among_many_is_found_in_linear_time():
    text = json.dumps({str(number): 0 for number in range(100_000)})[:-1] + ', "99999": 1}'

    def read() -> None:
        with pytest.raises(UserError, match="'99999' twice"):
            parse_json(text, "a.json")

    assert processor_seconds(read) < 50 * yardstick()


def test_a_log_with_nan_is_read_back():
    assert str(parse_json('{"loss": NaN}', "metrics.jsonl", finite=False)) == "{'loss': nan}"


@pytest.mark.parametrize("value", [[], None, 7, "text", True])
def test_another_value_than_an_object_is_refused_in_words(tmp_path, value):
    (tmp_path / "a.json").write_text(json.dumps(value))
    with pytest.raises(UserError, match=r"a\.json: expected a JSON object"):
        read_json_object(tmp_path / "a.json", {"name": str})


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (int, 3, True),  # isinstance(True, int)
        (int, 3, 3.0),
        (float, 3, "3"),
        (float | None, None, True),
        (str, "a", "half \ud83d"),
        (bool, False, 0),
        (list[str], ["a"], ["a", 1]),
        (tuple[float, float], [0.4, 0.3], [0.4]),
        (tuple[str, ...], ["a"], [1]),
        (dict[str, str] | None, {"0": "yes"}, {"0": 1}),
    ],
)
def test_a_value_of_another_type_is_refused(kind, good, bad):
    assert fits(good, kind) and not fits(bad, kind)
    assert check_object({"name": good}, {"name": kind}, "a.json") == {"name": good}
    with pytest.raises(UserError, match=r"^a\.json: name is .*: give (a|an|true or) .*\.$"):
        check_object({"name": bad}, {"name": kind}, "a.json")
    assert check_object({}, {"name": kind}, "a.json") == {}


def test_a_message_cuts_a_value_of_a_million_characters():
    with pytest.raises(UserError) as raised:
        check_object({"name": "x" * 1_000_000}, {"name": int}, "a.json")
    assert len(str(raised.value)) < 200
