"""Advice on prose: words of our own where the field has a name for the thing. `make lint` prints it.

No test fails because of it: a pattern cannot tell every ordinary sense of a word from a private one. Whoever wrote the
sentence decides.
"""

import ast
import io
import json
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

LOOK = r"look(?:s|ed|ing)? at\b"
NOT_A_POSITION = "in |both |take |takes |took |taken |taking |decimal |no |out of |persons, "
NAMED_RATES = "--head-|learning |masking |dropout |error |base |-wise |positive |negative |learning-|sampling |`"

# (words, the field's word). A pattern finds the private sense; ordinary uses ("in place", "learning rate", "the idea
# behind it") are left out by the pattern itself, and what no pattern can tell apart stands in ORDINARY.
WORDS = [
    (rf"(?:tokens?|heads?|quer(?:y|ies)|layers?|\[\w+\])\W+(?:\w+ )?{LOOK}|looks at\b", "attend to"),
    (r"takes? its share\b", "attention weight"),
    ("".join(f"(?<!{word})" for word in NOT_A_POSITION.split("|")) + r"\bplaces?\b(?! where)", "position"),
    (r"rows? of (?:text|texts|tags|tokens|ids|words|labels)\b", "sequence, tag sequence"),
    (
        r"(?:published|random|trained|untrained|fresh|copied|better) starts?\b|starts? of (?:the )?weights",
        "initialization",
    ),
    ("".join(f"(?<!{word})" for word in NAMED_RATES.split("|")) + r"\brates?\b", "learning rate, masking rate"),
    (r"turned\b(?! (?:into|on|off|out|to|up|down))", "transposed, swapped"),
    (r"(?<!standard )(?<!standard-)\bdeviations?\b", "standard deviation"),
    (r"spreads?\b(?! (?:over|across|out|evenly|among|to|its|their|the))", "standard deviation"),
    (r"loud(?:er|est|ly|ness)?\b", "scale, norm"),
    (r"doubt(?:s|ed|ing|ful)?\b|silen(?:ce|ces)\b", "no-answer score (null score difference), abstaining"),
    (r"(?:forbidden|allowed|legal|illegal|tag) steps?\b|steps? (?:between|from) (?:\w+ )?tags?\b", "transitions"),
    (r"by lot\b|lots? (?:is|are) drawn\b|drawing of lots", "at random, random control labels"),
    (r"eras(?:e|es|ed|ing|ure)\b|silenc(?:ed|ing)\b", "occlusion, ablating a head"),
    (r"decided heads?\b|most decided\b", "low-entropy heads"),
    (r"counting (?:beats|wins|knows|is|reaches|gets|alone|does)\b|(?:than|beats?|against) counting\b", "baseline"),
    (r"shared words\b", "word overlap"),
    (r"surprises?\b|hesitat\w+", "cross-entropy (negative log-likelihood), pseudo-perplexity"),
    (r"likelihood criterion\b", "WordPiece score"),
    (r"dear(?:er|est)?\b", "expensive"),
    (r"(?<!idea )(?<!intuition )(?<!reason )(?<!reasoning )(?<!thought )\bbehind\b(?! the scenes)", "after"),
    (r"whoever\b", "if you, anybody who"),
    (r"hangs? (?:\w+ )?on\b", "depends on"),
    (r"comes? far\b", "gets far"),
]
PATTERNS = [(re.compile(rf"(?<!\w)(?:{words})", re.IGNORECASE), field) for words, field in WORDS]

# Where a word is meant in its ordinary sense, or is a name that stored results hold: the words, and a pattern of files.
ORDINARY = [
    ({"place", "places"}, r"/ch11_tagging/"),  # a type of entity
    ({"place"}, r"world/senses\.py"),  # of a scene
    ({"behind"}, r"03_self_attention\.py"),  # a preposition of the sentences that are generated
]


class Found(NamedTuple):
    """A private word: in which file and line it stands, and the field's word for it."""

    file: str
    line: int
    word: str
    field: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.word!r}; write: {self.field}"


def private_words(text: str) -> Iterator[tuple[int, str, str]]:
    """(line from 0, the private words, the field's) in a text. Code in backticks is no prose."""
    text = re.sub(r"`[^`\n]*`", lambda code: "`" + " " * (len(code[0]) - 2) + "`", text)
    rows = [re.sub(r"^[# ]+", "", row) for row in text.split("\n")]
    flat = " ".join(rows)  # a phrase may be broken over two lines
    starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
    for pattern, field in PATTERNS:
        for match in pattern.finditer(flat):
            yield bisect_right(starts, match.start()) - 1, match[0], field


def prose(code: str) -> Iterator[tuple[int, str]]:
    """(first line, text) of docstrings, sentences in strings, and comments (neighbouring lines as one text)."""
    for node in ast.walk(ast.parse(code)):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if " " in text.strip() and " => " not in text:  # with => it is JavaScript
            yield node.lineno, text
    block: list[str] = []
    begins = 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type != tokenize.COMMENT:
            continue
        if block and token.start[0] != begins + len(block):
            yield begins, "\n".join(block)
            block = []
        begins = begins if block else token.start[0]
        block.append("" if token.string.startswith("# %%") else token.string)
    if block:
        yield begins, "\n".join(block)


def in_python(file: Path, root: Path) -> list[Found]:
    """Private words in the prose of a module, or in a notebook's source, whose Markdown is comments."""
    code = re.sub(r"^(\s*)[%!]", r"\1#", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return kept(
        file, root, ((first + n, word, field) for first, text in prose(code) for n, word, field in private_words(text))
    )


def in_quiz(file: Path, root: Path) -> list[Found]:
    """Private words in questions, answers and feedback; the line is the question's number."""
    texts = [
        (n, json.dumps(question, ensure_ascii=False))
        for n, question in enumerate(json.loads(file.read_text("utf-8")), 1)
    ]
    return kept(file, root, ((n, word, field) for n, text in texts for _, word, field in private_words(text)))


def in_text(file: Path, root: Path) -> list[Found]:
    """Private words anywhere in a file that is prose throughout."""
    return kept(file, root, ((1 + n, word, field) for n, word, field in private_words(file.read_text("utf-8"))))


def kept(file: Path, root: Path, found: Iterator[tuple[int, str, str]]) -> list[Found]:
    name = file.relative_to(root).as_posix()
    ordinary = {word for words, files in ORDINARY if re.search(files, name) for word in words}
    return sorted({Found(name, *one) for one in found if one[1].lower() not in ordinary})


def prose_of(file: Path, root: Path) -> list[Found]:
    """The private words of a file whose kind its name tells; none where it holds no prose."""
    if file.suffix == ".py":
        return in_python(file, root)
    if file.suffix == ".json":
        return in_quiz(file, root) if file.name == "quiz.json" else []
    read = file.suffix == ".md" or (file.suffix == ".toml" and "interview" in file.as_posix())  # no corpus's words
    return in_text(file, root) if read else []


def advice(root: Path) -> list[Found]:
    """Every private word of the package with its chapters, of the question bank and of the teacher's pages."""
    folders = ("bertedu", "data/interview", "docs")
    files = [file for folder in folders for file in sorted((root / folder).rglob("*.*"))]
    return [one for file in [*files, root / "CONTRIBUTING.md"] if file.is_file() for one in prose_of(file, root)]


if __name__ == "__main__":
    for one in advice(Path(__file__).resolve().parents[2]):
        print(f"advice: {one}")
