"""Before a notebook is executed: what is wrong with sources is said, and what no output shows counts for nothing."""

from pathlib import Path

import pytest

from bertedu.course.building import build as building
from bertedu.course.building import freshness
from bertedu.course.building.build import build
from bertedu.course.building.freshness import made_from, what_runs
from bertedu.course.building.places import Places
from bertedu.course.building.rules import faults
from bertedu.course.building.versions import learner_version, read_source, solution_version
from bertedu.errors import UserError

GOOD = """# %% [markdown]
# # 90 · Adding
#
# ### Exercise 3.2 · Attention in four lines

# %% tags=["exercise"]
def attention(query, key, value):
    ### BEGIN SOLUTION
    return query
    ### END SOLUTION


check("3.2", attention)
"""
FAULTS = {
    ("# # 90 · Adding", "# # 90 · Adding, after [01](01_words.ipynb)"): ("line 2", "01_words.ipynb, which no source"),
    ("Exercise 3.2", "Exercise 3.22"): ("line 4", "exercise 3.22 is not registered"),
    ("in four lines", "in five lines"): ("line 4", "'Attention in four lines', and not as 'Attention in five lines'"),
    ('check("3.2"', 'check("3.20"'): ("line 13", "check('3.20', …): there is no such exercise"),
    ('\n\ncheck("3.2", attention)', ""): ("line 7", "nothing examines this answer"),
    ("    ### END SOLUTION\n", ""): ("line 12", "BEGIN SOLUTION has no ### END SOLUTION"),
    ("### BEGIN SOLUTION", "# nothing"): ("line 10", "without ### BEGIN SOLUTION before it"),
    ('tags=["exercise"]', 'tags=["excercise"]'): ("line 7", "did you mean 'exercise'?"),
    ('tags=["exercise"]', 'tags="exercise"'): ("", "tags are a list"),
    ("return query", "return query)"): ("line 9", "this is no Python"),
    ("Adding\n#\n", "Adding\n#\n# <svg width='3'></svg>\n"): ("line 4", "JupyterLab shows no <svg> of a cell"),
    ("Adding\n#\n", "Adding\n#\n# ![A line](pictures/no.svg)\n"): ("line 4", "pictures/no.svg is not there"),
    ("Adding\n#\n", "Adding\n#\n# ![A\n# line](pictures/bad.svg)\n"): ("line 4", "bad.svg is no SVG: mismatched tag"),
    ("Adding\n#\n", "Adding\n#\n# ![](pictures/good.svg)\n"): ("line 4", "good.svg has no words"),
    ("Adding\n#\n", "Adding\n#\n# ![A line](pictures/bare.svg)\n"): ("line 4", "bare.svg is no <svg xmlns=…> with"),
}


DRAWINGS = {
    "good": '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="3"><text x="1" y="2">a key</text></svg>',
    "bare": '<svg width="3" height="3"></svg>',
    "bad": '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="3"><g></svg>',
}


def course(folder: Path, source: str) -> Places:
    room = folder / "bertedu" / "chapters" / "ch90_adding"
    room.mkdir(parents=True)
    (room / "90_adding.py").write_text(source, encoding="utf-8")
    (folder / "notebooks" / "pictures").mkdir(parents=True)
    for name, text in DRAWINGS.items():
        (folder / "notebooks" / "pictures" / f"{name}.svg").write_text(text, encoding="utf-8")
    return Places(folder)


@pytest.mark.parametrize(
    "more", ["", "# ![Left [MASK], right a key](pictures/good.svg), and `<svg>`, `![](a.svg)`\n#\n"]
)
def test_the_right_sources_have_no_faults(tmp_path, more):
    places = course(tmp_path, GOOD.replace("# ### Ex", f"{more}# ### Ex"))
    assert not [fault for path in places.all_sources() for fault in faults(path, places)]


@pytest.mark.parametrize("change", FAULTS, ids=[words for _, words in FAULTS.values()])
def test_a_fault_of_a_source_is_found_at_once_with_its_line(tmp_path, monkeypatch, change):
    monkeypatch.setattr(building, "execute", lambda *_: pytest.fail("a cell was executed"))
    assert change[0] in GOOD
    places = course(tmp_path, GOOD.replace(*change))
    line, words = FAULTS[change]
    with pytest.raises(UserError) as refused:
        build(places=places, show_progress=False)
    assert f"90_adding.py{', ' * bool(line)}{line}" in str(refused.value) and words in str(refused.value)


def test_the_solved_notebook_looks_for_its_pictures_in_its_own_folder(tmp_path):
    shown = "# ![Left [MASK], right](pictures/good.svg) `![](pictures/a.svg)` ![b](https://a.b/pictures/c.svg)\n#\n"
    places = course(tmp_path, GOOD.replace("# ### Ex", f"{shown}# ### Ex"))
    (path,) = places.all_sources()
    source = read_source(path)
    learner, solved = learner_version(source, path), solution_version(source)
    assert "![Left [MASK], right](pictures/good.svg) `![](pictures/a.svg)`" in learner.cells[0].source
    assert "![Left [MASK], right](../pictures/good.svg) `![](pictures/a.svg)`" in solved.cells[0].source
    assert "(https://a.b/pictures/c.svg)" in solved.cells[0].source
    assert [cell.id for cell in learner.cells] == [cell.id for cell in solved.cells]


def test_a_picture_that_the_build_is_to_draw_is_refused_before_it(tmp_path):
    places = course(tmp_path, GOOD.replace("# ### Ex", "# ![A line](pictures/90_new.svg)\n#\n# ### Ex"))
    (path,) = places.all_sources()
    assert "90_new.svg is not there" in "".join(faults(path, places))
    path.with_name("pictures.py").write_text("", encoding="utf-8")
    assert not faults(path, places)


def test_an_exercise_that_its_notebook_lacks_is_told(tmp_path):
    places = course(tmp_path, GOOD)
    (path,) = places.all_sources()
    said = faults(path.rename(path.with_name("03_attention.py")), places)
    assert any("exercise 3.5 is registered, and no heading" in fault for fault in said)
    assert any("no cell calls check('3.5', …)" in fault for fault in said)


EXERCISE = """
@exercise("3.2", "Attention", difficulty=2, minutes=15, hints=("Which axis?", "The last."))
def attention(case):
    case.fail("Which axis?")
"""


@pytest.mark.parametrize(("old", "new"), [("The last.", "It is the last."), ('"Attention"', '"Attend"'), ("15", "20")])
def test_a_changed_hint_executes_no_notebook(old, new):
    assert what_runs(EXERCISE, hints=False) == what_runs(EXERCISE.replace(old, new), hints=False)
    assert what_runs(EXERCISE, hints=True) != what_runs(EXERCISE.replace(old, new), hints=True)


def test_a_changed_check_or_kind_of_answer_counts():
    for old, new in (('fail("Which axis?")', 'fail("Which?")'), ("hints=", 'kind="value", hints='), ('"3.2"', '"3.3"')):
        assert what_runs(EXERCISE, hints=False) != what_runs(EXERCISE.replace(old, new), hints=False)


@pytest.mark.parametrize(
    ("chapter", "changes"), [("00_start_here", True), ("03_self_attention", False)], ids=["shown", "not shown"]
)
def test_a_hint_that_a_cell_shows_counts_and_one_that_prose_names_does_not(monkeypatch, chapter, changes):
    places = Places()
    source = places.chapters / f"ch{chapter}" / f"{chapter}.py"
    modules = f"bertedu.chapters.ch{chapter}.exercises.exercise_2"
    before = made_from(source, places, modules)
    code = freshness.code_of(modules)
    monkeypatch.setattr(freshness, "code_of", lambda name: code.replace("hints=(", 'hints=("Another.", '))
    assert (made_from(source, places, modules) != before) is changes


DRAWN = 'def scores(raw):\n    """The scores."""\n\n\ndef _helper(query):\n    """Draws none."""\n'


def test_a_name_that_a_picture_takes_and_two_cells_define_is_refused(tmp_path):
    places = course(tmp_path, GOOD + "\n# %%\nraw = query = 1\n\n# %%\nquery = 2\nshown = [raw for raw in (1, 2)]\n")
    (source,) = places.all_sources()
    (source.parent / "pictures.py").write_text(DRAWN, encoding="utf-8")
    assert not faults(source, places)
    source.write_text(source.read_text(encoding="utf-8") + "\n# %%\nfor raw in (1, 2):\n    pass\n", encoding="utf-8")
    (fault,) = faults(source, places)
    assert "line 23: raw gets a second value here; the picture scores would show only this one" in fault
    (source.parent / "pictures.py").rename(source.parent / "pictures_of_scores.py")
    assert faults(source, places) == [fault], "a room may have several files of pictures"
