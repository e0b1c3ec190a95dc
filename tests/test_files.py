"""Files appear whole or not at all, and what cannot be read is named."""

import json
import math
import os
import sys

import pytest

from bertedu.errors import UserError
from bertedu.files import cache_folder, read_json, read_text, replacing, write_json, write_text


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "metrics.json"
    write_json(path, {"kept": True})
    with pytest.raises(RuntimeError), replacing(path) as beside:
        beside.write_text("half of")
        raise RuntimeError("killed in the middle")
    assert read_json(path) == {"kept": True}
    assert [file.name for file in tmp_path.iterdir()] == ["metrics.json"], "something was left behind"


def test_a_full_disk_is_told_in_words(tmp_path):
    path = tmp_path / "model.safetensors"
    with pytest.raises(UserError, match=r"model\.safetensors could not be written \(No space left"), replacing(path):
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_missing_is_made(tmp_path):
    write_text(tmp_path / "a" / "b" / "note.txt", "text\r\nas given\n")
    assert (tmp_path / "a" / "b" / "note.txt").read_bytes() == b"text\r\nas given\n"


def test_accents_are_written_as_they_are_in_json(tmp_path):
    write_json(tmp_path / "words.json", {"word": "é"})
    assert "é" in (tmp_path / "words.json").read_text("utf-8")


def test_a_missing_file_is_told_in_words(tmp_path):
    with pytest.raises(UserError, match=r"nothing\.txt cannot be read \(No such file"):
        read_text(tmp_path / "nothing.txt")


def test_truncated_json_is_located(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"corpus": "world"}, indent=2)[:-4])
    with pytest.raises(UserError, match=r"run\.json, line 2, column \d+: not valid JSON"):
        read_json(path)


def test_the_cache_can_be_moved(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTEDU_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


def test_the_cache_may_be_in_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BERTEDU_CACHE", "~/texts")
    assert cache_folder() == tmp_path / "texts"
    monkeypatch.setenv("BERTEDU_CACHE", " ")
    assert cache_folder().name == "bertedu"


def test_a_file_in_the_place_of_a_folder_is_told_in_words(tmp_path):
    (tmp_path / "runs").write_text("")
    with pytest.raises(UserError, match=r"metrics\.json could not be written"):
        write_json(tmp_path / "runs" / "metrics.json", {})


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")


@needs_pipes
@pytest.mark.parametrize("place", ["pipe", "/dev/zero", "/proc/self/mem", "/proc/kmsg", "link"])
def test_a_pipe_or_device_is_not_read(tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    if not (tmp_path / place).exists():
        pytest.skip(f"no {place} here")
    with pytest.raises(UserError, match=r"may never end: save"):
        read_text(tmp_path / place)


@needs_pipes
@pytest.mark.parametrize("place", ["pipe", "link", "dangling", "folder"])
def test_a_pipe_link_or_folder_is_not_replaced_by_a_file(tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "there").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    before = {path.name: path.lstat().st_mode for path in tmp_path.iterdir()}
    with pytest.raises(UserError, match=rf"{place} is a (pipe|link|folder) and stays as it is: choose another name"):
        write_text(tmp_path / place, "text")
    assert {path.name: path.lstat().st_mode for path in tmp_path.iterdir()} == before
    assert (tmp_path / "there").read_text() == "kept"


def test_a_device_is_not_replaced_by_a_file():
    with pytest.raises(UserError, match=r"is a device and stays as it is"):
        write_text(os.devnull if os.name == "posix" else pytest.skip("no such device"), "text")


@pytest.mark.parametrize("name", ["", ".", "a\0b"])
def test_a_name_that_is_none_is_refused_in_words(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"is no name of a file|\. cannot be read|is a folder"):
        read_text(name)
    with pytest.raises(UserError, match=r"is no name of a file"):
        write_text(name, "text")


def test_half_a_character_is_refused_and_leaves_no_file(tmp_path):
    with pytest.raises(UserError, match=r"a\.txt could not be written: the text has half a character, '\\ud83d'"):
        write_text(tmp_path / "a.txt", "half \ud83d")
    assert not list(tmp_path.iterdir())


def test_a_file_larger_than_the_limit_is_not_read(tmp_path, monkeypatch):
    with open(tmp_path / "sparse.txt", "wb") as file:
        file.truncate(10**12)  # takes no room on the disk
    with pytest.raises(UserError, match=r"sparse\.txt holds more than 500,000,000 bytes.*BERTEDU_MOST_BYTES"):
        read_text(tmp_path / "sparse.txt")
    (tmp_path / "small.txt").write_text("12345")
    monkeypatch.setenv("BERTEDU_MOST_BYTES", "4")
    with pytest.raises(UserError, match="more than 4 bytes"):
        read_text(tmp_path / "small.txt")
    monkeypatch.setenv("BERTEDU_MOST_BYTES", "5")
    assert read_text(tmp_path / "small.txt") == "12345"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not replace a file that is open")
def test_somebody_who_reads_meanwhile_gets_the_whole_old_file(tmp_path):
    """A file that is replaced stays whole for who has opened it; one that is written over does not."""
    path = tmp_path / "metrics.json"
    write_text(path, "the old figures")
    with open(path, encoding="utf-8") as opened:
        write_text(path, "new")
        assert opened.read() == "the old figures"
    assert path.read_text("utf-8") == "new"


def test_an_infinite_number_is_written_as_null(tmp_path):
    path = tmp_path / "metrics.json"
    write_json(path, {"loss": math.inf, "curve": [1.5, -math.inf, math.nan]})
    assert json.loads(path.read_text("utf-8")) == {"loss": None, "curve": [1.5, None, None]}
