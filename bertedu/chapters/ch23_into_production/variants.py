"""Variants of chapter 23: batches by length with their padding, and decisions by cost with a reader in between."""

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.variant import Draws, Variant


def batches_of(lengths: list[int], rows: int, tokens: int, ordered: bool = True) -> list[list[int]]:
    """Lengths in batches: a new one begins where a row more would be too many rows, or too many tokens with padding."""
    found: list[list[int]] = []
    for length in sorted(lengths) if ordered else lengths:
        if not found or len(found[-1]) == rows or (len(found[-1]) + 1) * max(*found[-1], length) > tokens:
            found.append([])
        found[-1].append(length)
    return found


def padded_tokens(draws: Draws) -> Variant:
    """How many padding tokens a plan of batches has."""
    rows, tokens = draws.pick((4, 6, 8)), draws.pick((96, 120, 160))

    def wasted(batches: list[list[int]]) -> int:
        return sum(len(batch) * max(batch) - sum(batch) for batch in batches)

    def examine(case: Case) -> None:
        drawn = [case.randint(2, 40, [count]).tolist() for count in (3 * rows + 1, rows, 1, 0)]
        many, long = [2] * rows + [3] * rows, [tokens // 2 - 10, tokens // 2 + 10]  # each meets one of the limits
        for lengths in (drawn[0], many, long, *drawn[1:]):
            got = case.call(lengths, tried=f"{len(lengths)} texts of these lengths: {lengths}")
            right = wasted(batches_of(lengths, rows, tokens))
            in_all = sum(len(batch) * max(batch) for batch in batches_of(lengths, rows, tokens))
            mistakes = [
                (wasted(batches_of(lengths, rows, tokens, ordered=False)), "Sort by length first, the shortest first."),
                (in_all, "These are all positions. Padding is what is left without the tokens."),
                (wasted(batches_of(lengths, rows, 10**6)), f"No batch may have over {tokens} tokens with its padding."),
                (wasted(batches_of(lengths, 10**6, tokens)), f"No batch may have more than {rows} texts."),
            ]
            case.equal("the number", got, right, "Write down the batches, and pad each by hand.", mistakes=mistakes)

    text = (
        "A service sorts the texts that wait by length, the shortest first, and fills batches in this order. A batch "
        f"has at most **{rows}** texts. It has at most **{tokens}** tokens, padding included: its number of texts "
        "times its longest. A text that doesn't fit any more begins a new batch. Write `padded_tokens(lengths)`: from "
        "the list of lengths, the number of padding tokens in all batches together. No text is longer than a batch may "
        "be."
    )
    hints = (
        "In a sorted list the newest text is the longest of its batch.",
        "A text fits if there are fewer texts than allowed, and (texts + 1) times its length is not over the limit.",
    )
    exercise = Exercise("23.11", "Padding of a plan", 2, 10, hints, examine)
    return Variant(exercise, text, "def padded_tokens(lengths):")


def decide_by_cost(draws: Draws) -> Variant:
    """Alarm, ignore or let a person read: what costs least for each probability."""
    false_alarm, miss, read = draws.pick((2, 3, 4)), draws.pick((20, 30, 40)), draws.pick((1, 1.5))

    def decisions(probabilities: list[float], costs: tuple[float, float, float]) -> list[str]:
        alarm, missed, reading = costs
        named = [((1 - p) * alarm, p * missed, reading) for p in probabilities]
        return [("alarm", "ignore", "read")[one.index(min(one))] for one in named]

    def examine(case: Case) -> None:
        right_costs = (false_alarm, miss, read)
        for count in (40, 1, 0):
            drawn = [number / 1000 + 0.0003 for number in case.randint(0, 999, [count]).tolist()]
            drawn[:2] = [0.0003, 0.9993][:count]
            got = case.call(drawn, tried=f"{count} probabilities")
            case.is_a("the result", got, list | tuple, "a list of decisions")
            right = decisions(drawn, right_costs)
            mistakes = [
                (decisions(drawn, (miss, false_alarm, read)), "The costs are swapped: an alarm can only be false."),
                (decisions(drawn, (false_alarm, miss, 10**6)), "Reading is the third choice, at a fixed cost."),
                (
                    ["alarm" if p >= 0.5 else "ignore" for p in drawn],
                    "0.5 knows nothing about costs. Compare three expected costs.",
                ),
            ]
            case.equal("the list", list(got), right, "Compute three expected costs for each.", mistakes=mistakes)

    text = (
        f"A false alarm costs **{false_alarm}** euros, a miss costs **{miss}**, and a person who reads a message and "
        f"decides rightly costs **{read}**. Write `decide(probabilities)`: for the list of calibrated probabilities "
        'that a message is positive, the list of decisions, "alarm", "ignore" or "read", each the one with the lowest '
        "expected cost."
    )
    hints = (
        "What does an alarm cost on average if the probability is p? It costs something only if it is false.",
        "The three expected costs are (1 - p) times a false alarm, p times a miss, and the cost of reading.",
    )
    exercise = Exercise("23.12", "Alarm, ignore or read", 2, 10, hints, examine)
    return Variant(exercise, text, "def decide(probabilities):")


MAKERS = {"23.11": padded_tokens, "23.12": decide_by_cost}
