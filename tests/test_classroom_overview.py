"""What is computed for a teacher: times of chapters, and the graph of what needs what."""

import pytest

from bertedu.classroom.overview import chapter, chapters, graph, missing_before, refreshed, times_table
from bertedu.course.building.sittings import Sittings
from bertedu.course.rooms import CHAPTERS
from bertedu.errors import UserError

COURSE = chapters(CHAPTERS)
FIRST_CELL = """# %% [markdown]
# # 03 · Attention
#
# One sentence.
#
# **Time:** {time} ·
# **You need:** {needs} ·
# **Next:** [04 · More](04_more.ipynb)
#
# ## Recall
# **You need:** [99 · No](99_no.ipynb) **Next:**
"""


def source(
    tmp_path,
    time="two sittings of about 50 and 45 minutes, and 20 more for what is optional",
    needs="[02 · A](02_a.ipynb)",
):
    path = tmp_path / "03_attention.py"
    path.write_text(FIRST_CELL.format(time=time, needs=needs), encoding="utf-8")
    return path


def test_a_chapter_that_is_only_better_to_have_is_not_called_needed(tmp_path):
    needs = "[01 · A](01_a.ipynb) and\n# [02 · B](02_b.ipynb), best after\n# [13 · C](13_c.ipynb)"
    found = chapter(source(tmp_path, needs=needs))
    assert (found.needs, found.better_after) == (("01", "02"), ("13",))


def test_a_chapter_has_the_sittings_that_it_states(tmp_path):
    found = chapter(source(tmp_path))
    assert (found.number, found.name, found.title) == ("03", "03_attention", "Attention")
    assert (found.sittings, found.core, found.everything) == (Sittings((50, 45), 20), 95, 115)


def test_only_the_chapters_own_exercises_are_counted(tmp_path):
    found = chapter(source(tmp_path))
    assert set(found.exercises) == {"3.1", "3.2", "3.3", "3.4", "3.5"}
    assert found.reading_minutes + found.exercise_minutes == found.everything


def test_a_chapter_without_its_times_is_refused(tmp_path):
    with pytest.raises(UserError, match="how many sittings"):
        chapter(source(tmp_path, time="a while"))
    with pytest.raises(UserError, match="no chapters"):
        chapters(tmp_path / "nothing")


def test_the_graph_has_all_that_a_chapter_needs():
    lines = graph(COURSE).splitlines()
    for one in COURSE:
        text = (CHAPTERS / f"ch{one.name}" / f"{one.name}.py").read_text(encoding="utf-8")
        stated = text.partition("**You need:**")[2].partition("**Next:**")[0]
        for other in COURSE:
            arrows = [line for line in lines if line.endswith(f" c{one.number}") and f"c{other.number} -" in line]
            assert len(arrows) == int(f"({other.name}.ipynb)" in stated), (other.name, one.name)


def test_an_order_that_the_graph_forbids_is_refused():
    assert not missing_before(["00", "01", "02", "03", "04", "05", "06", "15"], COURSE)
    assert not missing_before([one.number for one in COURSE], COURSE)
    assert missing_before(["00", "01", "03"], COURSE) == ["chapter 03 needs chapter 02, which does not come before it"]
    assert missing_before(["00", "02", "01"], COURSE) == ["chapter 02 needs chapter 01, which does not come before it"]
    assert missing_before(["00", "99"], COURSE) == ["there is no chapter 99"]


def test_the_table_has_every_chapter_and_adds_up():
    rows = times_table(COURSE).splitlines()[2:]
    assert len(rows) == len(COURSE) + 1
    numbers = [[sum(map(int, cell.split("+"))) if cell.strip() else 0 for cell in row.split("|")[2:6]] for row in rows]
    assert [sum(column) for column in zip(*numbers[:-1], strict=True)] == numbers[-1]
    assert all(sum(row[:2]) == sum(row[2:]) for row in numbers)


def test_a_page_without_marks_is_refused():
    page = "a\n<!-- times -->\nold\n<!-- /times -->\nb\n```mermaid\nold\n```\nc\n"
    new = refreshed(page, COURSE)
    assert "old" not in new and new.startswith("a\n") and new.endswith("c\n") and refreshed(new, COURSE) == new
    with pytest.raises(UserError, match="times"):
        refreshed("nothing", COURSE)
    with pytest.raises(UserError, match="graph"):
        refreshed("<!-- times --><!-- /times -->", COURSE)
