"""Which file of the repository becomes which page, and the tree of them that Sphinx reads."""

import re
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

import nbformat

from bertedu.classroom.overview import Chapter, chapters
from bertedu.course.building.places import Places
from bertedu.errors import UserError
from bertedu.files import copy, read_text, write_text
from bertedu.interview.bank import read_bank
from bertedu.website.chapters import Stored, chapter_page, stored
from bertedu.website.front import chapter_map
from bertedu.website.glossary import Term, glossary_page, terms
from bertedu.website.interview import bank_page, topic_page
from bertedu.website.reference import write_reference
from bertedu.website.tree import Tree, sections, slug

# Files that become pages as they are. All of docs/teaching and the teacher's page of each chapter come on top.
PAGES = {
    "docs/start.md": "start",
    "docs/results.md": "guides/results",
    "docs/command_line.md": "guides/command_line",
    "docs/python.md": "guides/python",
    "docs/finetuning.md": "guides/finetuning",
    "docs/family.md": "guides/family",
    "docs/production.md": "guides/production",
    "docs/checkpoints.md": "guides/checkpoints",
    "docs/practice.md": "guides/practice",
    "docs/interview.md": "interview/commands",
    "data/checkpoints/world-tiny/README.md": "guides/world-tiny",
    "data/checkpoints/mixed-mini/README.md": "guides/mixed-mini",
    "CHANGELOG.md": "about/changelog",
    "CONTRIBUTING.md": "about/contributing",
    "SECURITY.md": "about/security",
}
BENCHMARKS, NOTES = "benchmarks/README.md", "benchmarks/notes.md"
BELOW_A_SECTION = re.compile(r"^### (.+)$", re.MULTILINE)
TWO_COMMANDS = re.compile(r"^## Two commands\n+(```sh\n.*?^```\n)", re.DOTALL | re.MULTILINE)
CLONE = "<!-- git clone -->"  # where a page of the site shows how to get the course
GRAPH = re.compile(r"```mermaid\n.*?```", re.DOTALL)


def write_tree(root: Path, folder: Path, solutions: bool = True) -> tuple[list[Stored], list[Term]]:
    """Write all that Sphinx reads into an empty folder; returns the chapters and the terms."""
    places = Places(root)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "docs" / "site", folder)
    found = [stored(one, places) for one in chapters(places.chapters)]
    tree = Tree(root, folder, page_map(root, found))
    commands = two_commands(read_text(root / "README.md"))
    for file, page in PAGES.items():
        tree.add(file, page, read_text(root / file).replace(CLONE, clone_line(commands)))
    write_chapters(found, tree, solutions)
    write_teaching(found, tree)
    write_benchmarks(tree)
    write_interview(found, tree)
    write_reference(root / "bertedu", folder)
    write_about(root, folder)
    write_text(folder / "two_commands.md", commands)
    index = tomllib.loads(read_text(folder / "terms.toml"))
    listed = terms(index["terms"], found, index["places"], index["sentences"])
    write_text(folder / "terms.md", glossary_page(listed))
    return found, listed


def two_commands(readme: str) -> str:
    """The block of commands that the README begins with, for the front page."""
    found = TWO_COMMANDS.search(readme)
    if not found:
        raise UserError("README.md has no block of commands under '## Two commands', which the front page shows.")
    return found[1]


def clone_line(commands: str) -> str:
    """Of the two commands, what comes before them: how to get the folder of the course."""
    start, clone, *_ = commands.splitlines()
    return "\n".join((start, clone, "```"))


def page_map(root: Path, found: Sequence[Stored]) -> dict[str, str]:
    """Each file of the repository that has a page, and each section of the benchmarks with the headings below it."""
    pages = dict(PAGES)
    for one in found:
        name = one.chapter.name
        pages[f"notebooks/{name}.ipynb"] = one.page
        pages[f"bertedu/chapters/ch{name}/{name}.py"] = one.page
        pages[f"bertedu/chapters/ch{name}/teaching.md"] = f"teaching/{name}"
    for path in sorted((root / "docs" / "teaching").glob("*.md")):
        pages[f"docs/teaching/{path.name}"] = f"teaching/{'index' if path.stem == 'README' else path.stem}"
    for heading, text in sections(read_text(root / BENCHMARKS))[1]:
        page = f"benchmarks/{slug(heading)}"
        pages |= {f"{BENCHMARKS}#{slug(below)}": f"{page}#{slug(below)}" for below in BELOW_A_SECTION.findall(text)}
        pages[f"{BENCHMARKS}#{slug(heading)}"] = page
    return {**pages, BENCHMARKS: "benchmarks/index", NOTES: "benchmarks/notes", "README.md": "index"}


def write_chapters(found: Sequence[Stored], tree: Tree, solutions: bool) -> None:
    """The chapters, their map, and the notebooks to download."""
    made = [(one, chapter_page(one, tree, solutions)) for one in found]
    for one, page in made:
        write_text(tree.folder / f"{one.page}.ipynb", nbformat.writes(page))
        notebook = tree.root / "notebooks" / f"{one.chapter.name}.ipynb"
        copy(notebook, tree.folder / "extra" / "downloads" / notebook.name)
    contents = "\n".join(one.chapter.name for one in found)
    write_text(
        tree.folder / "chapters" / "index.md",
        "# The chapters\n\nEach stands on those before it. The minutes are counted; take up to twice as many if all of "
        "it is new to you. A chapter that you have finished gets a tick, which your browser keeps.\n\n"
        f"{chapter_map(made)}\n```{{toctree}}\n:hidden:\n:titlesonly:\n\n{contents}\n```\n",
    )


def write_teaching(found: Sequence[Stored], tree: Tree) -> None:
    """The teacher's pages, and the page of each class."""
    folder = tree.root / "docs" / "teaching"
    own = [path for path in sorted(folder.glob("*.md")) if path.stem != "README"]
    for path in own:
        tree.add(f"docs/teaching/{path.name}", f"teaching/{path.stem}", read_text(path))
    for one in found:
        file = f"bertedu/chapters/ch{one.chapter.name}/teaching.md"
        text = read_text(tree.root / file)
        tree.add(file, f"teaching/{one.chapter.name}", text.replace("# ", "# Teaching ", 1))  # of two pages of one name
    text = GRAPH.sub(needs_table([one.chapter for one in found]), read_text(folder / "README.md"))
    contents = "\n".join([*(path.stem for path in own), *(one.chapter.name for one in found)])
    tree.add(
        "docs/teaching/README.md",
        "teaching/index",
        f"{text}\n```{{toctree}}\n:hidden:\n:titlesonly:\n\n{contents}\n```\n",
    )


def needs_table(found: Sequence[Chapter]) -> str:
    """What each chapter needs, as a table: a page that fetches nothing draws no graph in Mermaid."""
    rows = [f"| {one.number} · {one.title} | {', '.join(one.needs)} | {', '.join(one.better_after)} |" for one in found]
    return "\n".join(["| chapter | needs | better after |", "|---|---|---|", *rows])


def write_benchmarks(tree: Tree) -> None:
    """The benchmarks, a page for each section, and the notes."""
    before, parts = sections(read_text(tree.root / BENCHMARKS))
    contents = "\n".join([*(slug(heading) for heading, _ in parts), "notes"])
    tree.add(BENCHMARKS, "benchmarks/index", f"{before}\n```{{toctree}}\n:titlesonly:\n\n{contents}\n```\n")
    for heading, text in parts:
        text = re.sub(r"^###", "##", text, flags=re.MULTILINE)
        tree.add(BENCHMARKS, f"benchmarks/{slug(heading)}", f"# {heading}\n{text}")
    tree.add(NOTES, "benchmarks/notes", read_text(tree.root / NOTES))


def write_interview(found: Sequence[Stored], tree: Tree) -> None:
    """The bank: the list of all questions, and a page for each topic."""
    topics = read_bank(tree.root / "bertedu" / "chapters", tree.root / "data" / "interview")
    by_number = {one.chapter.number: one.chapter for one in found}
    for topic in topics:
        write_text(tree.folder / "interview" / f"{topic.name}.md", topic_page(topic, by_number))
    contents = "\n".join(["commands", *(topic.name for topic in topics)])
    write_text(
        tree.folder / "interview" / "index.md",
        f"{bank_page(topics)}\n```{{toctree}}\n:hidden:\n:titlesonly:\n\n{contents}\n```\n",
    )


def write_about(root: Path, folder: Path) -> None:
    """How to cite, from CITATION.cff, and the licences."""
    citation = read_text(root / "CITATION.cff")
    licence = read_text(root / "LICENSE")
    write_text(
        folder / "about" / "cite.md",
        "# How to cite\n\nIf you teach with bertedu or build on it, please cite it. Reference managers read this file, "
        f"`CITATION.cff`:\n\n```yaml\n{citation}```\n",
    )
    write_text(folder / "about" / "licence.md", f"# Licence\n\n```text\n{licence}```\n")
