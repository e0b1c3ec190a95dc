"""Variants of chapter 19: rotary positions for a part of each vector, and a packed batch with its local mask."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import Exercise
from bertedu.course.tables import compare_rows
from bertedu.course.variant import COPIED, Draws, Variant

PAIRS = {"halves": "k and k + r/2", "neighbors": "2k and 2k + 1", "mirrored": "k and r − 1 − k"}


@dataclass(frozen=True)
class Rotation:
    """How vectors are rotated. layout: the order of the axes. share: r, as a part of d."""

    layout: str
    pairs: str
    clockwise: bool
    last: bool  # the last r numbers, not the first ones
    share: float = 0.5
    speed: float = 2.0  # pair k turns by theta ** (-speed * k / r)

    def rotated(self, vectors: Tensor, positions: Tensor, theta: float) -> Tensor:
        """The rotated vectors, in the layout that they came in."""
        at, size = self.layout.index("T"), vectors.size(-1)
        r = int(self.share * size)
        start, k = (size - r if self.last else 0), torch.arange(r // 2)
        first, second = {"halves": (k, k + r // 2), "neighbors": (2 * k, 2 * k + 1), "mirrored": (k, r - 1 - k)}[
            self.pairs
        ]
        old = vectors.movedim(at, -2)  # [..., T, d]
        x, y = old[..., start + first], old[..., start + second]
        angles = positions[:, None] * theta ** (-self.speed * k / r) * (-1 if self.clockwise else 1)
        new = old.clone()
        new[..., start + first] = x * angles.cos() - y * angles.sin()
        new[..., start + second] = y * angles.cos() + x * angles.sin()
        return new.movedim(-2, at)


PUBLIC = Rotation("BHTd", "halves", clockwise=False, last=False, share=1.0)


def rotating(draws: Draws) -> Variant:
    """Half of each vector is rotated, in another layout, with other pairs and in a drawn direction."""
    layout, pairs = draws.pick(("BTHd", "TBHd", "BHTd")), draws.pick(tuple(PAIRS))
    right = Rotation(layout, pairs, draws.pick((True, False)), draws.pick((True, False)))
    which, shown = "last" if right.last else "first", "[" + ", ".join(layout) + "]"
    turns = "(x·cos φ + y·sin φ, y·cos φ − x·sin φ)" if right.clockwise else "(x·cos φ − y·sin φ, y·cos φ + x·sin φ)"
    swapped = {axis: layout.translate(str.maketrans(f"T{axis}", f"{axis}T")) for axis in "BH"}
    wrong = {
        COPIED.format(number="19.1"): PUBLIC,
        f"You rotated all numbers. Only the {which} r = d/2 of them turn.": replace(right, share=1.0),
        f"You rotated the other half. The {which} r numbers turn.": replace(right, last=not right.last),
        f"The direction is wrong: (x, y) becomes {turns}.": replace(right, clockwise=not right.clockwise),
        "Your exponents are too small by half. It is −2k / r, and r is d/2.": replace(right, speed=1.0),
        "Your exponents are twice as large as −2k / r.": replace(right, speed=4.0),
        "All pairs turn at one speed. Pair k has a speed of its own.": replace(right, speed=0.0),
        **{
            f"You took axis {layout.index(axis)} for the tokens. The layout is {shown}.": replace(right, layout=other)
            for axis, other in swapped.items()
        },
        **{
            f"You paired {PAIRS[name]}. Here pair k consists of {PAIRS[pairs]}.": replace(right, pairs=name)
            for name in PAIRS
            if name != pairs
        },
    }

    def examine(case: Case) -> None:
        case.causes["must match the size"] = f"The layout is {shown}: along which axis do the positions lie?"
        for sizes in ({"B": 4, "T": 4, "H": 4, "d": 16}, {"B": 2, "T": 5, "H": 3, "d": 8}):
            vectors = case.randn(*(sizes[axis] for axis in layout))
            positions, theta = torch.tensor([3, 0, 7, 1, 2][: sizes["T"]]), 50.0 * sizes["B"]
            got = case.call(vectors, positions, theta, tried=f"vectors {shown} of sizes {list(vectors.shape)}")
            known = wrong if len(set(vectors.shape[:3])) == 1 else {}  # a wrong axis raises where they differ
            mistakes = {said: one.rotated(vectors, positions, theta) for said, one in known.items()}
            mistakes["The vectors came back as they were."] = vectors
            advice = f"Only the {which} r numbers turn: pairs {PAIRS[pairs]}, angles position · theta ** (-2 * k / r)."
            expected = right.rotated(vectors, positions, theta)
            case.close("the result", got, expected, advice, tolerance=1e-4, mistakes=mistakes)
        case.refuse_in_place()

    text = (
        f"Write `rotate(vectors, positions, theta)` for `vectors` of shape **`{shown}`** and `positions` `[T]`. Only "
        f"the **{which} r = d/2** numbers of each vector are rotated, and the others stay as they are. Numbered from 0 "
        f"within these r, pair k consists of the numbers **{PAIRS[pairs]}**, for k = 0, 1, …, r/2 − 1. It turns by the "
        f"angle φ = position · `theta ** (-2 * k / r)`: its numbers (x, y) become **{turns}**. Return the vectors in "
        "the same layout and order."
    )
    hints = (
        "Bring the tokens to the axis before the last, rotate, and bring them back. Or give the angles axes of size 1.",
        "Take x and y out of the r numbers by slices or by index, compute both new ones, and write them into a clone.",
    )
    exercise = Exercise("19.11", "Rotate a part of each vector", 2, 15, hints, examine)
    return Variant(exercise, text, "def rotate(vectors, positions, theta):")


@dataclass(frozen=True)
class Packing:
    """How a batch is packed."""

    longest_first: bool
    start: int  # the position of a text's first token
    reach: int  # how far away a token may be
    first_is_global: bool

    def lengths(self, mask: Tensor) -> list[int]:
        """The texts' lengths in the order in which they stand."""
        return sorted(mask.sum(1).tolist(), reverse=self.longest_first)

    def ids(self, ids: Tensor, mask: Tensor) -> list[int]:
        """The real ids, text after text; texts of equal length keep their order."""
        texts = [row[real.bool()].tolist() for row, real in zip(ids, mask, strict=True)]
        return [one for text in sorted(texts, key=len, reverse=self.longest_first) for one in text]

    def positions(self, mask: Tensor) -> list[int]:
        """The position of each token."""
        return [self.start + at for length in self.lengths(mask) for at in range(length)]

    def allowed(self, mask: Tensor) -> Tensor:
        """True where a token may attend to another, [N, N]."""
        lengths = torch.tensor(self.lengths(mask))
        text = torch.arange(len(lengths)).repeat_interleave(lengths)
        at = torch.tensor(self.positions(mask))
        near, first = (at - at[:, None]).abs() <= self.reach, at == self.start
        wide = (first | first[:, None]) & self.first_is_global
        return (text == text[:, None]) & (near | wide)


def wrong_ids(one: Packing, ids: Tensor, mask: Tensor) -> list[tuple[list[int], str]]:
    """What known mistakes give for the ids, each with its sentence."""
    order = "longest" if one.longest_first else "shortest"
    texts = [row[there.bool()].tolist() for row, there in zip(ids, mask, strict=True)]
    ties = sorted(reversed(texts), key=len, reverse=one.longest_first)
    return [
        (ids[mask.bool()].tolist(), f"The texts are not sorted: the {order} comes first."),
        (replace(one, longest_first=not one.longest_first).ids(ids, mask), f"The {order} text comes first."),
        ([id for text in ties for id in text], "Texts of equal length keep their order: is your sort stable?"),
        (ids.flatten().tolist(), "The padding is still in it."),
    ]


def wrong_positions(one: Packing, mask: Tensor) -> list[tuple[list[int], str]]:
    """What known mistakes give for the positions, each with its sentence."""
    right, size = one.positions(mask), int(mask.sum())
    counts = [at - one.start for at in right]
    run_on = "Positions run on from text to text. Each text begins anew."
    lengths = mask.sum(1).tolist()
    return [
        *(([at + other for at in counts], f"A text's first position is {one.start} here.") for other in (0, 1, 2)),
        *((list(range(other, other + size)), run_on) for other in (0, 1, 2)),
        ([one.start + at for length in lengths for at in range(length)], "The positions are not sorted by text."),
    ]


def wrong_masks(one: Packing, mask: Tensor) -> Sequence[tuple[Tensor, str]]:
    """What known mistakes give for the mask, each with its sentence."""
    right, at = one.allowed(mask), torch.arange(int(mask.sum()))
    near = (at - at[:, None]).abs() <= one.reach
    first = torch.tensor(one.positions(mask)) == one.start
    texts = replace(one, reach=10).allowed(mask)
    wide = "also attends and is attended to by all of its text" if one.first_is_global else "is like any other"
    return [
        (texts, f"The window is missing: at most {one.reach} positions away."),
        (near, "Near tokens of different texts attend to each other. Keep the texts apart."),
        (near | first | first[:, None], "Tokens of different texts attend to each other. Keep the texts apart."),
        (~right, "It is the opposite: True means that a token may be attended to."),
        (replace(one, reach=one.reach - 1).allowed(mask), f"A token {one.reach} away may be attended to."),
        (replace(one, reach=one.reach + 1).allowed(mask), f"{one.reach} positions away is the farthest."),
        (replace(one, first_is_global=not one.first_is_global).allowed(mask), f"A text's first token {wide}."),
        (texts & (near | first), "The first token of a text attends to all of it, too."),
        (texts & (near | first[:, None]), "The first token of a text is attended to by all of it, too."),
        (right & (at >= at[:, None]), "A token attends to both sides."),
        (right & (at <= at[:, None]), "A token attends to both sides."),
        (right & (at != at[:, None]), "A token attends to itself as well."),
    ]


def packing(draws: Draws) -> Variant:
    """Texts without padding, sorted by length, with positions from another start and a local mask."""
    one = Packing(draws.pick((True, False)), draws.pick((0, 1, 2)), draws.pick((1, 2)), draws.pick((True, False)))
    order = "longest" if one.longest_first else "shortest"

    def examine(case: Case) -> None:
        case.causes["tensors used as indices"] = "Pick with a boolean mask: attention_mask.bool()."
        batch = torch.tensor([[1, 1, 1, 1, 0, 0], [1] * 6, [1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1] * 5 + [0]])
        compare(case, 10 + torch.arange(30).view(5, 6) * batch, batch, "5 texts of 4, 6, 2, 4 and 5 tokens")
        left = torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 1]])
        compare(case, torch.arange(12).view(3, 4), left, "3 texts with the padding on the left")
        case.refuse_in_place()

    def compare(case: Case, ids: Tensor, mask: Tensor, tried: str) -> None:
        got = case.call(ids, mask, tried=tried)
        real, positions, allowed = case.parts(got, "ids", "positions", "allowed")
        if isinstance(allowed, Tensor) and is_close(allowed, torch.cat([mask.new_zeros(1), mask.sum(1).cumsum(0)])):
            case.fail(COPIED.format(number="19.4"), "The third thing is a mask here, and the texts are sorted.")
        case.equal(
            "ids", real, one.ids(ids, mask), f"The {order} text comes first.", mistakes=wrong_ids(one, ids, mask)
        )
        wrong = wrong_positions(one, mask)
        case.equal("positions", positions, one.positions(mask), "Each text counts its own tokens.", mistakes=wrong)
        size = int(mask.sum())
        case.same_shape("allowed", allowed, [size, size], "A row for each real token, and a column for each.")
        advice = "Two tokens of one text that are near, and nothing else."
        compare_rows(case, "allowed", allowed.bool(), one.allowed(mask), wrong_masks(one, mask), advice)

    wide = (
        "In addition, the **first token of each text** attends to its whole text, and the whole text attends to it. "
        if one.first_is_global
        else ""
    )
    text = (
        "Write `unpad(input_ids, attention_mask)` for `[B, T]` each; the mask is 1 for real tokens, and padding may be "
        f"on the left. Return three tensors. First the real ids `[N]`, text after text, the **{order} text first**; "
        f"texts of equal length keep their order. Then the position of each in its text `[N]`, from **{one.start}** "
        f"on. Then a boolean tensor `[N, N]`, True where the token of the row may attend to the token of the column: "
        f"to itself and to tokens of the same text **at most {one.reach}** position{'s' * (one.reach > 1)} away. {wide}"
    ).strip()
    hints = (
        "Make a list of the texts without padding and sort it by length; Python's sort keeps the order of equal ones.",
        "Keep the number of each token's text beside its position. Two comparisons [N, 1] with [1, N] give the mask.",
    )
    exercise = Exercise("19.12", "Unpad, sort and hide", 3, 15, hints, examine)
    return Variant(exercise, text, "def unpad(input_ids, attention_mask):")


MAKERS = {"19.11": rotating, "19.12": packing}
