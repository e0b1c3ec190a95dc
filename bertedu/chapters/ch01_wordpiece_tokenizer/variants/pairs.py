"""Variant 1.12: a pair that must fit, in the layout of another model and truncated in another way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Mistakes, Row, compare
from bertedu.course.variant import COPIED, Draws, Variant

Lists = tuple[list[int], list[int], list[int]]
LAYOUTS = (  # the sequence, and the side of its padding: RoBERTa's, XLNet's, and two that no model has
    ("[CLS] first [SEP] [SEP] second [SEP]", "right"),
    ("first [SEP] second [SEP] [CLS]", "left"),
    ("[CLS] second [SEP] first [SEP]", "left"),
    ("[CLS] first [SEP] second", "right"),
)
CUTS = {  # which text loses which of its ids
    ("second", "last"): "The second text loses its last ids, as many as necessary; the first loses none.",
    ("first", "first"): "The first text loses its first ids, as many as necessary; the second loses none.",
    ("longer", "first"): (
        "Again and again, the text that is longer at that moment loses its first id; of two equally long ones, the "
        "second text does."
    ),
}
IDS = ((1, 0, 2), (5, 8, 9), (0, 7, 4))  # [PAD], [CLS], [SEP]
SIZES = (  # the ids of both texts, and how many may stay
    *((2, 3, 6), (1, 1, 4), (3, 2, 5), (1, 9, 5), (9, 1, 5)),
    *((2, 5, 5), (5, 2, 5), (4, 4, 6), (3, 4, 6), (4, 3, 5)),
)


@dataclass(frozen=True)
class Pairing:
    """How two lists of ids become one sequence."""

    layout: str
    side: str
    ids: tuple[int, int, int]
    loses: str
    end: str
    forgotten: int = 0  # special tokens that were not counted before truncating

    def truncated(self, first: Sequence[int], second: Sequence[int], max_length: int) -> tuple[list[int], list[int]]:
        """Both lists, cut until they fit."""
        first, second = list(first), list(second)
        room = max_length - self.layout.count("[") + self.forgotten
        while (first or second) and len(first) + len(second) > room:
            longer = "first" if len(first) > len(second) else "second"
            chosen = first if (longer if self.loses == "longer" else self.loses) == "first" else second
            (chosen or first or second).pop(0 if self.end == "first" else -1)
        return first, second

    def encode(self, first: Sequence[int], second: Sequence[int], max_length: int) -> Lists:
        """input_ids, token_type_ids, attention_mask."""
        pad, cls, sep = self.ids
        texts = dict(zip(("first", "second"), self.truncated(first, second, max_length), strict=True))
        parts = [texts.get(part, [cls if part == "[CLS]" else sep]) for part in self.layout.split()]
        later = max(place for place, part in enumerate(self.layout.split()) if part in texts)
        ids = [one for part in parts for one in part]
        types = [int(place >= later) for place, part in enumerate(parts) for _ in part]
        return self.padded(ids, pad, max_length), self.padded(types, 0, max_length), self.mask(ids, max_length)

    def padded(self, values: list[int], filling: int, max_length: int) -> list[int]:
        """The values, filled up on their side."""
        empty = [filling] * (max_length - len(values))
        return empty + values if self.side == "left" else values + empty

    def mask(self, ids: list[int], max_length: int) -> list[int]:
        """1 for tokens and 0 for padding."""
        return self.padded([1] * len(ids), 0, max_length)


def chapters_answer(first: Sequence[int], second: Sequence[int], max_length: int) -> Lists:
    """What the chapter's solution returns."""
    return Pairing("[CLS] first [SEP] second [SEP]", "right", (0, 2, 3), "longer", "last").encode(
        first, second, max_length
    )


def with_types(rule: Pairing, change: Callable[[list[int]], list[int]]) -> Callable[..., Lists]:
    """Right but for the types of the tokens, which `change` makes of the right ones."""

    def wrong(first: Sequence[int], second: Sequence[int], max_length: int) -> Lists:
        ids, types, mask = rule.encode(first, second, max_length)
        real = change([kind for kind, one in zip(types, mask, strict=True) if one])
        return ids, rule.padded(real, 0, max_length), mask

    return wrong


def with_mask(rule: Pairing, change: Callable[[int], int]) -> Callable[..., Lists]:
    """Right but for the mask."""

    def wrong(first: Sequence[int], second: Sequence[int], max_length: int) -> Lists:
        ids, types, mask = rule.encode(first, second, max_length)
        return ids, types, [change(one) for one in mask]

    return wrong


def pairing(draws: Draws) -> Variant:
    """Another layout, other ids, another side of the padding and another way to truncate."""
    (layout, side), ids, cut = draws.pick(LAYOUTS), draws.pick(IDS), draws.pick(tuple(CUTS))
    rule = Pairing(layout, side, ids, *cut)
    specials = layout.count("[")

    def examine(case: Case) -> None:
        case.causes = {"pop from empty list": f"You removed an id of a text that has none left. {CUTS[cut]}"}
        other_side = "left" if side == "right" else "right"
        usual = "[CLS] first [SEP] second [SEP]"

        mistakes: Mistakes = {
            COPIED.format(number="1.4"): chapters_answer,
            f"The padding belongs on the {side}.": replace(rule, side=other_side).encode,
            f"That is BERT's layout. Here it is {layout}.": replace(rule, layout=usual).encode,
            "Those are the chapter's ids. Read which ids [PAD], [CLS] and [SEP] have here.": (
                replace(rule, ids=(0, 2, 3)).encode
            ),
            "The mask is 1 for tokens and 0 for padding.": with_mask(rule, lambda one: 1 - one),
            "The mask covers padding too. It is 0 for padding.": with_mask(rule, lambda one: 1),
            "The types are swapped: 0 comes first in the sequence.": with_types(
                rule, lambda types: [1 - one for one in types]
            ),
            "The [SEP] before the later text still has the type 0.": with_types(rule, lambda types: [*types[1:], 1]),
            "All types are 0. Where does the type 1 begin?": with_types(rule, lambda types: [0] * len(types)),
        }
        for number in (3, 1, 2, 4, 5):
            if number != specials:
                sentence = f"This layout has {specials} special tokens, and you left room for {number}."
                mistakes[sentence] = replace(rule, forgotten=specials - number).encode
        for loses in ("second", "first", "longer"):
            for end in ("last", "first"):
                if (loses, end) != cut:
                    came = f"You removed the {end} ids of the {loses} text. {CUTS[cut]}"
                    mistakes[came] = replace(rule, loses=loses, end=end).encode
        rows = [row_of(*sizes, specials) for sizes in SIZES if enough(cut[0], *sizes)]
        advice = f"The sequence is {layout}, padded on the {side}. {CUTS[cut]}"
        names = ("input_ids", "token_type_ids", "attention_mask")
        compare(case, rows, rule.encode, mistakes, advice, names=names)

    text = (
        f"Another model wants a pair as `{layout}`, padded on the **{side}**. Its `[PAD]` has the id {ids[0]}, its "
        f"`[CLS]` {ids[1]}, its `[SEP]` {ids[2]}. Write `encode_pair(first, second, max_length)` for two lists of ids. "
        "Return `input_ids`, `token_type_ids` and `attention_mask`, three lists of exactly `max_length` numbers. If "
        f"the pair doesn't fit: {CUTS[cut]} The types are 0 before the text that comes later in the sequence, and 1 "
        "from its first id to the end of the sequence. Padding has the type 0, and the mask 0. Both texts keep "
        "at least one id."
    )
    hints = (
        f"How many ids may both texts have together? The layout has {specials} special tokens.",
        "Truncate copies of both lists first. Then build ids and types together, and pad all three lists at the end.",
    )
    exercise = Exercise("1.12", "A pair for another model", 3, 15, hints, examine)
    return Variant(exercise, text, "def encode_pair(first, second, max_length):")


def enough(loses: str, one: int, two: int, stay: int) -> bool:
    """Whether the texts fit if only this one is cut, and at least one of its ids stays."""
    return {"first": two, "second": one}.get(loses, 1) < stay


def row_of(one: int, two: int, stay: int, specials: int) -> Row:
    """A call with lists of these sizes."""
    first, second = list(range(11, 11 + one)), list(range(31, 31 + two))
    return (f"{one} and {two} ids for {stay + specials} positions", first, second, stay + specials)


MAKERS = {"1.12": pairing}
