"""Ticks: kept, shown, and never in the way."""

import json

import pytest

from bertedu.course import loading, ticks
from bertedu.course.ticks import progress, remember, solved, ticks_file


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", str(tmp_path / "folder" / "progress.json"))
    monkeypatch.setattr(ticks, "solved_here", set())
    monkeypatch.setattr(ticks, "all_chapters", lambda: ["03", "11"])
    monkeypatch.setattr(ticks, "numbers_in", {"03": ["3.2", "3.10"], "11": ["11.1"]}.get)
    return tmp_path / "folder" / "progress.json"


def test_a_tick_is_kept(own_file, monkeypatch):
    remember("3.2")
    remember("3.2")
    monkeypatch.setattr(ticks, "solved_here", set())
    assert solved() == {"3.2"} and json.loads(own_file.read_text()) == ["3.2"]
    assert own_file.parent.is_dir() and sorted(own_file.parent.iterdir()) == [own_file]


@pytest.mark.parametrize("damage", ["", "{", '{"3.2": 1}', "[1, null]", "null", b"\xff\xfe"])
def test_a_damaged_file_does_not_stop_a_check(own_file, damage):
    own_file.parent.mkdir()
    own_file.write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    assert solved() == set()
    remember("3.2")
    assert json.loads(own_file.read_text()) == ["3.2"]


def test_a_disk_that_cannot_be_written_does_not_stop_a_check(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("BERTEDU_PROGRESS", str(tmp_path / "file" / "progress.json"))
    remember("3.2")
    assert solved() == {"3.2"}


def test_building_a_notebook_ticks_nothing_for_the_author(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")
    assert ticks_file() is None
    remember("3.2")
    assert solved() == {"3.2"} and not list(tmp_path.iterdir())


def test_ticks_go_into_the_users_data_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("BERTEDU_PROGRESS")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert ticks_file() == tmp_path / "bertedu" / "progress.json"


def test_the_table_is_in_order_and_counts_rightly():
    remember("3.10")
    assert repr(progress()) == "Solved so far, by chapter\n03  · 3.2 ✓ 3.10  1 of 2\n11  · 11.1        0 of 1"
    html = progress()._repr_html_()
    assert html.count("<tr>") == 3 and "✓ 3.10" in html and "1 of 2" in html


def test_the_table_ends_with_the_next_chapter():
    assert repr(progress()) == "Solved so far, by chapter\n03  · 3.2 · 3.10  0 of 2\nand 1 more chapters"
    assert progress()._repr_html_().count("<tr>") == 3
    remember("quiz 3.1: wrong")
    assert "11.1" in repr(progress()) and "more" not in repr(progress())


def test_a_chapter_with_a_letter_stands_between_its_neighbours_and_in_their_columns(monkeypatch):
    monkeypatch.setattr(ticks, "all_chapters", loading.all_chapters)
    monkeypatch.setattr(ticks, "numbers_in", loading.numbers_in)
    shown = ticks.Progress({"1b.1"})
    assert [row[0] for row in shown.rows] == ["00", "01", "01b", "02"]
    lines = repr(shown).splitlines()[1:5]
    assert {line.index(mark) for line, mark in zip(lines, "··✓·", strict=True)} == {4}
