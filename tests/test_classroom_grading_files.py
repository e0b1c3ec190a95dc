"""Which file of a student is graded, and that a file which is not is named, with a reason."""

import json
import os
import zipfile
from pathlib import Path

import pytest
from support.hand_ins import FILE, RIGHT, WRONG, hand_in, notebook

from bertedu.classroom.grading.grading import grade
from bertedu.classroom.grading.handed_in import HIDDEN, NO_HAND_IN
from bertedu.classroom.grading.results import MOST_NAMES, not_used, write_results
from bertedu.classroom.grading.submissions import OLDER, read_submissions
from bertedu.files import write_text

STEM = FILE.removesuffix(".ipynb")
DAY = 24 * 3600


def saved(path: Path, code: str, time: float) -> None:
    write_text(path, json.dumps(notebook(code)))
    os.utime(path, (time, time))


def code_of(received) -> str:
    return received.submissions["ann"].notebooks[FILE]["cells"][1]["source"]


@pytest.mark.parametrize(("older", "newer"), [(FILE, f"again/{FILE}"), (f"again/{FILE}", FILE)])
def test_of_two_hand_ins_the_one_that_was_saved_last_is_graded_and_said(assigned, tmp_path, older, newer):
    saved(tmp_path / "in" / "ann" / older, WRONG, 1_700_000_000)
    saved(tmp_path / "in" / "ann" / newer, RIGHT, 1_700_000_000 + DAY)
    made = grade(assigned, tmp_path / "in", tmp_path / "a.jsonl")
    (one,) = made.answers
    assert one.points == 2 and one.source == RIGHT
    lines = write_results(made, tmp_path / "a.csv")
    (said,) = [line for line in lines if "more than once" in line]
    assert f"ann/{newer} is graded, the newest (2023-11-1" in said
    assert f"Not used ({OLDER}): ann/{older}" in lines
    page = (tmp_path / "a.pages" / "students" / "ann.html").read_text()
    assert f"ann/{newer} is graded, the newest" in page


def test_of_two_hand_ins_of_one_time_the_one_with_the_higher_number_is_taken(tmp_path):
    for name in (f"{STEM} (2).ipynb", f"{STEM} (10).ipynb", FILE):
        saved(tmp_path / "ann" / name, f"{RIGHT}  # {name}", 1_700_000_000)
    assert code_of(read_submissions(tmp_path, [FILE])).endswith("(10).ipynb")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_entries_of_a_zip_file_the_one_of_the_later_time_is_taken(tmp_path, order):
    names = [f"ann/{FILE}", f"ann/x/{FILE}"]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for hour, place in enumerate(order):
            entry = zipfile.ZipInfo(names[place], (2026, 11, 3, 9 + hour, 0, 0))
            archive.writestr(entry, json.dumps(notebook(f"{RIGHT}  # at {9 + hour}")))
    received = read_submissions(tmp_path / "all.zip", [FILE])
    assert code_of(received).endswith("# at 10") and received.unused == {names[order[0]]: OLDER}


def test_a_newer_hand_in_that_cannot_be_read_leaves_the_older_one(tmp_path):
    saved(tmp_path / "ann" / FILE, RIGHT, 1_700_000_000)
    write_text(tmp_path / "ann" / f"{STEM} (2).ipynb", "{")
    received = read_submissions(tmp_path, [FILE])
    assert code_of(received) == RIGHT and "(2).ipynb is no notebook" in received.submissions["ann"].troubles[0]


UNUSED = {
    "ann/solution.ipynb": "no notebook of the assignment has this name",
    "ann/attention.ipynb": "perhaps 03_self_attention.ipynb under another name",
    f"ann/my {FILE}": "perhaps 03_self_attention.ipynb under another name",
    "bob/03_Self-Attention.ipynb": "perhaps 03_self_attention.ipynb under another name",
    FILE: "nobody's name is in its path",
    "ann/answer.py": NO_HAND_IN,
    "ann/03_self_attention.ipynb.txt": NO_HAND_IN,
    "cleo.rar": NO_HAND_IN,
    ".DS_Store": HIDDEN,
    "ann/.ipynb_checkpoints/03_self_attention-checkpoint.ipynb": HIDDEN,
}


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_each_file_that_is_not_used_is_printed_and_in_the_report_with_a_reason(assigned, tmp_path, packed):
    for name in UNUSED:
        write_text(tmp_path / "in" / name, json.dumps(notebook(RIGHT)))
    hand_in(tmp_path / "in", "ann", notebook(RIGHT))
    place, expected = tmp_path / "in", dict(UNUSED)
    if packed:
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            for path in sorted(place.rglob("*")):
                archive.write(path, path.relative_to(place))
            archive.writestr(f"../../dora/{FILE}", "{}")
            archive.writestr(f"dora/{'x' * 2000}.ipynb", "{}")
        place = tmp_path / "all.zip"
        expected |= {f"../../dora/{FILE}": "leads out", f"dora/{'x' * 95}…": "too long"}
    else:
        (place / "bob" / FILE).symlink_to(place / "ann" / FILE)
        expected[f"bob/{FILE}"] = "a link to"
    made = grade(assigned, place, tmp_path / "a.jsonl")
    assert set(made.unused) == set(expected) and set(made.submissions) == {"ann"}
    printed = "\n".join(write_results(made, tmp_path / "a.csv"))
    report = (tmp_path / "a.pages" / "class.html").read_text()
    for path, reason in expected.items():
        assert reason in made.unused[path] and path in printed and path in report, path
    assert "Not used" in report
    own = (tmp_path / "a.pages" / "students" / "ann.html").read_text()
    assert "ann/solution.ipynb was not used" in own and "checkpoint" not in own and "answer.py" not in own


def test_many_unused_files_are_printed_in_part_and_all_in_the_report(assigned, tmp_path):
    for number in range(MOST_NAMES + 5):
        write_text(tmp_path / "in" / "ann" / f"picture{number:02}.png", "")
    hand_in(tmp_path / "in", "ann", notebook(RIGHT))
    made = grade(assigned, tmp_path / "in", tmp_path / "a.jsonl")
    (line,) = not_used(made.unused)
    assert "picture00" in line and "picture24" not in line and "and 5 more" in line
    write_results(made, tmp_path / "a.csv")
    assert "picture24" in (tmp_path / "a.pages" / "class.html").read_text()
