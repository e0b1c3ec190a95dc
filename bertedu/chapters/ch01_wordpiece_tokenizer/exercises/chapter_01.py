"""Exercises of chapter 1: the WordPiece tokenizer."""

from typing import Any

from bertedu.course.case import Case
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.tokenization.wordpiece import split_word

FITTING = [["unh", "##app", "##y"], ["[UNK]"], ["[UNK]"]]
WORDS = ("unhappy", "unhappier", "happy")


@exercise(
    "1.1",
    "No way back",
    difficulty=1,
    minutes=5,
    kind="value",
    hints=(
        "Which pieces of the vocabulary does unhappy begin with? Take the longest of them.",
        "After unh the rest is appy. For happy: does the vocabulary have a piece without ## that it begins with?",
    ),
)
def no_way_back(case: Case) -> None:
    case.predicted(FITTING, otherwise=about_the_first_wrong_word(case.answer))


def about_the_first_wrong_word(guess: Any) -> str:
    """What is said of a prediction: about the first word that is wrong."""
    if (
        not isinstance(guess, list | tuple)
        or len(guess) != 3
        or not all(isinstance(part, list | tuple) for part in guess)
    ):
        return 'The answer is a list of three lists, one for each word, as in [["un", "##y"], ["[UNK]"], ["un"]].'
    first, second, third = ([str(piece) for piece in part] for part in guess)
    if first != FITTING[0]:
        if first == ["un", "##happy"]:
            return (
                "un ##happy would be a good split, but the greedy rule does not compare splits: "
                "it takes the longest first piece."
            )
        if first == ["un", "happy"]:
            return (
                "The greedy rule takes the longest first piece, and unh is longer than un. "
                "Besides, a piece that continues a word is written with ##."
            )
        if first == ["unh", "app", "y"]:
            return "You cut unhappy at the right positions, but a piece that continues a word is written with ##."
        return "Look at unhappy again: what is the longest piece that it begins with, and what is left after it?"
    if second != FITTING[1]:
        if "[UNK]" in second:
            return "For unhappier you keep pieces beside [UNK]. If any part fails, the whole word becomes one [UNK]."
        return "Look at unhappier again: after unh ##app the rest is ier. Which piece begins it?"
    if third == ["##happy"]:
        return "##happy can only continue a word, and in happy nothing comes before it."
    return "Look at happy again: is there a piece without ## that it begins with?"


@exercise(
    "1.2",
    "Longest match first",
    difficulty=2,
    minutes=15,
    without=("split_word",),
    hints=(
        "Keep the start of the rest. Try its ends from len(word) down to start + 1. Take the first piece that fits.",
        'The prefix is "##" if start else "". If no end fits, return ["[UNK]"]. If one fits, append the piece and '
        "set start to that end.",
    ),
)
def longest_match_first(case: Case) -> None:
    vocab = {"un", "break", "able", "##break", "##bre", "##able", "##a", "##k", "##ble", "x"}
    whole = case.call("able", vocab, tried='"able", which is a token itself')
    case.is_a("the result", whole, list | tuple, "a list of strings")
    at_the_end = (
        "The longest piece can be the whole word. Does your search try the end of the word, and does it stop there?"
    )
    case.equal(
        "the result", whole, ["able"], at_the_end, mistakes=[(["##able"], 'The first piece of a word has no "##".')]
    )
    result = case.call("unbreakable", vocab, tried='"unbreakable"')
    case.equal(
        "the result",
        result,
        split_word("unbreakable", vocab),
        "At each start, take the longest piece that is in the vocabulary.",
        mistakes=[
            (
                ["un", "##bre", "##a", "##k", "##a", "##ble"],
                "Those are the shortest pieces. Try the longest piece first, then shorter ones.",
            ),
            (["un", "break", "able"], 'A piece inside a word is looked up, and written, with "##" before it.'),
            (["[UNK]"], 'Did you look up the pieces inside the word with "##" before them?'),
            (["##un", "##break", "##able"], 'The first piece of a word has no "##".'),
        ],
    )
    shorter = case.call("bb", {"b", "##b"}, tried='"bb" with the vocabulary b and ##b')
    case.equal(
        "the result", shorter, ["b", "##b"], "After each piece, the search begins again with the rest of the word."
    )
    end = case.call("unx", vocab, tried='"unx", with un and x in the vocabulary, but no ##x')
    case.equal(
        "the result",
        end,
        ["[UNK]"],
        "A word that the pieces cannot cover becomes one [UNK].",
        mistakes=[
            (
                ["un", "[UNK]"],
                "No piece fits the rest, so the whole word becomes one [UNK]. BERT does not keep half a word.",
            ),
            (["un", "x"], "x is in the vocabulary only as the beginning of a word. Inside a word you need ##x."),
            (["un"], "The rest of the word is lost. If a part cannot be covered, the whole word becomes one [UNK]."),
            (["un", "##x"], "##x is not in the vocabulary, so it must not come out."),
        ],
    )
    case.equal(
        "the result",
        case.call("zun", vocab, tried='"zun"'),
        ["[UNK]"],
        "No piece begins with z, so the word is one [UNK].",
    )
    _check_that_it_is_greedy(case)
    ids = {token: index for index, token in enumerate(sorted(vocab))}
    as_dict = case.call("unable", ids, tried="a vocabulary that is a dictionary")
    case.equal("the result", as_dict, ["un", "##able"], "`piece in vocab` works for sets and dictionaries alike.")
    _check_the_longest_word(case)


def _check_the_longest_word(case: Case) -> None:
    for length, expected in ((100, ["b"] + ["##b"] * 99), (101, ["[UNK]"])):
        long = case.call("b" * length, {"b", "##b"}, tried=f"a word of {length} characters")
        case.expect(
            list(long) == expected,
            f"But it should return {'100 pieces' if length == 100 else 'one [UNK]'}, and it returned {said(long)}.",
            "A word of more than 100 characters becomes one [UNK]. A word of exactly 100 is still split.",
        )


def _check_that_it_is_greedy(case: Case) -> None:
    """Splitters that go back, or that look for the fewest pieces, are cleverer than BERT, and give other ids."""
    vocab = {"un", "unh", "##happy", "##app", "##y"}
    fewest = (
        ["un", "##happy"],
        "un ##happy has fewer pieces, but the greedy rule does not compare splits: unh is the longest first piece.",
    )
    longer = case.call("unhappy", vocab, tried='"unhappy", with both unh ##app ##y and un ##happy in the vocabulary')
    at_each_start = "At each start, take the longest piece that is in the vocabulary."
    case.equal("the result", longer, ["unh", "##app", "##y"], at_each_start, mistakes=[fewest])
    back = (
        ["un", "##happy"],
        "Your search went back to a shorter first piece. The greedy rule never goes back: after unh ##app nothing "
        "fits, so the word is one [UNK].",
    )
    stuck = case.call("unhappy", vocab - {"##y"}, tried='"unhappy" without ##y in the vocabulary')
    case.equal("the result", stuck, ["[UNK]"], "After unh ##app nothing fits, so it is one [UNK].", mistakes=[back])


@exercise(
    "1.3",
    "The first merge by WordPiece score",
    difficulty=2,
    minutes=8,
    kind="value",
    hints=(
        "A fraction is large if its denominator is small. Which pieces are the rarest in the ten words?",
        "One of the ten words occurs only once, and it has two letters that no other word has.",
    ),
)
def first_merge_by_score(case: Case) -> None:
    case.predicted(["ax", 1.0], otherwise=about_the_merge(case.answer), tolerance=0.005)


SCORES = {
    "lo": "lo is the first merge by frequency. Its score here is 18 / (18 · 18) = 0.056, and other pairs score higher.",
    "##st": "The score of ##st is 10 / (10 · 10) = 0.100. Its parts never occur apart, but rarer pairs score higher.",
    "wi": "The score of wi is 7 / (7 · 7) = 0.143, and one pair scores higher. Look at the rarest pieces of all.",
    "##id": "The score of ##id is 7 / (7 · 7) = 0.143, and one pair scores higher. Look at the rarest pieces of all.",
    "wid": "wid takes two merges. The first merge joins two characters.",
    "##xe": "The score of ##xe is 1 / (1 · 40) = 0.025: ##e occurs 40 times, which makes the denominator large.",
    "##ax": "Nearly. But this piece begins a word, and the beginning of a word has no ##.",
    "a##x": "Nearly. But a merge removes the ## of the second piece.",
    "a ##x": "That is the right pair. Answer with the new piece that its merge makes: one text, with one piece in it.",
    "axe": "Nearly. But a merge joins two pieces, and axe begins as three.",
    "a x": "That is the right pair. Answer with the new piece that its merge makes: one text, without a space.",
    "ax": "The piece is right. Its score is freq(ab) divided by freq(a) · freq(b). How often does each of them occur?",
}

FREQUENT = {  # freq(ab), freq(a), freq(b) of the other pairs
    "##ow": (18, 18, 33),
    "##we": (17, 33, 40),
    "##er": (11, 40, 11),
    "##es": (10, 40, 10),
    "ne": (15, 15, 40),
    "##ew": (15, 40, 33),
    "##de": (7, 7, 40),
}
for piece, (ab, a, b) in FREQUENT.items():
    SCORES[piece] = (
        f"The score of {piece} is {ab} / ({a} · {b}) = {ab / (a * b):.3f}. "
        "A score is high only if both pieces are rare: look at the rarest pieces of all."
    )


def about_the_merge(guess: Any) -> str:
    """What is said of a prediction: first about the piece, then about its score."""
    if not isinstance(guess, list | tuple) or len(guess) != 2 or not isinstance(guess[0], str):
        return 'The answer is a list of the new piece and its score, as in ["lo", 0.056].'
    unknown = (
        "Is that a pair of neighbours in one of the ten words? Look for two pieces that occur nearly nowhere else."
    )
    inside = "##" + guess[0]
    if guess[0] not in SCORES and inside in SCORES:
        return f"This pair stands inside a word, so its new piece is written {inside}. {SCORES[inside]}"
    return SCORES.get(guess[0], unknown)


@exercise(
    "1.5",
    "Ask the vocabulary",
    difficulty=4,
    minutes=12,
    hints=(
        "Which tokens can a vocabulary never have if its text was lower-cased? Leave the special tokens out.",
        "cased = any(token != token.lower() for token in vocab if …), then Normalization(lowercase=not cased).",
    ),
)
def ask_the_vocabulary(case: Case) -> None:
    lower = ["oslo", "is", "cafe", "in", "a", "##s", ".", "北"]
    uncased, cased = [*SPECIAL_TOKENS, *lower], [*SPECIAL_TOKENS, *lower, "Oslo", "Café", "##S"]
    other_cased = [*SPECIAL_TOKENS, *lower, "R", "Rome"]  # no Oslo in it: one known name must not decide
    texts = ["Oslo is in a CAFÉ.", "a\u00ad Café北 oslos", ""]
    for vocab, kind in ((uncased, "an uncased"), (cased, "a cased"), (uncased, "an uncased"), (other_cased, "a cased")):
        as_dict = {token: index for index, token in enumerate(vocab)}
        has = " with Rome in it" if vocab is other_cased else ""
        for text in ["Rome is in a café."] if has else texts:
            result = case.call(text, as_dict, tried=f"{text!r} with {kind} vocabulary{has}")
            case.is_a("the result", result, list | tuple, "a list of tokens")
            expected, other = (
                _pieces(text, as_dict, lowercase) for lowercase in ((kind != "a cased"), (kind == "a cased"))
            )
            case.equal(
                "the result",
                result,
                expected,
                *_advice(text),
                mistakes=[
                    *_unfinished(text, as_dict, kind != "a cased", expected),
                    *_known_mistakes(kind, text, vocab, other),
                ],
            )


def _pieces(text: str, vocab: dict[str, int], lowercase: bool, strip_accents: bool | None = None) -> list[str]:
    words = Normalization(lowercase, strip_accents).words(text)
    return [piece for word in words for piece in split_word(word, vocab)]


def _advice(text: str) -> tuple[str, ...]:
    if "\u00ad" in text:
        return ("Cleaning, accents and Chinese characters matter too. Normalization(…).words does all of it.",)
    return ("An uncased vocabulary needs lower case without accents. A cased one needs the capitals and the accents.",)


def _unfinished(text: str, vocab: dict[str, int], lowercase: bool, expected: list[str]) -> list[tuple]:
    words = Normalization(lowercase).words(text)
    ids = [vocab[token] for token in expected]
    return [
        (words, "Those are words. Split each of them into pieces with split_word(word, vocab)."),
        (ids, "Those are ids. The result should be the pieces themselves."),
    ]


def _known_mistakes(kind: str, text: str, vocab: list[str], other: list[str]) -> list[tuple]:
    ids = {token: index for index, token in enumerate(vocab)}
    if kind == "a cased":
        name = "Oslo" if "Oslo" in ids else "Rome"
        said_of_case = (
            f"This vocabulary has {name} with a capital, so the text must not be lower-cased. "
            "Does your code look at all tokens of the vocabulary, or decide in the same way for every vocabulary?"
        )
        return [(other, said_of_case)]
    said_of_case = (
        "Apart from the special tokens, no token of this vocabulary has a capital, so the text must be lower-cased. "
        "Does [PAD], or a token without letters such as '.', make your code believe that it is cased?"
    )
    accented = _pieces(text, ids, True, False)
    return [(other, said_of_case), (accented, "The case is right now, but an uncased vocabulary has no accents.")]
