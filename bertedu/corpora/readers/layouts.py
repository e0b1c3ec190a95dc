"""In which column of a CoNLL file the words stand. They come first; some files put a number or a name before them."""

import re
from collections.abc import Sequence

from bertedu.errors import UserError, shown

Lines = Sequence[tuple[str, list[str]]]  # of a sentence: where each word stands, and its columns
CONLLU_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
# 3-4 is a token of several words (don't), 8.1 a word that was left out: both stand beside the words of a sentence.
MULTIWORD_OR_EMPTY = re.compile(r"[0-9]+-[0-9]+|[0-9]+\.[0-9]+")
TAG = re.compile(r"O|[BIESLUM]-\S+")
NUMBERING = re.compile(r"(?:\w+[:.-])?0*([0-9]+)[.:)]?")
ENOUGH = 3  # words after which it is no chance that their first columns count, or are equal


def with_words_first(path: object, sentences: Sequence[Lines], chosen: bool = False) -> list[Lines]:
    """The sentences without the numbers before their words. chosen: it is said which column holds the tags.

    Raises UserError where the first column holds no words and it is not certain which one does.
    """
    firsts = [[values[0].strip() for _, values in sentence] for sentence in sentences]
    place, values = sentences[0][0]
    if counting(firsts):
        if len(values) == len(CONLLU_COLUMNS):
            raise UserError(f"{place}: these are the ten columns of CoNLL-U: name the file {path}.conllu.")
        if len(values) < 3:
            raise UserError(f"{place}: a number and {shown(values[1])}: write the word and its tag after the number.")
        if len(values) == 4 and all(
            TAG.fullmatch(tag.strip()) for one in sentences for _, row in one for tag in row[2:]
        ):
            raise UserError(f"{place}: there are two columns of tags: remove the one that is not to be learned.")
        numbered = [[(at, row[1:]) for at, row in one if not MULTIWORD_OR_EMPTY.fullmatch(row[0])] for one in sentences]
        return [one for one in numbered if one]
    every = [first for one in firsts for first in one]
    lasts = [row[-1].strip() for one in sentences for _, row in one]
    if set(lasts) == {"_"} and not chosen:
        raise UserError(f"{place}: the last column is '_' for every word: write the tags there.")
    if len(values) > 2 and not chosen and (shared := same_types(sentences)):
        raise UserError(
            f"{place}: two columns have tags of the type {shown(shared)}, such as right ones and a model's, or outer "
            "and inner ones: remove the one that is not to be learned."
        )
    if len(every) < ENOUGH:
        return list(sentences)
    if len(values) > 2 and counting([[last_number(first) for first in one] for one in firsts]):
        raise UserError(
            f"{place}: the first column is {shown(values[0])}, which counts the words: remove that column, so that the "
            "word comes first."
        )
    if len(values) > 2 and all(len(set(one)) == 1 for one in firsts) and max(map(len, firsts)) > 1:
        raise UserError(
            f"{place}: the first column is {shown(values[0])} for a whole sentence, its number or its file: remove "
            "that column, so that the word comes first."
        )
    tags_first = any(first[:2] in ("B-", "S-") for first in every) and all(map(TAG.fullmatch, every))
    if tags_first and not all(map(TAG.fullmatch, lasts)):
        raise UserError(f"{place}: the tag {shown(values[0])} stands before the word: write the word first.")
    return list(sentences)


def same_types(sentences: Sequence[Lines]) -> str:
    """A type of entity that the last column shares with another column that holds nothing but tags; "" where none."""
    rows = [[value.strip() for value in row] for one in sentences for _, row in one]
    *others, last = ({*column} for column in list(zip(*rows, strict=True))[1:])
    types = {tag[2:] for tag in last if TAG.fullmatch(tag)} - {""}
    both = (types & {tag[2:] for tag in other} for other in others if all(map(TAG.fullmatch, other)))
    return min(set().union(*both), default="")


def last_number(first: str) -> str:
    """The number at the end of what may count the words, such as 7 in 07, 7. and 3-7; "" where there is none."""
    found = NUMBERING.fullmatch(first)
    return found[1] if found else ""


def counting(firsts: Sequence[Sequence[str]]) -> bool:
    """Whether the first columns count the words: each sentence from 0 or 1, or all of them on and on."""
    plain = [[first for first in one if not MULTIWORD_OR_EMPTY.fullmatch(first)] for one in firsts]
    every = [first for one in plain for first in one]
    if len(every) < ENOUGH or every[0] not in ("0", "1"):
        return False
    first = int(every[0])
    if every == [str(number) for number in range(first, first + len(every))]:
        return True
    return all(one == [str(number) for number in range(first, first + len(one))] for one in plain)
