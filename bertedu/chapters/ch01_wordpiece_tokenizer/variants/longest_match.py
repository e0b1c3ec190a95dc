"""Variants of chapter 1: longest match in another notation. The pair that must fit: pairs.py."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Mistakes, Row, compare
from bertedu.course.variant import COPIED, Draws, Variant
from bertedu.tokenization.wordpiece import split_word

NOTATIONS = {"▁": "before the first piece of a word", "</w>": "after the last piece of a word"}
NOTATIONS |= {"@@": "after each piece of a word except the last", "+": "before each piece of a word except the first"}
UNKNOWN = "<unk>"
# Pieces without marks, and where in a word each may stand: alone, first, inside or last.
PIECES = "able:alone un:first unb:first b:first b:inside b:last reak:inside break:inside rea:inside able:last "
PIECES += "kable:last unh:first app:inside ap:inside py:last y:last happy:last happ:first e:last e:first e:inside"
WORDS = ("able", "unbreakable", "unhappy", "happy", "bbb", "unbqe", "qun", "unbe", "eqqb")


@dataclass(frozen=True)
class Rule:
    """How a word is split: the mark, the end at which the search begins, what becomes of letters that nothing fits."""

    mark: str
    from_right: bool
    whole: bool
    shortest: bool = False
    unknown: str = UNKNOWN

    def marked(self, piece: str, first: bool, last: bool) -> str:
        """A piece as the vocabulary writes it."""
        before = (self.mark == "▁" and first) or (self.mark in ("+", "##") and not first)
        after = (self.mark == "</w>" and last) or (self.mark == "@@" and not last)
        return self.mark * before + piece + self.mark * after

    def split(self, word: str, vocab: Collection[str]) -> list[str]:
        """The pieces of a word, by the longest match at each step."""
        pieces: list[str] = []
        start, end = 0, len(word)
        while start < end:
            sizes = range(1, end - start + 1) if self.shortest else range(end - start, 0, -1)
            spans = [(end - size, end) if self.from_right else (start, start + size) for size in sizes]
            tokens = [(self.marked(word[a:b], a == 0, b == len(word)), b - a) for a, b in spans]
            fitting = next((one for one in tokens if one[0] in vocab), (self.unknown, 1))
            if fitting[0] == self.unknown and self.whole:
                return [self.unknown]
            pieces.append(fitting[0])
            start, end = (start, end - fitting[1]) if self.from_right else (start + fitting[1], end)
        return pieces[::-1] if self.from_right else pieces

    def any_split(self, word: str, vocab: Collection[str], start: int = 0) -> list[str]:
        """What a search gives that goes back to shorter pieces: no pieces where there is no way."""
        for end in range(len(word), start, -1):
            token = self.marked(word[start:end], start == 0, end == len(word))
            if token in vocab and (rest := self.any_split(word, vocab, end) if end < len(word) else [token]):
                return rest if end == len(word) else [token, *rest]
        return []


def words_to_split(case: Case, rule: Rule) -> list[Row]:
    """Words that everybody can read, then short ones of three letters with drawn vocabularies."""
    roles = {"alone": (True, True), "first": (True, False), "inside": (False, False), "last": (False, True)}
    named = [one.split(":") for one in PIECES.split()]
    vocab = {rule.marked(piece, *roles[role]) for piece, role in named}
    rows: list[Row] = [(repr(word), word, vocab) for word in WORDS]
    for _ in range(60):
        letters = ["abc"[at] for at in case.randint(0, 3, (7,)).tolist()]
        word = "".join(letters)
        spans = [(a, b) for a in range(7) for b in range(a + 1, min(a + 5, 8))]
        kept = case.randint(0, 3, (len(spans),)).tolist()
        some = {rule.marked(word[a:b], a == 0, b == 7) for (a, b), keep in zip(spans, kept, strict=True) if keep == 0}
        rows.append(("60 drawn words and vocabularies", word, some))
    return rows


def splitting(draws: Draws) -> Variant:
    """Longest match with another mark, from the left or the right, with [UNK] for the word or for a letter."""
    rule = Rule(draws.pick(tuple(NOTATIONS)), draws.pick((True, False)), draws.pick((True, False)))
    end = "right" if rule.from_right else "left"
    becomes = (
        f"If at some point no piece fits, the **whole word** becomes the one token `{UNKNOWN}`."
        if rule.whole
        else f"If at some point no piece fits, **one letter** becomes `{UNKNOWN}` (without a mark), and the search "
        "goes on with the rest of the word."
    )

    def examine(case: Case) -> None:
        case.causes = {"index out of range": "Does your loop end where the word ends?"}
        no_piece = becomes.replace("**", "").replace("`", "")
        unmarked = replace(rule, mark="")
        mistakes: Mistakes = {
            COPIED.format(number="1.2"): split_word,
            f"{COPIED.format(number='1.2')} The mark is {rule.mark} here, not ##.": Rule("##", False, True).split,
            f"You begin at the other end of the word. The search begins on the {end}.": (
                replace(rule, from_right=not rule.from_right).split
            ),
            "Those are the right pieces in the order in which they were found. Return them in the order of the word.": (
                lambda word, vocab: rule.split(word, vocab)[::-1]
            ),
            "Those are the shortest pieces that fit. At each step, take the longest.": (
                replace(rule, shortest=True).split
            ),
            f"Each piece is looked up without {rule.mark}. The vocabulary has it {NOTATIONS[rule.mark]}.": (
                unmarked.split
            ),
            f"Your pieces have lost {rule.mark}. Return them as the vocabulary writes them.": (
                lambda word, vocab: [one.replace(rule.mark, "") for one in rule.split(word, vocab)]
            ),
            f"Your answer treats {rule.mark} as the chapter treats ##. It stands {NOTATIONS[rule.mark]}.": (
                lambda word, vocab: as_if_inside(rule, word, vocab)
            ),
            f"A part of the word fits no piece. {no_piece}": replace(rule, whole=not rule.whole).split,
            f"The token for what is unknown is {UNKNOWN} here.": replace(rule, unknown="[UNK]").split,
            "Your search went back to a shorter piece, or looked for another split. The rule never goes back.": (
                lambda word, vocab: rule.any_split(word, vocab) or rule.split(word, vocab)
            ),
        }
        advice = f"At each step, take the longest piece that fits, beginning on the {end}. {no_piece}"
        compare(case, words_to_split(case, rule), rule.split, mistakes, advice)

    text = (
        f"In this vocabulary, `{rule.mark}` stands **{NOTATIONS[rule.mark]}**, and nowhere else. A word that is one "
        f"piece has `{rule.marked('able', True, True)}`; in two pieces it could be "
        f"`{rule.marked('un', True, False)} {rule.marked('able', False, True)}`. Write `split_word(word, vocab)`. The "
        f"search begins at the **{end}** end of the word: at each step it takes the longest piece that fits there, and "
        f"it never goes back. {becomes} Return the list of pieces in the order of the word, as the vocabulary writes "
        "them. `vocab` is a set."
    )
    hints = (
        "Keep two numbers: where the rest of the word begins and where it ends. Which of them moves?",
        f"Write a function for the token of word[start:end]: it decides from start and end where {rule.mark} belongs.",
    )
    exercise = Exercise("1.11", "Longest match in another notation", 2, 15, hints, examine)
    return Variant(exercise, text, "def split_word(word, vocab):")


def as_if_inside(rule: Rule, word: str, vocab: Collection[str]) -> list[str]:
    """What comes if the mark is written before each piece except the first, as ## is."""

    class Inside(Rule):
        def marked(self, piece: str, first: bool, last: bool) -> str:
            return piece if first else self.mark + piece

    return Inside(rule.mark, rule.from_right, rule.whole).split(word, vocab)


MAKERS = {"1.11": splitting}
