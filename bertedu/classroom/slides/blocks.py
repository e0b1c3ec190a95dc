"""A stored notebook as sections: a heading, and below it blocks of prose and cells of code in their order."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it.token import Token
from nbformat import NotebookNode

from bertedu.classroom.markup import parser

KINDS = {
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "table_open": "table",
    "math_block": "formula",
    "fence": "fence",
    "html_block": "html",
}


@dataclass
class Block:
    """A block of Markdown as its author wrote it; `items` are those of a list."""

    kind: str
    text: str
    items: list[str] = field(default_factory=list)

    @property
    def folded(self) -> bool:
        """Whether a reader has to open it: an answer."""
        return self.kind == "folded"


@dataclass
class Section:
    """What stands below one heading, without what stands below the next one."""

    level: int
    title: str
    parts: list[Block | NotebookNode] = field(default_factory=list)

    @property
    def optional(self) -> bool:
        """Whether its heading says that it may be left out."""
        return "(optional" in self.title

    @property
    def prose(self) -> list[Block]:
        """Its blocks of Markdown."""
        return [part for part in self.parts if isinstance(part, Block)]


def sections(cells: list[NotebookNode]) -> list[Section]:
    """The sections of a notebook. A cell that Jupyter's slide type calls `skip` is left out, and what such a type calls
    `notes` is folded."""
    found = [Section(0, "")]
    for cell in cells:
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        if kind == "skip":
            continue
        if cell.cell_type == "code":
            found[-1].parts.append(cell)
        elif kind == "notes":
            found[-1].parts.append(Block("folded", cell.source))
        elif cell.cell_type == "markdown":
            for level, block in blocks(cell.source):
                if level:
                    found.append(Section(level, block.text))
                else:
                    found[-1].parts.append(block)
    return [section for section in found if section.title or section.parts]


def blocks(text: str) -> Iterator[tuple[int, Block]]:
    """The blocks of a Markdown text with the level of a heading, or 0; answers folded in `<details>` are one block."""
    lines, tokens = text.splitlines(), parser().parse(text)
    answer: list[str] | None = None
    for place, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        source = "\n".join(lines[token.map[0] : token.map[1]]).strip()
        if answer is not None or source.startswith("<details"):
            answer = [*(answer or []), source]
            if source.endswith("</details>"):
                yield 0, Block("folded", "\n\n".join(answer))
                answer = None
        elif token.type == "heading_open":
            yield int(token.tag[1]), Block("heading", tokens[place + 1].content)
        elif token.type in KINDS:
            yield 0, Block(KINDS[token.type], source, list(items(tokens[place:], lines)))


def items(tokens: list[Token], lines: list[str]) -> Iterator[str]:
    """The items of the list that begins here, as Markdown without the mark before them."""
    if not tokens[0].type.endswith("list_open"):
        return
    for token in tokens[1:]:
        if token.type == tokens[0].type.replace("open", "close") and not token.level:
            return
        if token.type == "list_item_open" and token.level == 1 and token.map:
            whole = "\n".join(lines[token.map[0] : token.map[1]]).strip()
            yield " ".join(whole.lstrip("-*").lstrip("0123456789.").split())
