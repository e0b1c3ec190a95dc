"""Exercises without their chapter: what their code needs comes along, and nothing else."""

import nbformat
import pytest

from bertedu.classroom.assignment_exercises import exercises_only
from bertedu.course.building.needs import needed_by, statements
from bertedu.course.statements import uses
from bertedu.errors import UserError

CHAPTER = """
# # 03 · A chapter
---
import math, os
from torch import nn, tensor as t
print(os.getcwd())
---
torch.manual_seed(0)
sizes = {}  # of two
print("long work")
sizes["a"] = math.pi
others = [1]
others.append(2)
---
# Text.
# ### Exercise 3.1 · First
---
def answer(x):
    ### BEGIN SOLUTION
    return x * sizes["a"]
    ### END SOLUTION
check("3.1", answer)
---
# ## Broken BERT: a lab
---
broken = [others, others]
print(broken)
---
# ### Exercise 3.2 · Second
---
### BEGIN SOLUTION
number = 4
### END SOLUTION
check("3.2", number)
---
# ### Exercise 3.3 · Third
---
def again(x):
    ### BEGIN SOLUTION
    return nn.Linear(x, x)
    ### END SOLUTION
check("3.3", again)
"""


def chapter(text=CHAPTER):
    made = []
    for part in text.strip().split("\n---\n"):
        lines = part.splitlines()
        if all(line.startswith("# ") for line in lines):
            made.append(nbformat.v4.new_markdown_cell("\n".join(line[2:] for line in lines)))
        else:
            made.append(nbformat.v4.new_code_cell(part))
    return nbformat.v4.new_notebook(cells=made)


def test_every_helper_comes_along_and_nothing_else_of_the_chapter():
    sources = [cell.source for cell in exercises_only(chapter(), "03_x.py").cells]
    assert sources[0].startswith("# 03 · A chapter: exercises\n")
    assert sources[1] == "import math\nfrom bertedu.course import hint\nfrom torch import nn"
    assert sources[2].endswith('sizes = {}  # of two\nsizes["a"] = math.pi') and "print" not in sources[2]
    assert sources[3] == "### Exercise 3.1 · First"
    assert "others" not in sources[2] and not any("long work" in source for source in sources)


def test_the_lab_is_not_run_and_no_earlier_answer_stands_in_its_text():
    cells = exercises_only(chapter(), "03_x.py").cells
    places = [cell.source.splitlines()[0] for cell in cells]
    assert places[5:] == [
        "## Broken BERT: a lab",
        "In the chapter, this cell",
        "### Exercise 3.2 · Second",
        "### BEGIN SOLUTION",
        "### Exercise 3.3 · Third",
        "def again(x):",
    ]
    assert not [cell for cell in cells if cell.cell_type == "markdown" and "SOLUTION" in cell.source]
    assert len({cell.id for cell in cells}) == len(cells)


def test_an_exercise_without_a_heading_is_refused_in_words():
    with pytest.raises(UserError, match=r"the exercise in cell 5 has no heading"):
        exercises_only(chapter(CHAPTER.replace("### Exercise 3.1", "### Task 3.1")), "03_x.py")


def test_a_name_inside_a_function_is_none_of_the_chapter():
    assert uses("def f(a):\n    b = a + c\n    return [d for d in b if e]\n") == {"c", "e"}
    assert uses("class A(Base):\n    def go(self):\n        return self.x + top\n") == {"Base", "top"}


def test_a_value_comes_with_its_seed_and_what_changes_it():
    cells = chapter().cells
    everything = statements(cells)
    needed = [everything[place].code for place in sorted(needed_by(4, everything))]
    assert needed == ["import math, os", "torch.manual_seed(0)", "sizes = {}  # of two", 'sizes["a"] = math.pi']
    drawn = chapter("import torch\n---\ntorch.manual_seed(3)\nx = torch.randn(2)\n---\nprint(x)").cells
    everything = statements(drawn)
    assert len(needed_by(2, everything)) == 3
