"""Your own text as a corpus: plain files, of books or of sentences, as people and as BERT's scripts write them."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import regex

from bertedu.corpora.assembling import corpus_from_documents
from bertedu.corpora.documents import Corpus, Document
from bertedu.corpora.readers.opening import read_running_text
from bertedu.errors import UserError
from bertedu.segmentation import joined, split_sentences
from bertedu.segmentation.sentences import ends_with_stop, has_stop
from bertedu.utf8 import without_unseen

SENTENCES_PER_DOCUMENT = 24  # of a running text: about three examples of 128 tokens
LINES_THAT_TELL = 20_000  # in which way a text is written: so many, from all over it, are looked at
LINES_TO_A_STOP = 8  # no sentence that is wrapped by hand is longer: with fewer stops, lines are the sentences
TEXT_SUFFIXES = (".txt", ".txt.gz")

ILLUSTRATION = re.compile(r"\[Illustration[^\]]*\]", re.IGNORECASE)
ITALICS = re.compile(r"(?<!\w)_([^_]+)_(?!\w)")
WORD_END = regex.compile(r"\w[\"'”’)\]]*$")
CHAPTER = re.compile(
    r"\W*(?:(?:chapter|book|part|volume|letter|canto|section|act|scene)\s+(?:[ivxlcdm]+|\d+)\b.*|[ivxlcdm]+\.?|\d+\.?)",
    re.IGNORECASE,
)
ENCYCLOPEDIA_HEADING = re.compile(r"=.*=")
# WikiText writes marks inside words and numbers as " @-@ ", and words outside its vocabulary as <unk>.
WIKITEXT_MARK = re.compile(r" @([-,.])@ ")


def files_corpus(paths: str | Path | Iterable[str | Path]) -> Corpus:
    """The corpus of one or more plain-text files or folders of them (see `read_documents`)."""
    paths = [paths] if isinstance(paths, str | Path) else list(paths)
    documents = read_documents(paths)
    files = sorted({document.source for document in documents})
    name = files[0] if len(files) == 1 else f"{len(files)} files"
    return corpus_from_documents(name, documents, f"Text of {name}")


def read_documents(paths: str | Path | Iterable[str | Path]) -> list[Document]:
    """The documents in plain-text files (.txt, .txt.gz, UTF-8), in the order given; of a folder, its files by name.

    Three ways of writing are told apart: paragraphs that are wrapped by hand and stand between empty lines,
    one paragraph a line, and one sentence a line with an empty line between documents (the format of
    BERT's own scripts), as which every text is read that has next to no stops, such as a Thai one. A book becomes
    documents of some paragraphs each, so that what follows a sentence in its document is close by and sentences of
    other documents are not. The source of a document is its file's name.

    Raises UserError for a file that is missing or not UTF-8, and where there is no sentence at all.
    """
    paths = [paths] if isinstance(paths, str | Path) else list(paths)
    files = [file for path in paths for file in text_files(Path(path))]
    documents = [document for file in files for document in text_documents(read_running_text(file), file.name)]
    if not documents:
        raise UserError(
            f"{', '.join(map(str, paths))} holds no sentence: give text in sentences that end in a stop, or one a line."
        )
    return documents


def text_files(path: Path) -> list[Path]:
    """The file itself, or the text files of a folder sorted by name."""
    if not os.path.isdir(path):
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.lower().endswith(TEXT_SUFFIXES) and file.is_file())
    if not files:
        raise UserError(f"{path} is a folder without .txt or .txt.gz files: name the files, or put some there.")
    return files


def text_documents(text: str, source: str) -> list[Document]:
    """The documents in one text, whichever of the three ways it is written in (see `read_documents`)."""
    text = WIKITEXT_MARK.sub(r"\1", without_illustrations(text)).replace("<unk>", "[UNK]")
    blocks = blocks_of_lines(text)
    lines = looked_at([line for block in blocks for line in block])
    if len(lines) > 1 and LINES_TO_A_STOP * sum(map(has_stop, lines)) < len(lines):
        return documents_of_lines(blocks, source)
    lines = looked_at([line for block in blocks if len(block) > 1 for line in block])
    ended = sum(map(ends_with_stop, lines))
    if not lines or 4 * ended < 3 * len(lines):
        return running_documents(blocks, source)
    if 2 * sum(len(split_sentences(line)) for line in lines) >= 3 * len(lines):
        return running_documents([[line] for block in blocks for line in block], source)
    return documents_of_lines(blocks, source)


def looked_at(lines: list[str]) -> list[str]:
    """At most so many lines, from all over a text, that they tell how it is written."""
    return lines[:: len(lines) // LINES_THAT_TELL + 1]


def documents_of_lines(blocks: list[list[str]], source: str) -> list[Document]:
    """Documents of one sentence a line; where an empty line follows each, some of them make a document."""
    if max(map(len, blocks), default=0) == 1:
        blocks = divided(blocks)
    documents = [[line for line in map(without_marks, block) if line.strip()] for block in blocks]
    return [Document(tuple(lines), source) for lines in documents if lines]


def without_illustrations(text: str) -> str:
    """The text without the captions of its pictures. After the last bracket none can end, and none is looked for:
    each search would run to the end of the text."""
    closed = text.rfind("]") + 1
    return ILLUSTRATION.sub("", text[:closed]) + text[closed:]


def blocks_of_lines(text: str) -> list[list[str]]:
    """The lines of a text without space around them, in groups that empty lines and `= headings =` divide."""
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        line = line.strip() if without_unseen(line) else ""  # a line of zero-width spaces is empty
        if line and not ENCYCLOPEDIA_HEADING.fullmatch(line):
            blocks[-1].append(line)
        elif line:
            blocks += [[line], []]
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def running_documents(paragraphs: list[list[str]], source: str) -> list[Document]:
    """Documents of a running text: a new one at each heading, and after some paragraphs.

    paragraphs are lists of lines. Headings are left out, and so are lists of titles such as a table of contents.
    """
    chapters: list[list[list[str]]] = [[]]
    for lines in paragraphs:
        if is_heading(lines):
            chapters.append([])
        elif sentences := split_sentences(without_marks(joined(lines))):  # marks around nothing leave none
            chapters[-1].append(sentences)
    return [
        Document(tuple(sentences), source)
        for chapter in chapters
        for sentences in divided(chapter)
        if len(sentences) > 1
    ]


def divided(chapter: list[list[str]]) -> list[list[str]]:
    """The sentences of a chapter's paragraphs, in parts of whole paragraphs and about equal size."""
    total = sum(map(len, chapter))
    parts = max(1, round(total / SENTENCES_PER_DOCUMENT))
    divided_up: list[list[str]] = [[] for _ in range(parts)]
    before = 0
    for sentences in chapter:
        divided_up[before * parts // total] += sentences
        before += len(sentences)
    return divided_up


def is_heading(lines: list[str]) -> bool:
    """Whether these lines name what follows: a chapter's number or title, a table of contents, a signature."""
    if len(lines) <= 2 and (CHAPTER.fullmatch(lines[0]) or ENCYCLOPEDIA_HEADING.fullmatch(lines[0])):
        return True
    return WORD_END.search(lines[-1]) is not None and max(map(len, lines)) <= 60


def without_marks(text: str) -> str:
    """The text without the underscores that mark italics in a plain-text book."""
    return ITALICS.sub(r"\1", text) if "_" in text else text
