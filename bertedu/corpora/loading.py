"""One call for every corpus, by the word or the path that names it."""

from collections.abc import Sequence
from pathlib import Path

from bertedu.corpora.assembling import joined_corpora
from bertedu.corpora.documents import Corpus
from bertedu.corpora.readers.plain_text import files_corpus
from bertedu.errors import UserError


def load_corpus(spec: str | Path | Sequence[str | Path], seed: int = 0) -> Corpus:
    """The corpus that a word or a path names, or several of them joined; files and folders together count as one.

    spec is "documentation" (prose of the installed packages), "world" (a small world of true facts, made
    with `seed`), "hub:NAME" or "hub:NAME/CONFIGURATION" (a data set of the Hugging Face hub), or paths of
    text files. Raises UserError for anything else.
    """
    specs = [spec] if isinstance(spec, str | Path) else list(spec)
    if not specs:
        raise UserError("corpus: nothing is named: give documentation, world, hub:NAME or paths of text files.")
    paths = [existing(one) for one in specs if not is_word(one)]
    words = [str(one) for one in specs if is_word(one)]
    corpora = [named_corpus(word, seed) for word in words] + ([files_corpus(paths)] if paths else [])
    return corpora[0] if len(corpora) == 1 else joined_corpora(corpora)


def named_corpus(word: str, seed: int) -> Corpus:
    """The corpus that one of the words names of `load_corpus`; of the others nothing is imported."""
    if word == "documentation":
        from bertedu.corpora.documentation import documentation_corpus

        return documentation_corpus()
    if word == "world":
        from bertedu.corpora.world import world_corpus

        return world_corpus(seed)
    from bertedu.corpora.hub import hub_corpus

    return hub_corpus(word)


def is_word(spec: str | Path) -> bool:
    """Whether a spec names a corpus rather than a file."""
    return isinstance(spec, str) and (spec in ("documentation", "world") or spec.startswith("hub:"))


def existing(spec: str | Path) -> Path:
    """The path of a file or folder that is there."""
    if (path := Path(spec)).exists():
        return path
    raise UserError(
        f"corpus: there is no corpus and no file {str(spec)!r}: give documentation, world, hub:NAME "
        "or the path of a text file or of a folder of them."
    )
