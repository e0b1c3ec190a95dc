"""A reader who skips the sections marked "(optional)" meets no name that only a skipped cell defines."""

import builtins
import re
import symtable

import jupytext
import pytest

from bertedu.course.rooms import CHAPTERS, sources_in

SOURCES = sources_in(CHAPTERS)


def names(code: str) -> tuple[set[str], set[str]]:
    """The names that a cell defines, and those that it, or a function or class in it, takes from other cells."""
    table = symtable.symtable(re.sub(r"^[%!].*", "pass", code, flags=re.M), "cell", "exec")
    defined = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    used, tables = set(), [table]
    while tables:
        table = tables.pop()
        free = (s for s in table.get_symbols() if s.is_referenced() and (s.is_global() or table.get_type() == "module"))
        used |= {s.get_name() for s in free}
        tables += table.get_children()
    return defined, used - defined - set(dir(builtins))


def missing(cells: list) -> list[str]:
    """A sentence for each name that a core cell uses and only optional cells before it define."""
    core, optional, found, level = set(), {}, [], 0
    for cell in cells:
        if cell.cell_type == "markdown":
            for marks, title in re.findall(r"^(##+) (.+)", cell.source, flags=re.M):
                if "(optional" in title and not level:
                    level = len(marks)
                elif level and len(marks) <= level and not title.startswith("Exercise"):
                    level = len(marks) if "(optional" in title else 0
        if cell.cell_type != "code":
            continue
        defined, used = names(cell.source)
        if level:
            optional |= dict.fromkeys(defined, cell.source.splitlines()[0])
            continue
        found += [f"{name} is used, and defined only below {optional[name]!r}" for name in used & set(optional) - core]
        core |= defined
    return found


@pytest.mark.parametrize("source", [pytest.param(source, id=source.stem) for source in SOURCES])
def test_no_core_cell_needs_a_cell_that_may_be_skipped(source):
    found = missing(jupytext.read(source).cells)
    assert not found, "\n".join(found)


SKIPPED = "# %% [markdown]\n# ## More (optional)\n# %%\n{}\n# %% [markdown]\n# ## The proof\n# %%\n{}\n"


@pytest.mark.parametrize(
    ("optional", "core"),
    [("from torch import nn", "nn.Linear"), ("size = 3", "def f():\n    return size"), ("n = 1", "[n for _ in 'ab']")],
)
def test_a_name_from_a_skipped_cell_is_seen(optional, core):
    assert missing(jupytext.reads(SKIPPED.format(optional, core), fmt="py:percent").cells)


@pytest.mark.parametrize(
    ("optional", "core"),
    [("size = 3", "size = 4\nsize"), ("x = 1", "def f(x):\n    return x"), ("i = 1", "[i for i in 'ab']")],
)
def test_a_name_of_the_cell_itself_passes(optional, core):
    assert not missing(jupytext.reads(SKIPPED.format(optional, core), fmt="py:percent").cells)
