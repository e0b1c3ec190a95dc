"""The tree of pages that Sphinx reads, and where a link between files of the repository leads on the site."""

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path

from bertedu.address import source_url
from bertedu.files import copy, write_text

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^)\s]+)\)")
OUTSIDE = re.compile(r"\w+:|#|/")
CODE = re.compile(r"(```.*?```|``[^`].*?``|`[^`\n]+`)", re.DOTALL)
PICTURES = (".png", ".svg", ".gif", ".jpg")


@dataclass
class Tree:
    """Where the pages are written, and which page of the site each file of the repository becomes.

    pages maps a file ("docs/finetuning.md", or a section of one, "benchmarks/README.md#grading") to its page, without
    an ending ("guides/finetuning"), and a heading below a section to its place there ("benchmarks/grading#by-hand").
    """

    root: Path  # the repository
    folder: Path  # what Sphinx reads
    pages: dict[str, str] = field(default_factory=dict)

    def add(self, file: str, page: str, text: str) -> None:
        """Write a page made from a file, with links that lead to pages of the site, or else to the repository."""
        write_text(self.folder / f"{page}.md", self.linked(text, file))

    def linked(self, text: str, file: str) -> str:
        """A Markdown text of a file with the links of the site; what stands in code is left as it is."""
        code = [found.span() for found in CODE.finditer(text)]

        def mend(found: re.Match[str]) -> str:
            words, address = found.groups()
            if OUTSIDE.match(address) or any(start <= found.start() < end for start, end in code):
                return found[0]
            return f"{words}({self.target(address, file)})"

        return LINK.sub(mend, text)

    def target(self, address: str, file: str) -> str:
        """Where a relative address in a file leads on the site."""
        path, _, place = address.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        if path.endswith(PICTURES):
            copy(self.root / path, self.folder / "pictures" / path)
            return f"/pictures/{path}"
        if section := self.pages.get(f"{path}#{place}"):
            page, mark, within = section.partition("#")
            return f"/{page}.md{mark}{within}"
        if path in self.pages:
            page = self.pages[path]
            ending = ".ipynb" if path.endswith(".ipynb") else ".md"
            return f"/{page}{ending}" + (f"#{place}" if place else "")
        return source_url(path) + (f"#{place}" if place else "")


def slug(heading: str) -> str:
    """The anchor that GitHub and MyST give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def sections(text: str) -> tuple[str, list[tuple[str, str]]]:
    """A Markdown page as what stands before its second-level headings, and (heading, text) for each of them."""
    before, *rest = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return before, list(zip(rest[::2], rest[1::2], strict=True))
