"""Exercises are loaded by chapter, when first asked for; what a notebook did before does not reach their references."""

import os
import subprocess
import sys

import pytest
from support.repository import REPOSITORY

from bertedu.course.loading import all_chapters, exercises_of, find, is_known, numbers_in
from bertedu.course.rooms import chapter_of, in_full
from bertedu.errors import UserError


def said(code: str) -> str:
    """What a fresh process prints."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "BERTEDU_PROGRESS": "off"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_a_check_loads_the_exercises_of_its_own_chapter_only():
    loaded = said(
        "import sys\n"
        "from bertedu.course import check, progress\n"
        "progress()\n"
        "before = [name for name in sys.modules if name.startswith('bertedu.chapters.ch')]\n"
        "check('3.1', 1 / 3)\n"
        "after = {name.split('.')[2] for name in sys.modules if name.startswith('bertedu.chapters.ch')}\n"
        "print(before, sorted(after), 'bertedu.family.spanbert' in sys.modules)\n"
    )
    assert loaded.strip() == "[] ['ch03_self_attention'] False"


WRONG = "wrong = lambda query, key, value: (value, (query @ key.mT).softmax(-1))\n"


@pytest.mark.parametrize(
    "trick",
    [
        "import torch; torch.allclose = torch.equal = lambda *given, **named: True",
        "import bertedu.model.attention as module; module.attend = wrong",
        "import bertedu.course.comparing as module; module.is_close = lambda *given: True",
        "from bertedu.course.case import Case; Case.close = lambda *given, **named: None",
    ],
)
def test_what_is_replaced_before_the_first_check_of_a_chapter_changes_no_verdict(trick):
    code = f"from bertedu.course import check\n{WRONG}{trick}\nprint(check('3.2', wrong))"
    assert said(code).startswith(("3.2 · almost.", "3.2 · not yet."))


def test_every_number_that_is_read_in_a_room_is_registered_by_it():
    for chapter in all_chapters():
        assert numbers_in(chapter) == [exercise.number for exercise in exercises_of(chapter)] != []


def test_a_number_belongs_to_the_chapter_before_its_dot():
    assert [chapter_of(number) for number in ("3.2", "03.2", "12.4", "1b.1", "01b.1")] == [
        "03",
        "03",
        "12",
        "01b",
        "01b",
    ]
    assert [in_full(chapter) for chapter in ("3", "03", "12", "1b")] == ["03", "03", "12", "01b"]


def test_an_unknown_number_is_told_with_those_that_there_are():
    assert is_known("3.5") and not is_known("3.9") and not is_known("77.1")
    with pytest.raises(UserError, match=r"no exercise '3\.9': choose one of 3\.1, 3\.2, 3\.3, 3\.4, 3\.5"):
        find("3.9")
    with pytest.raises(UserError, match=r"no exercise '77\.1': the chapters are 00, 01, "):
        find("77.1")
