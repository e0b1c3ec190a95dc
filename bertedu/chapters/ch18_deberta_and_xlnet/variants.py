"""Variants of chapter 18: another table of distances, and XLNet's masks where the first words are given."""

from dataclasses import dataclass

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import Exercise
from bertedu.course.tables import compare_rows
from bertedu.course.variant import COPIED, Draws, Variant


def rows_of(length: int, span: int, to_the_right: bool, wraps: bool, clamps: bool) -> Tensor:
    """The row of the table for each pair of tokens, [T, T].

    to_the_right: the distance is j − i. wraps: distance 0 has row 0, and the negative ones follow the positive
    ones. clamps: far distances get the nearest row; otherwise all of them share one row more.
    """
    at = torch.arange(length)
    distance = at - at[:, None] if to_the_right else at[:, None] - at
    near = distance.clamp(-span, span)
    rows = near % (2 * span + 1) if wraps else near + span
    return rows if clamps else rows.masked_fill(distance.abs() > span, 2 * span + 1)


def distances(draws: Draws) -> Variant:
    """Rows of a table for every distance from -s to s, in one of two orders, with two ways to treat far distances."""
    to_the_right, wraps, clamps = draws.pick((True, False)), draws.pick((True, False)), draws.pick((True, False))
    formula = "j − i" if to_the_right else "i − j"

    def mistakes(length: int, span: int) -> list[tuple[Tensor, str]]:
        at = torch.arange(length)
        distance = at - at[:, None] if to_the_right else at[:, None] - at
        far = "gets the nearest row" if clamps else f"gets row 2s + 1, here {2 * span + 1}"
        order = "0 has row 0, and −1 the last of the 2s + 1 rows" if wraps else "−s has row 0, and 0 has row s"
        return [
            ((at[:, None] - at + span).clamp(0, 2 * span - 1), COPIED.format(number="18.1")),
            (
                rows_of(length, span, not to_the_right, wraps, clamps),
                f"The sign of the distance is wrong: it is {formula}, with a row for each query i.",
            ),
            (rows_of(length, span, to_the_right, not wraps, clamps), f"The rows have another order: distance {order}."),
            (rows_of(length, span, to_the_right, wraps, not clamps), f"A distance beyond s {far}."),
            (
                (distance + span).clamp(0, 2 * span - 1),
                "There are only 2s rows in your table, as in the chapter. Here distance s has a row of its own.",
            ),
            (distance, "Those are the distances. The question is which row of the table each has."),
            (distance.clamp(-span, span), "Those are the distances, and some are negative. A row starts at 0."),
            (distance + span, "Distances beyond s lead out of your table."),
            (distance % (2 * span + 1), "Distances beyond s get the row of another distance: treat them first."),
            (
                distance.abs().clamp(max=span if clamps else span + 1),
                "The sign of the distance is lost: left and right get one row.",
            ),
        ]

    def examine(case: Case) -> None:
        for length, span in ((7, 2), (5, 3), (4, 8), (3, 1)):
            got = case.call(length, span, tried=f"length = {length} and span = {span}")
            case.same_shape("the rows", got, [length, length], "A row for each query, a column for each key.")
            if got.is_floating_point() or got.dtype == torch.bool:
                case.fail(f"But the result has the type {str(got.dtype)[6:]}. Rows are numbered by integers.")
            right = rows_of(length, span, to_the_right, wraps, clamps)
            advice = "Distance, what is far, then the row: which of them differs?"
            compare_rows(case, "the result", got, right, mistakes(length, span), advice)

    numbering = (
        "Distance 0 has row 0, the distances 1 to s have rows 1 to s, and **−1 to −s have rows 2s down to s + 1**"
        if wraps
        else "**Distance −s has row 0**, distance −s + 1 row 1, and so on, up to row 2s for the distance s"
    )
    far = "Farther distances get the row of the nearest distance" if clamps else "All farther distances get row 2s + 1"
    text = (
        "Write `relative_rows(length, span)`: integers `[T, T]`, with a row for each query i and a column for each key "
        f"j. The distance is **{formula}** here, and the table has a row for each distance from −s to s, where s is "
        f"the span. {numbering}. **{far}**, in both directions."
    )
    hints = (
        "torch.arange(length)[:, None] is a column of positions. Subtract the row from it, or it from the row.",
        "Clamp the distance to −s … s first. "
        + ("The remainder, % (2 * span + 1), is never negative." if wraps else "Then add s."),
    )
    exercise = Exercise("18.11", "Another table of distances", 2, 10, hints, examine)
    return Variant(exercise, text, "def relative_rows(length, span):")


@dataclass(frozen=True)
class Rules:
    """What is drawn for the masks of an order."""

    given: int  # so many words come first and are not predicted
    by_word: bool  # order[i] says when word i comes
    hides: bool  # True means: may not be seen
    in_order: bool  # the query mask's rows stand in the order of prediction

    def times(self, order: list[int]) -> Tensor:
        """When each position comes, [T]; the given words all come at time 0."""
        when = torch.tensor(order) if self.by_word else torch.tensor(order).argsort()
        return (when - self.given + 1).clamp_min(0)

    def masks(self, order: list[int]) -> tuple[Tensor, Tensor]:
        """Content mask [T, T] and query mask [T − n, T]."""
        when = self.times(order)
        sees = when < when[:, None]
        content = sees | (when == 0) & (when == 0)[:, None] | torch.eye(len(order), dtype=torch.bool)
        predicted = (when > 0).nonzero().flatten()
        if self.in_order:
            predicted = predicted[when[predicted].argsort()]
        return content ^ self.hides, sees[predicted] ^ self.hides

    def but(self, **changed: int | bool) -> "Rules":
        """The same rules with one changed."""
        return Rules(**{**vars(self), **changed})  # type: ignore[arg-type]


def public_masks(order: list[int]) -> tuple[Tensor, Tensor]:
    """What the chapter's solution computes."""
    when = torch.tensor(order).argsort()
    query = when < when[:, None]
    return query | torch.eye(len(order), dtype=torch.bool), query


def masking(draws: Draws) -> Variant:
    """Both masks of an order of which the first words are given, in another convention."""
    rules = Rules(draws.pick((2, 3)), draws.pick((True, False)), draws.pick((True, False)), draws.pick((True, False)))
    meaning = "may NOT be seen" if rules.hides else "may be seen"

    def wrong_content(order: list[int]) -> list[tuple[Tensor, str]]:
        """What known mistakes give for the content mask."""
        right, eye = rules.masks(order)[0], torch.eye(len(order), dtype=torch.bool)
        given = rules.times(order) == 0
        pairs = given & given[:, None]
        among = rules.but(given=1).masks(order)[0]
        meant = "order[i] says when word i comes" if rules.by_word else "order[0] is the position that comes first"
        return [
            (~right, f"It is the opposite: True means that a word {meaning}."),
            (rules.but(by_word=not rules.by_word).masks(order)[0], f"You read the order the other way: {meant}."),
            (among, "The given words see all given words, also those that come later in the order."),
            (right ^ eye, "In the content mask each word sees itself."),
            (right ^ pairs ^ (eye & given), "The given words see each other."),
            (right.mT, "Rows and columns are swapped: the row is the word that sees."),
            (rules.but(given=5 - rules.given).masks(order)[0], f"{rules.given} words are given here."),
        ]

    def wrong_query(order: list[int]) -> list[tuple[Tensor, str]]:
        """What known mistakes give for the query mask."""
        right, when = rules.masks(order)[1], rules.times(order)
        other = rules.but(in_order=not rules.in_order).masks(order)[1]
        own = (when.argsort()[rules.given :] if rules.in_order else (when > 0).nonzero().flatten())[:, None]
        rows = "the order in which the words are predicted" if rules.in_order else "the order of the text"
        return [
            (~right, f"It is the opposite: True means that a word {meaning}."),
            (other, f"The rows stand in another order: they follow {rows}."),
            (right ^ (torch.arange(len(order)) == own), "A word that is predicted must not see itself."),
        ]

    def examine(case: Case) -> None:
        case.causes = dict.fromkeys(
            ("only integer tensors", "list indices must be", "'list' object has no attribute"),
            "`order` is a list: torch.tensor(order) makes a tensor of it.",
        )
        for order in ([3, 5, 0, 2, 4, 1], [1, 2, 3, 4, 0], [4, 6, 2, 0, 1, 5, 3]):
            size, result = len(order), case.call(order, tried=f"the order {order}")
            content, query = case.parts(result, "content mask", "query mask")
            if is_close(content, public_masks(order)[0]) and is_close(query, public_masks(order)[1]):
                case.fail(COPIED.format(number="18.3"), f"The first {rules.given} words are given, not predicted.")
            if isinstance(query, Tensor) and list(query.shape) == [size, size]:
                case.fail("But the query mask has a row for every word. Given words are not predicted: leave them out.")
            case.same_shape("content mask", content, [size, size])
            case.same_shape("query mask", query, [size - rules.given, size], "A row for each predicted word.")
            right = rules.masks(order)
            advice = "Write down when each word comes, with one time for all given words."
            compare_rows(case, "the content mask", content.bool(), right[0], wrong_content(order), advice)
            compare_rows(case, "the query mask", query.bool(), right[1], wrong_query(order), advice)

    return Variant(
        Exercise("18.12", "An order with given words", 3, 15, HINTS, examine),
        masks_text(rules),
        "def order_masks(order):",
    )


HINTS = (
    "When does each position come? Give all given words the time 0, and the others 1, 2, 3, …",
    "Word i sees word j if when[j] < when[i]. In the content mask, given words see given words, and each word itself.",
)


def masks_text(rules: Rules) -> str:
    """What is asked."""
    meant = (
        "`order[i]` says **when** the word at position i comes: 0 for the first"
        if rules.by_word
        else "`order[0]` is the **position** of the word that comes first"
    )
    rows = "the order in which they are predicted" if rules.in_order else "their order in the text"
    return (
        f"Write `order_masks(order)` for XLNet. `order` is a list: {meant}. The **first {rules.given}** words in this "
        "order are given: they are not predicted, and each of them sees all of them. A predicted word sees all given "
        "words and the words that come before it. Return two boolean tensors with a column for each position. First "
        "the content mask `[T, T]`, where each word also sees itself, and the rows follow the text. Then the query "
        f"mask `[T - {rules.given}, T]`: a row for each predicted word, in **{rows}**, and none sees itself. True "
        f"means that a word **{'may not' if rules.hides else 'may'}** be seen."
    )


MAKERS = {"18.11": distances, "18.12": masking}
