"""The pictures of a chapter, drawn from the numbers that its notebook has computed.

Each public function of a room's `pictures.py` (and `pictures_….py`) draws one: `def padding(weights, tokens)` gets what
the notebook has under these names after its last cell, returns a figure of matplotlib, and becomes
`notebooks/pictures/03_padding.svg`.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bertedu.errors import UserError
from bertedu.files import write_text

POINTS = re.compile(r'\b(width|height)="([\d.]+)pt"')
SVG = "{http://www.w3.org/2000/svg}"
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bertedu",
}  # text stays text, and the same picture the same file


def drawers(module: str) -> dict[str, Callable[..., Any]]:
    """The functions that draw, by the names of their pictures."""
    found = inspect.getmembers(import_module(module), inspect.isfunction)
    return {name: function for name, function in found if function.__module__ == module and not name.startswith("_")}


def draw(module: str, names: Mapping[str, Any], folder: Path, chapter: str) -> list[Path]:
    """Draw the pictures of a chapter; returns their files. Raises UserError where a notebook has not what one needs."""
    import matplotlib

    files = []
    for name, function in drawers(module).items():
        wanted = inspect.signature(function).parameters
        if missing := [one for one in wanted if one not in names]:
            raise UserError(f"the picture {name} of chapter {chapter} needs {', '.join(missing)}: no cell defines it.")
        with matplotlib.rc_context(SETTINGS):
            figure = function(**{one: names[one] for one in wanted})
            path = Path(folder) / f"{chapter}_{name}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, svg_of(figure))
        files.append(path)
    return files


def svg_of(figure: Any) -> str:
    """A figure as SVG, its size in pixels, without the date and with no spaces at the ends of lines."""
    from io import StringIO

    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    lines = (POINTS.sub(in_pixels, line.rstrip()) for line in text.getvalue().splitlines())
    return "\n".join(lines) + "\n"


def in_pixels(size: re.Match[str]) -> str:
    """The width or height of a picture in pixels, as the other pictures have it: 96 an inch, where a point is 1/72."""
    return f'{size[1]}="{float(size[2]) * 96 / 72:g}"'


def words_of(svg: str) -> list[str]:
    """The words and numbers in a picture: what is compared, since lines and curves differ with fonts and versions."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return [text for one in found if (text := re.sub(r"\s+", " ", "".join(one.itertext())).strip())]
