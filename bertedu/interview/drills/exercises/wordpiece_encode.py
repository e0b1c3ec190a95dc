"""Whiteboard drill: WordPiece, greedy longest match first, to ids."""

from typing import Any

from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.interview.drills.drill import Drill
from bertedu.tokenization.wordpiece import split_word

TASK = """
Write `encode_word(word, vocab)`: the WordPiece ids of one word, as BERT's tokenizer finds them.

    word    a text without spaces, not empty
    vocab   a dictionary from pieces to ids. A piece that continues a word is written with "##" before it;
            "[UNK]" is in the dictionary

Return a list of ids. At each point of the word, the longest piece of the vocabulary is taken (greedy longest match
first). If no piece fits somewhere, the whole word becomes one [UNK]. So does a word of more than 100 characters.

Allowed: anything in Python. Pieces can be as long as the word.
"""

STUB = """
def encode_word(word, vocab):
    raise NotImplementedError
"""

SOLUTION = """
def encode_word(word, vocab):
    if len(word) > 100:
        return [vocab["[UNK]"]]
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):  # the longest piece first
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        ids.append(vocab[piece])
        start = end
    return ids
"""

PIECES = ("[PAD]", "[UNK]", "un", "##break", "##bre", "##able", "##a", "##k", "##ble", "break", "able", "x", "a", "##x")
VOCAB = {piece: number for number, piece in enumerate(PIECES)}
SMALL = {"[UNK]": 0, "a": 1, "ab": 2, "##c": 3, "##b": 4, "##bc": 5, "##d": 6, "##ab": 7}
LETTERS = {"[UNK]": 9, "b": 4, "##b": 5}


def ids(word: str, vocab: dict[str, int]) -> list[int]:
    """The right ids."""
    return [vocab[piece] for piece in split_word(word, vocab)]


def pieces_of(got: list, vocab: dict[str, int]) -> str:
    """Ids as the pieces that they stand for."""
    names = {number: piece for piece, number in vocab.items()}
    return " ".join(names.get(number, f"?{number}") for number in got)


def examine(case: Case) -> None:
    """Whole words, pieces, greediness, no way back, the longest word, speed."""
    case.causes = {"KeyError": "Ask `piece in vocab` before you look up its id."}
    known: list[tuple[str, dict[str, int], str, list[tuple[list[str], str]]]] = [
        ("able", VOCAB, "The longest piece can be the whole word. Does the search begin at its end?", FOR_ABLE),
        ("unbreakable", VOCAB, "At each point take the longest piece that the vocabulary has.", FOR_UNBREAKABLE),
        ("x", VOCAB, "A word can be a single character.", []),
        ("unz", VOCAB, "A word that the pieces cannot cover becomes one [UNK].", FOR_UNZ),
        ("zun", VOCAB, "No piece begins with z, so the word is one [UNK].", FOR_ZUN),
        ("unun", VOCAB, "un is in the vocabulary only at the beginning of a word. Inside one it needs ##un.", []),
        ("abcd", SMALL, "After ab comes ##c, then ##d.", FOR_ABCD),
        ("abd", SMALL, "ab is the longest first piece, and ##d goes on.", []),
        ("aab", SMALL, "After a the longest piece is ##ab.", []),
    ]
    for word, vocab, advice, mistakes in known:
        got = case.call(word, vocab, tried=f'"{word}"')
        compare(case, word, got, vocab, advice, mistakes)
    other = {piece: (number - 2) % len(VOCAB) for piece, number in VOCAB.items()}  # the id of un is 0
    got = plain(case.call("unbreakable", other, tried='"unbreakable" with other ids'))
    if got == [other["[UNK]"]]:
        case.fail("But it is [UNK]. Here un has the id 0, and 0 counts as False: ask `piece in vocab`, not its id.")
    case.equal("the result", got, ids("unbreakable", other), "The ids are those of the vocabulary that is passed in.")
    no_way_back(case)
    for length in (100, 101):
        got = plain(case.call("b" * length, LETTERS, tried=f"a word of {length} characters"))
        wanted = [4] + [5] * 99 if length == 100 else [9]
        came = f"But it returned {said(got)}, and should return {'100 ids' if length == 100 else 'the id of [UNK]'}."
        case.expect(got == wanted, came, "More than 100 characters make one [UNK]; exactly 100 are still encoded.")


def compare(
    case: Case, word: str, got: Any, vocab: dict[str, int], advice: str, mistakes: list[tuple[list[str], str]]
) -> None:
    """Not yet, unless the ids are right; a known mistake is told by the pieces that it gives."""
    got, right = plain(got), ids(word, vocab)
    case.is_a("the result", got, list, "a list of ids")
    if got and all(isinstance(one, str) for one in got):
        case.fail(f"But it returned the pieces {said(got)}. The task asks for their ids.")
    if got == right:
        return
    sentences = [sentence for pieces, sentence in mistakes if got == [vocab.get(piece) for piece in pieces]]
    if not got:
        sentences = ["Nothing came back. Does your loop begin, and do you append in it?"]
    shown = f"{said(got)} ({pieces_of(got, vocab)})" if all(isinstance(one, int) for one in got) else said(got)
    case.fail(f"But it is {shown}, and should be {right} ({pieces_of(right, vocab)}).", *(sentences[:1] or [advice]))


FOR_ABLE = [
    (["##able"], 'The first piece of a word has no "##".'),
    (["a", "##ble"], "Those are the shortest pieces. Try the longest first."),
    (["[UNK]"], "The whole word is in the vocabulary. Does your search try its end, `range(len(word), start, -1)`?"),
]
FOR_UNBREAKABLE = [
    (["un", "break", "able"], 'A piece inside a word is looked up with "##" before it.'),
    (["un", "##bre", "##a", "##k", "##a", "##ble"], "Those are the shortest pieces. Try the longest first."),
    (["[UNK]"], 'Did you look up the pieces inside the word with "##" before them?'),
    (["un"], "The rest of the word is lost. After a piece, the search begins again at its end."),
    (["un", "##break"], "The rest of the word is lost. After a piece, the search begins again at its end."),
]
FOR_UNZ = [
    (["un", "[UNK]"], "No piece fits the rest, so the whole word becomes one [UNK]. BERT does not keep half a word."),
    (["un"], "The rest is lost. If a part cannot be covered, the whole word becomes one [UNK]."),
]
FOR_ZUN = [
    (["[UNK]", "##un"], "The whole word becomes one [UNK]: an unknown character is not left out."),
    (["un"], "The z is left out. If a part cannot be covered, the whole word becomes one [UNK]."),
    ([], "Nothing came back. A word that cannot be covered becomes one [UNK]."),
]
FOR_ABCD = [(["a", "##bc", "##d"], "The longest first piece is ab, not a. Try the longest first.")]


def no_way_back(case: Case) -> None:
    """Greedy search does not try another first piece, although one would cover the word."""
    vocab = {"[UNK]": 0, "un": 1, "unh": 2, "##happy": 3, "##app": 4}
    got = plain(case.call("unhappy", vocab, tried='"unhappy" with the pieces un, unh, ##happy and ##app'))
    if got == [1, 3]:
        case.fail(
            "But it found un ##happy. Greedy search takes the longest first piece, unh, and never takes it back: "
            "the word becomes [UNK], as in BERT's own tokenizer."
        )
    compare(case, "unhappy", got, vocab, "After unh ##app nothing fits the y, so the word is one [UNK].", [])


DRILL = Drill(
    name="wordpiece-encode",
    title="WordPiece: encode a word",
    minutes=10,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="01",
    section="Split a word: greedy longest-match-first",
    hints=(
        "Keep the start of what is left. Try its ends from len(word) down to start + 1, and take the first that fits.",
        'The piece is word[start:end], with "##" before it if start > 0. If no end fits, return [vocab["[UNK]"]].',
    ),
    examine=examine,
)
