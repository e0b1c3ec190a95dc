"""Answers to exercise 14.3: right ones, and mistakes with the words that they must hear."""


def by_loops(word):
    marked, found = "<" + word + ">", []
    for start in range(len(marked)):
        for end in range(start + 3, min(start + 6, len(marked)) + 1):
            found.append(marked[start:end])
    return found


def by_filter(word):
    marked = f"<{word}>"
    runs = (marked[i : i + n] for n in (3, 4, 5, 6) for i in range(len(marked)))
    return tuple(run for n, run in zip((n for n in (3, 4, 5, 6) for _ in marked), runs, strict=True) if len(run) == n)


def runs(text, shortest, longest):
    lengths = range(shortest, min(longest, len(text)) + 1)
    return [text[i : i + n] for n in lengths for i in range(len(text) - n + 1)]


def unmarked(word):
    return runs(word, 3, 6)


def up_to_five(word):
    return runs(f"<{word}>", 3, 5)


def from_two(word):
    return runs(f"<{word}>", 2, 6)


def of_any_length(word):
    return runs(f"<{word}>", 3, 99)


def without_repetitions(word):
    return set(by_loops(word))


def past_the_end(word):
    marked = f"<{word}>"
    return [marked[i : i + n] for n in range(3, 7) for i in range(len(marked))]


def one_short(word):
    marked = f"<{word}>"
    return [marked[i : i + n] for n in range(3, 7) for i in range(len(marked) - n)]


def with_the_word(word):
    return [word, *by_loops(word)]


ANSWERS = {
    "14.3": {
        "accepted": [by_loops, by_filter],
        "wrong": [
            (unmarked, "tell a prefix from the middle"),
            (up_to_five, "Pieces of 6 characters are missing"),
            (from_two, "are too short"),
            (of_any_length, "are too long"),
            (without_repetitions, "stands twice in the list"),
            (past_the_end, "a slice past the end"),
            (with_the_word, "no run of the marked word"),
            (one_short, "at the end of the word are missing"),
        ],
    }
}
