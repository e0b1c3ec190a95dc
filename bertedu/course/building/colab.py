"""Notebooks for Google Colab: each stands alone, installs the course in its first cell, and finds its pictures.

Colab opens one file and has a Python of its own. So a notebook brings the commands that install the course, and what
Colab itself runs on keeps its version: its torch, which fits its GPU, and what its pages are made of. Colab shows
neither an SVG inside a notebook (googlecolab/colabtools, issue 2092) nor attachments (issue 3836), but shows one that
has an address: pictures are taken from the repository at the tag of the release.
"""

import re
from collections.abc import Iterable
from importlib.metadata import requires, version
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from packaging.requirements import Requirement

from bertedu.address import colab_url, raw_url
from bertedu.course.building.pictures import PICTURE
from bertedu.course.building.places import Places
from bertedu.course.rooms import number_of
from bertedu.files import read_text, write_text

# What Colab runs on. Nothing that is installed may change it.
COLABS_OWN = (
    *("torch", "numpy", "scipy", "scikit-learn", "matplotlib", "jax", "jaxlib"),
    *("ipykernel", "ipython", "ipywidgets", "jupyterlab", "tensorboard"),
)
EXTRAS = {"23": "production", "24": "jax"}  # what these chapters use besides; a test reads their imports
COMMENT = """\
# Run this cell first. It installs the course, with its data, into the Python of Google Colab. It takes a minute or two.
# Where the course is installed already, it does nothing."""
INSTALL = """\
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

if find_spec("bertedu") is None:
    pins = []
    for name in KEPT:
        try:
            pins.append(f"{name}=={version(name)}")
        except PackageNotFoundError:
            pass  # it isn't here, so there's nothing to keep
    with open("bertedu-keep.txt", "w") as file:
        file.write("\\n".join(pins))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "-c", "bertedu-keep.txt", *PACKAGES]
    if subprocess.run(command).returncode:
        print("The course wasn't installed: see above what pip says. If a version doesn't fit,")
        print("choose a newer runtime (Runtime, Change runtime type) and run this cell again.")
    else:
        print("The course is installed. Go on with the next cell.")"""
LINK = re.compile(r"\]\((\d\d\w*\.ipynb)(?:#[^)]*)?\)")


def write_for_colab(folder: Path, chapters: tuple[str, ...] = (), places: Places | None = None) -> list[Path]:
    """Write the learner's notebooks for Colab into a folder, of the chapters given or of all. Nothing is executed."""
    places = places or Places()
    written = []
    for source in places.all_sources(chapters):
        stored, _ = places.pair(source)
        notebook = nbformat.reads(read_text(stored), as_version=4)
        path = folder / stored.name
        write_text(path, nbformat.writes(for_colab(notebook, number_of(source))) + "\n")
        written.append(path)
    return written


def for_colab(notebook: NotebookNode, number: str) -> NotebookNode:
    """The notebook of a chapter ("03") with the first cell in front, and with addresses of pictures and chapters."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_addresses(cell.source)
    first = new_code_cell(first_cell(number), id="install-the-course")
    notebook.cells = [first, *notebook.cells]
    notebook.metadata["colab"] = {"provenance": [], "toc_visible": True}
    return notebook


def with_addresses(text: str) -> str:
    """Markdown whose pictures and links to chapters lead somewhere when the notebook is the only file."""
    text = PICTURE.sub(lambda found: f"![{found[1]}]({picture_address(found[2])})", text)
    return LINK.sub(lambda found: f"]({colab_url(found[1])})", text)


def picture_address(name: str) -> str:
    """Where a picture of the course is on the web; an address stays what it is."""
    return name if ":" in name else raw_url(f"notebooks/{name}", version("bertedu"))


def first_cell(number: str) -> str:
    """The code that installs the course at this version, with what the notebooks use and Colab may lack."""
    extra = EXTRAS.get(number)
    needed = [*packages_of("course"), *(packages_of(extra) if extra else [])]
    packages = [f"bertedu=={version('bertedu')}", *dict.fromkeys(needed)]
    kept = f"{listed('KEPT', COLABS_OWN)}  # what stays at the version that is here"
    return "\n".join((COMMENT, listed("PACKAGES", packages), kept, INSTALL))


def listed(name: str, values: Iterable[str]) -> str:
    """The code that gives a name to a list of strings, one a line."""
    return "\n".join((f"{name} = [", *(f'    "{value}",' for value in values), "]"))


def packages_of(extra: str) -> list[str]:
    """What an extra of the package asks for, as pip reads it, without what Colab has of its own."""
    asked = [Requirement(line) for line in requires("bertedu") or []]
    return [
        f"{one.name}{one.specifier}"
        for one in asked
        if one.marker and one.marker.evaluate({"extra": extra}) and not one.marker.evaluate({"extra": ""})
        if one.name not in COLABS_OWN
    ]
