"""Exercise 1.5: Ask the vocabulary."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.tokenization.wordpiece import split_word


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
