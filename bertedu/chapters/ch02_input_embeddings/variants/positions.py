"""Variant 2.12: positions of several texts that are packed into one sequence."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Mistakes, compare
from bertedu.course.variant import COPIED, Draws, Variant

BATCHES = (  # to which text each token belongs; 0 is padding
    [[1, 1, 1, 2, 2, 0], [1, 1, 2, 2, 2, 2]],
    [[0, 0, 4, 4, 4, 7], [3, 3, 0, 3, 3, 3]],
    [[5, 5, 5, 5, 5, 5], [0, 0, 0, 0, 0, 0]],
    [[2, 2, 9, 9, 2, 2], [1, 0, 0, 8, 8, 8]],
    [[3, 3, 3, 3, 3, 3, 3, 3, 1, 1]],
)


@dataclass(frozen=True)
class Counting:
    """How positions are counted. The last three are for mistakes."""

    start: int
    backward: bool
    last: int  # the last row of the table
    padding: int
    same_goes_on: bool = False  # a number that comes again continues its text
    all_go_on: bool = False  # no text begins anew
    round_again: bool = False  # after the last row, the first one of a text

    def __call__(self, texts: Tensor) -> Tensor:
        """The positions of texts, [B, T]."""
        return torch.tensor([self.of_one(row) for row in texts.tolist()])

    def of_one(self, row: list[int]) -> list[int]:
        """The positions of one sequence."""
        row = row[::-1] if self.backward else row
        seen: dict[int, int] = {}
        positions, before = [], 0
        for text in row:
            if text != before and not self.all_go_on and not self.same_goes_on:
                seen = {}
            key = -1 if self.all_go_on else text
            seen[key] = seen.get(key, -1) + (text != 0)
            far, rows = seen[key], self.last - self.start + 1
            at = self.start + (far % rows if self.round_again else min(far, rows - 1))
            positions.append(at if text else self.padding)
            before = text
        return positions[::-1] if self.backward else positions


def chapters_answer(texts: Tensor) -> Tensor:
    """What the chapter's solution returns for the mask that these texts have."""
    return (texts.clamp(max=1).cumsum(1) - 1).clamp(min=0)


def positions(draws: Draws) -> Variant:
    """Positions that begin anew with each text, from another number, in either direction, up to a last row."""
    start, backward = draws.pick((1, 2, 5)), draws.pick((True, False))
    rule = Counting(start, backward, start + draws.pick((2, 3)), draws.pick((0, 500)))
    end, other = ("last", "first") if backward else ("first", "last")

    def examine(case: Case) -> None:
        mistakes: Mistakes = {
            COPIED.format(number="2.4"): lambda texts: (texts.cumsum(1) - 1).clamp(min=0),
            COPIED.format(number="2.4") + " Padding is where texts is 0.": chapters_answer,
            f"You count from the {other} token of each text. Begin at its {end}.": (
                replace(rule, backward=not backward)
            ),
            "Your positions go on from one text to the next. Each text begins anew.": replace(rule, all_go_on=True),
            "A text goes on where its number comes again. After another number, or padding, a new text begins.": (
                replace(rule, same_goes_on=True)
            ),
            f"The {end} token of a text should have {start}.": replace(rule, start=0, last=rule.last - start),
            f"The {end} token of a text should have {start}, and you begin at 0.": replace(rule, start=0),
            f"The table ends at row {rule.last}, and you go on.": replace(rule, last=10**6),
            f"The row {rule.last} still exists: the limit is one too low.": replace(rule, last=rule.last - 1),
            f"The limit is one too high: the last row is {rule.last}.": replace(rule, last=rule.last + 1),
            f"After row {rule.last} you begin again. All tokens that are farther away get {rule.last}.": (
                replace(rule, round_again=True)
            ),
        }
        for value in {0, 500, start, start - 1, rule.last} - {rule.padding}:
            sentence = f"Padding has the position {value}, and it should have {rule.padding}."
            mistakes[sentence] = replace(rule, padding=value)
        rows = [(f"the texts {batch}", torch.tensor(batch)) for batch in BATCHES]
        for _ in range(20):
            rows.append(("drawn texts", case.randint(0, 3, (3, 9))))
        advice = f"Each text counts {start}, {start + 1}, … from its {end} token. Its positions end at {rule.last}."
        compare(case, rows, rule, mistakes, advice)
        got = case.call(rows[0][1], tried=rows[0][0])
        case.expect(
            not got.is_floating_point(), f"But the positions are {str(got.dtype)[6:]}. They are row numbers: integers."
        )

    text = (
        "Several short texts are packed into one sequence. `texts`, `[B, T]`, says to which text each token belongs, "
        "as in `[[1, 1, 2, 2, 2, 0]]`; 0 is padding and can stand anywhere. Neighbours with the same number are one "
        "text; if the number comes again later, that is a new text. Write `position_ids(texts)`, which returns "
        f"integers `[B, T]`. In each text the **{end}** token has the position **{start}**, the next one "
        f"{'to its left ' if backward else ''}{start + 1}, and so on. The table's last row is **{rule.last}**: all "
        f"tokens farther away get {rule.last} too. Padding gets **{rule.padding}**."
    )
    hints = (
        "A loop over the tokens is fine: keep a counter, and say when it begins anew.",
        "A text ends where the number changes. "
        + ("Go through the sequence from its end." if backward else "Compare each token with the one before it."),
    )
    exercise = Exercise("2.12", "Positions of packed texts", 3, 15, hints, examine)
    return Variant(exercise, text, "def position_ids(texts):")


MAKERS = {"2.12": positions}
