"""Where the special tokens stand: BERT's [CLS] A [SEP] for one text, [CLS] A [SEP] B [SEP] for a pair.

Devlin et al. 2019, section 3, figure 2. Other members of the family put them elsewhere: RoBERTa has two separators
between the texts, XLNet has its [CLS] at the end. Code that needs a length, a count of special tokens, or the
position of [CLS] or of the second text asks the tokenizer's layout.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

# How the family spells the special tokens around texts, and the one for padding.
AROUND = ("[CLS]", "[SEP]", "<s>", "</s>", "<cls>", "<sep>")
PADDING = ("[PAD]", "<pad>")
FIRST, SECOND = -1, -2  # in a template: here stands the first text, here the second
Template = tuple[tuple[int, int], ...]  # for each part what stands there (an id, FIRST or SECOND), and its segment
Value = TypeVar("Value")


class Part(NamedTuple):
    """A part of a sequence: what stands there (an id, FIRST or SECOND), its segment, its first position and the one
    after its last.
    """

    what: int
    segment: int
    start: int
    stop: int


@dataclass(frozen=True)
class Layout:
    """How one text and how a pair of texts become a sequence."""

    single: Template
    pair: Template

    @classmethod
    def of_bert(cls, cls_token_id: int, sep_token_id: int) -> "Layout":
        """[CLS] A [SEP] in segment 0, and B [SEP] in segment 1."""
        single = ((cls_token_id, 0), (FIRST, 0), (sep_token_id, 0))
        return cls(single, (*single, (SECOND, 1), (sep_token_id, 1)))

    def special_tokens(self, pair: bool) -> int:
        """How many special tokens a sequence has: 2 around one text, 3 around a pair, for BERT."""
        return len(self.pair) - 2 if pair else len(self.single) - 1

    def parts(self, first: int, second: int | None = None) -> Iterator[Part]:
        """The parts of a sequence, from left to right, for texts of so many tokens; None: there is no second text."""
        lengths, start = {FIRST: first, SECOND: second or 0}, 0
        for what, segment in self.single if second is None else self.pair:
            stop = start + lengths.get(what, 1)
            yield Part(what, segment, start, stop)
            start = stop

    def text_start(self, first: int, second: int | None = None) -> int:
        """The position at which the second text begins, or, where there is none, the only one."""
        wanted = FIRST if second is None else SECOND
        return next(part.start for part in self.parts(first, second) if part.what == wanted)

    def position(self, token_id: int, first: int, second: int | None = None) -> int:
        """The position of a special token that a sequence has once, such as [CLS]."""
        return next(part.start for part in self.parts(first, second) if part.what == token_id)

    def sequence(self, first: Sequence[int], second: Sequence[int] | None = None) -> tuple[list[int], list[int]]:
        """The ids and the token_type_ids of a text or of a pair, with the special tokens."""
        ids: list[int] = []
        types: list[int] = []
        texts = {FIRST: first, SECOND: second or ()}
        for part in self.parts(len(first), None if second is None else len(second)):
            ids += texts.get(part.what, (part.what,))
            types += [part.segment] * (part.stop - part.start)
        return ids, types

    def beside(self, filler: Value, first: Sequence[Value], second: Sequence[Value] | None = None) -> list[Value]:
        """One value for each position of a sequence (a label, say): the texts' own, `filler` at special tokens."""
        values: list[Value] = []
        texts = {FIRST: first, SECOND: second or ()}
        for part in self.parts(len(first), None if second is None else len(second)):
            values += texts.get(part.what, (filler,))
        return values
