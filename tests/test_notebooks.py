"""Every stored notebook keeps the rules, and comes from its source as it is now.

Whether the outputs repeat is tested by running the notebooks: `pytest --nbval` over them, in `make test`.
"""

import re
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from support import notebook_rules as rules

from bertedu.classroom.markup import parser
from bertedu.course.building.build import outdated, strays
from bertedu.course.building.guesses import is_guess, with_answers
from bertedu.course.building.pictures import faults_of_pictures, files_of, pictures_in, pictures_of, unreadable
from bertedu.course.building.places import Places
from bertedu.course.building.sittings import sittings_of, told
from bertedu.course.building.versions import read_source
from bertedu.course.loading import exercises_of
from bertedu.course.quizzes import read_quiz
from bertedu.course.rooms import number_of

PLACES = Places()
SOURCES = PLACES.all_sources()
NOTEBOOKS = [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for s in SOURCES for path in PLACES.pair(s)]
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS)
every_source = pytest.mark.parametrize("source", [pytest.param(s, id=s.stem) for s in SOURCES])


def read(path: Path):
    assert path.exists(), f"{path.name} has not been built: run `bertedu build {number_of(path)}`"
    return nbformat.read(str(path), as_version=4)


def complete(path: Path):
    """A notebook with what its guesses show: a learner's is stored without it."""
    notebook = read(path)
    solution = path.parent / "solutions" / path.name
    return with_answers(notebook, read(solution)) if solution.exists() else notebook


def markdown(text: str) -> str:
    return parser().render(text)


@every_source
def test_no_source_is_newer_than_its_notebooks(source):
    stale = [f"{job.path.name}: {why}" for job, why in outdated((number_of(source),))]
    assert not stale, f"{stale}: run `bertedu build {number_of(source)}`"


@every_source
def test_a_chapter_says_the_minutes_that_are_counted(source):
    counted = sittings_of(read(PLACES.pair(source)[0]), exercises_of(number_of(source)))
    assert told(source) == counted, f"run `bertedu build {number_of(source)}`"


def test_every_notebook_has_a_source():
    assert not SOURCES or not strays(PLACES)


@every_notebook
@pytest.mark.parametrize(
    "rule", [rules.never_ran, rules.errors, rules.too_much_uncompared, rules.pictures_without_words, rules.long_cells]
)
def test_every_notebook_keeps_the_rules(path, rule):
    assert not rule(complete(path))


@every_source
def test_a_learner_sees_no_output_of_a_guess(source):
    assert not [cell.source for cell in filter(is_guess, read(PLACES.pair(source)[0]).cells) if cell.outputs]


@every_notebook
def test_every_picture_is_beside_the_notebook(path):
    addresses = files_of("\n\n".join(c.source for c in read(path).cells if c.cell_type == "markdown"), path.parent)
    assert not [f"{address} {why}" for address, file in addresses.items() if (why := unreadable(file))]


@every_source
def test_no_source_has_a_raw_svg_or_a_picture_that_nobody_sees(source):
    cells = [cell for cell in read_source(source).cells if cell.cell_type == "markdown"]
    assert not [fault for cell in cells for fault in faults_of_pictures(cell.source, PLACES)]
    shown = [one for cell in cells for one in pictures_in(cell.source)]
    rendered = [html for cell in cells for html in re.findall(r'<img src="([^"]*)" alt="[^"]', markdown(cell.source))]
    assert [one.address for one in shown] == rendered, "Markdown reads the words of a picture otherwise"
    assert all(len(one.words.split()) > 15 for one in shown), "say what one sees, and what to conclude"
    for file in pictures_of([read_source(source)], PLACES.notebooks).values():
        assert float(ElementTree.parse(file).getroot().get("width")) <= 720, f"{file.name} is wider than a column"


def test_every_picture_is_shown_somewhere():
    named = {f.name for s in SOURCES for f in pictures_of([read_source(s)], PLACES.notebooks).values()}
    assert {path.name for path in (PLACES.notebooks / "pictures").iterdir()} == named


@every_notebook
def test_no_section_is_missing(path):
    assert not rules.missing_sections(read(path), number_of(path))
    assert not rules.quiz_problems(read(path), number_of(path))


@every_notebook
def test_every_exercise_is_as_registered(path):
    own = exercises_of(number_of(path))
    solved = path.parent.name == "solutions"
    assert not rules.exercise_problems(read(path), number_of(path), own, solved)


@every_source
def test_every_chapter_has_its_size(source):
    assert not rules.wrong_size(read(PLACES.pair(source)[0]))


@every_source
def test_a_learner_reads_what_the_solution_reads(source):
    learner, solution = map(complete, PLACES.pair(source))
    assert not rules.differences(learner, solution)


@every_source
def test_every_chapter_has_a_quiz(source):
    assert read_quiz(source.parent / "quiz.json")


@every_source
@pytest.mark.parametrize("rule", [rules.wide_lines, rules.bare_truths])
def test_no_reader_scrolls_sideways_or_reads_true_for_a_number(source, rule):
    for path in PLACES.pair(source):
        assert not rule(read(path))


def test_ruff_checks_every_chapter():
    lint = (PLACES.root / "Makefile").read_text(encoding="utf-8")
    for command in ("check", "format --check"):
        assert f"ruff {command} --config $(CHAPTERS)/notebooks.toml $(CHAPTERS)/*/[0-9]*.py" in lint


# The rules themselves --------------------------------------------------------------------------------------------


def ran(code: str, *outputs, **metadata):
    return new_code_cell(code, execution_count=1, outputs=list(outputs), metadata=metadata)


def picture(**metadata):
    return new_output("display_data", data={"image/png": "", "text/plain": ""}, metadata=metadata)


def printing(*texts: str):
    return ran("print()", *[new_output("stream", name="stdout", text=text + "\n") for text in texts])


RESULT = new_output("execute_result", data={"text/plain": "True"})
ERROR = new_output("error", ename="ValueError", evalue="no", traceback=[])


@pytest.mark.parametrize(
    ("rule", "cells", "words"),
    [
        (rules.never_ran, [new_code_cell("1 + 1")], "never ran"),
        (rules.errors, [ran("int('a')", ERROR)], "stored a ValueError"),
        (rules.errors, [ran("1", tags=["raises-exception"])], "raised nothing"),
        (rules.too_much_uncompared, [*[ran("1")] * 4, ran("2", tags=["nbval-ignore-output"])], "1 of 5"),
        (rules.too_much_uncompared, [*[ran("1")] * 4, ran("# NBVAL_IGNORE_OUTPUT\n2")], "1 of 5"),
        (rules.too_much_uncompared, [*[ran("1")] * 4, ran("2", tags=["nbval-skip"])], "1 of 5"),
        (rules.pictures_without_words, [ran("plot()", picture())], "no alternative"),
        (rules.pictures_without_words, [ran("plot()", picture(**{"image/png": {"alt": " "}}))], "no alternative"),
        (rules.pictures_without_words, [new_markdown_cell("![](a.png)")], "without a text"),
        (rules.pictures_without_words, [new_markdown_cell("<svg width='3'></svg>")], "no aria-label"),
        (rules.pictures_without_words, [new_markdown_cell("<img src='a.png'>")], "no alt"),
        (rules.pictures_without_words, [new_markdown_cell('<svg aria-label="A line"></svg>')], "JupyterLab strips it"),
        (rules.long_cells, [ran("1\n" * 26)], "26 lines"),
        (rules.long_cells, [ran("1\n" * 9)], "median"),
        (rules.wide_lines, [ran("1\n#" + "x" * 96)], "97 characters"),
        (rules.bare_truths, [printing("a: True", "b: False"), printing("True False")], "4 bare truths"),
        (rules.bare_truths, [printing("c: yes\nTrue, True\n  same = True\nd: True, e 1")], "4 bare truths"),
        (rules.bare_truths, [*[ran("a == b", RESULT)] * 4], "4 bare truths"),
        (rules.wrong_size, [ran("1")] * 34, "34 cells"),
        (rules.wrong_size, [ran("1")] * 161, "161 cells"),
    ],
)
def test_a_rule_finds_its_own_breach(rule, cells, words):
    assert words in " ".join(rule(NotebookNode(cells=cells)))


def test_a_rule_passes_what_keeps_it():
    words = {"image/png": {"alt": "A line that rises."}}
    cells = [ran("#" * 96)] * 5 + [ran("2", tags=["nbval-ignore-output"]), ran("plot()", picture(**words))]
    cells += [new_markdown_cell("![a line](a.png) and `<svg>`"), ran("int('a')", ERROR, tags=["raises-exception"])]
    notebook = NotebookNode(cells=cells)
    cells += [
        ran("#" * 96),
        printing("a: True", "[True, False, True, True]", "is True", "True words"),
        ran("a", RESULT),
    ]
    for rule in (
        rules.never_ran,
        rules.errors,
        rules.too_much_uncompared,
        rules.pictures_without_words,
        rules.wide_lines,
        rules.bare_truths,
    ):
        assert not rule(notebook)


CHAPTER = """# 03 · Self-attention
A promise.
## What you will be able to do
- one
- two
- three

**Time:** one sitting of about 45 minutes · **You need:** nothing · **Next:** nothing
## Recall
## A section
## The proof
## Broken BERT: a symptom
## Paper and code
## Summary
## Quiz
## Interview questions
## Next"""


def chapter(text: str):
    return NotebookNode(cells=[new_markdown_cell(text), ran("quiz(3)")])


def test_a_complete_chapter_passes():
    assert not rules.missing_sections(chapter(CHAPTER), "03")
    assert not rules.quiz_problems(chapter(CHAPTER), "03")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("## Recall\n", "", "no section `## Recall`"),
        ("Broken BERT: a symptom", "A lab", "no section `## Broken BERT"),
        ("## Next", "", "no section `## Next`"),
        ("## Quiz\n## Interview questions", "## Interview questions\n## Quiz", "another order"),
        ("- three\n", "", "2 objectives"),
        ("one sitting of about 45 minutes", "soon", "time is not told"),
        ("about 45 minutes", "about 90 minutes", "a sitting takes 15 to 70 minutes"),
        ("**You need:**", "You need", "You need"),
        ("# 03 ·", "# Chapter 3:", "begins with"),
    ],
)
def test_a_chapter_without_a_section_is_found(old, new, words):
    assert words in " ".join(rules.missing_sections(chapter(CHAPTER.replace(old, new, 1)), "03"))


def test_a_chapter_without_a_quiz_is_found():
    assert rules.quiz_problems(NotebookNode(cells=[ran("quiz(4)")]), "03")


def pair():
    solved = "def f(a):\n    ### BEGIN SOLUTION\n    return a\n    ### END SOLUTION\n\ncheck('3.1', f)"
    stub = "def f(a):\n    raise NotImplementedError  # Your turn: write.\n\ncheck('3.1', f)"
    printed = new_output("stream", name="stdout", text="4\n")
    solution = [ran("print(4)", printed), ran(solved, tags=["exercise"]), new_markdown_cell("So.")]
    solution[2].metadata.tags = ["solution"]
    learner = [ran("print(4)", printed), ran(stub, tags=["exercise"])]
    for one, other in zip(learner, solution, strict=False):
        one.id = other.id
    return NotebookNode(cells=learner), NotebookNode(cells=solution)


def test_versions_that_differ_in_answers_only_pass():
    assert not rules.differences(*pair())


@pytest.mark.parametrize("change", ["code", "answer's cell", "output", "cell gone"])
def test_a_difference_outside_the_answers_is_found(change):
    learner, solution = pair()
    if change == "code":
        learner.cells[0].source = "print(2 + 2)"
    elif change == "answer's cell":
        learner.cells[1].source = learner.cells[1].source.replace("def f(a)", "def f(b)")
    elif change == "output":
        learner.cells[0].outputs = [new_output("stream", name="stdout", text="5\n")]
    else:
        del learner.cells[0]
    assert rules.differences(learner, solution)
