"""Graded variants: right answers pass for every seed, mistakes and the copied public answer hear a sentence.

The answers are in chapters/chNN_name/variants.py: RIGHT[number] two or more programs, WRONG[number] four or more
with words of what is said, PUBLIC[number] the public exercise whose solution must be refused, and `facts(text)`: the
names that an answer may use, read in a variant's text.
"""

import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest
import torch

from bertedu.classroom.assignment import make_assignment
from bertedu.classroom.assignment_file import read_assignment
from bertedu.classroom.variants import CHAPTERS, MAKERS, using, variants
from bertedu.course.building.places import Places
from bertedu.course.building.versions import read_source
from bertedu.course.checking import check, examine
from bertedu.course.exercise import EXERCISES
from bertedu.course.rooms import chapter_of
from bertedu.course.variant import token_of
from bertedu.errors import UserError

ROOMS = Path(__file__).parent / "chapters"
TOKENS = [token_of(f"a seed {number}", " ".join(CHAPTERS)) for number in range(6)]


def answers(path: Path):
    """A module of answers."""
    spec = importlib.util.spec_from_file_location(f"variants_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULES = {path.parent.name[2:].partition("_")[0]: answers(path) for path in sorted(ROOMS.glob("ch*/variants.py"))}
RIGHT = {number: codes for module in MODULES.values() for number, codes in module.RIGHT.items()}
WRONG = {number: codes for module in MODULES.values() for number, codes in module.WRONG.items()}
PUBLIC = {number: public for module in MODULES.values() for number, public in module.PUBLIC.items()}


def variant(token, number):
    return next(one for one in variants(token, (chapter_of(number),)) if one.exercise.number == number)


def answer(code: str, one, token: str):
    """An answer's code with the numbers that its text names, as a student would read them there."""
    chapter = one.exercise.chapter
    names = {"torch": torch, "given": one.given, **MODULES[chapter].facts(one.text)}
    exec(code, names)
    return names[one.name]


@pytest.mark.parametrize("number", MAKERS)
def test_right_answers_are_accepted_and_mistakes_hear_a_sentence(number):
    assert len(RIGHT[number]) >= 2 and len(WRONG[number]) >= 4
    for token in TOKENS:
        one = variant(token, number)
        for code in RIGHT[number]:
            verdict = examine(one.exercise, answer(code, one, token))
            assert verdict.passed, f"{one.text}\n{code}\n{verdict}"
        for code, words in WRONG[number].items():
            verdict = examine(one.exercise, answer(code, one, token))
            said = " ".join(verdict.lines)
            assert verdict.status == "not yet" and re.search(words, said), f"{one.text}\n{code}\n{verdict}"


def public_solution(number: str):
    """The answer of the published solution."""
    source = read_source(Places().all_sources((chapter_of(number),))[0])
    code = next(c.source for c in source.cells if f'check("{number}"' in c.source and "BEGIN SOLUTION" in c.source)
    name = re.search(r"check\(\S+ (\w+)\)", code)[1]
    names: dict = {**vars(torch.nn.functional), "torch": torch, "check": lambda *_: None}
    exec(code, names)
    return names[name]


@pytest.mark.parametrize("number", PUBLIC)
def test_the_published_solution_does_not_solve_a_variant(number):
    solution = public_solution(PUBLIC[number])
    for token in TOKENS:
        verdict = examine(variant(token, number).exercise, solution)
        assert verdict.status == "not yet" and len(" ".join(verdict.lines)) > 80, verdict


@pytest.mark.parametrize("number", MAKERS)
def test_seeds_ask_for_different_things(number):
    texts = {(one.text, one.given) for one in (variant(token_of(str(i), ""), number) for i in range(20))}
    assert len(texts) >= 2


def test_a_seed_cannot_be_read_in_a_notebook_and_draws_the_same_tomorrow():
    assert token_of("a seed", "3") != token_of("a seed", "6") and "a seed" not in token_of("a seed", "3")
    one, other = variants(TOKENS[0]), variants(TOKENS[0])
    assert [(a.text, a.given) for a in one] == [(b.text, b.given) for b in other]


def test_variants_stay_out_of_the_exercises_of_the_course():
    with using(TOKENS[0]):
        assert "3.11" in EXERCISES and check("3.11", None).status == "not attempted yet"
    assert not set(MAKERS) & set(EXERCISES)


@pytest.mark.slow
def test_an_assignment_of_variants_has_no_solution_and_is_known_to_its_check(tmp_path):
    made = make_assignment(("3", "11"), tmp_path / "exam", variant="a secret sentence")
    assert [one.number for one in made.exercises] == ["3.11", "3.12", "11.11", "11.12"]
    assert read_assignment(tmp_path / "exam") == made and made.variant and made.name == "variants-03-11"
    assert not set(MAKERS) & set(EXERCISES)
    for path in (tmp_path / "exam").rglob("*.ipynb"):
        code = "\n".join(cell.source for cell in nbformat.read(str(path), as_version=4).cells)
        assert "a secret sentence" not in code and f'use_variant("{made.variant}")' in code
        assert code.count("raise NotImplementedError") == 2 and ".softmax(" not in code
    source = (tmp_path / "exam" / "nbgrader" / "source" / made.name / "03_self_attention.ipynb").read_text("utf-8")
    assert f', variant=\\"{made.variant}\\")' in source
    file = tmp_path / "exam" / "assignment.json"
    told = json.loads(file.read_text("utf-8"))
    del told["variant"]  # as it was written before there were variants
    file.write_text(json.dumps(told), encoding="utf-8")
    assert read_assignment(tmp_path / "exam").variant == ""


@pytest.mark.parametrize(("chapters", "seed"), [(("4",), "a secret sentence"), (("3",), "short"), (("3",), "        ")])
def test_a_chapter_without_variants_and_a_seed_that_can_be_guessed_are_refused(tmp_path, monkeypatch, chapters, seed):
    monkeypatch.setattr("bertedu.classroom.assignment_variants.CHAPTERS", ["03", "06"])
    with pytest.raises(UserError, match=r"has no variants|can be guessed"):
        make_assignment(chapters, tmp_path / "exam", variant=seed)
    assert not (tmp_path / "exam").exists()


def test_nbgraders_check_knows_the_variant():
    from bertedu.classroom.scoring import scored

    one = variant(TOKENS[0], "3.11")
    judge = scored(points=3, variant=TOKENS[0])
    assert judge("3.11", answer(RIGHT["3.11"][0], one, TOKENS[0])) is None
    assert judge("3.11", answer(next(iter(WRONG["3.11"])), one, TOKENS[0])) == 0.0
    assert "3.11" not in EXERCISES
