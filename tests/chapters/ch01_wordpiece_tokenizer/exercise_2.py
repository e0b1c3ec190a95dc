"""Answers to exercise 1.2: right ones, and mistakes with the words that they must hear."""


# 1.2 --------------------------------------------------------------------------------------------------------------


def with_two_loops(word, vocab):
    if len(word) > 100:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                break
            end -= 1
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces


def with_a_shrinking_rest(word, vocab):
    pieces, rest = [], word
    while rest and len(word) <= 100:
        mark = "##" if pieces else ""
        fitting = [mark + rest[:n] for n in range(1, len(rest) + 1) if mark + rest[:n] in vocab]
        if not fitting:
            return ["[UNK]"]
        pieces.append(fitting[-1])
        rest = rest[len(fitting[-1]) - len(mark) :]
    return pieces or ["[UNK]"]


def greedy(word, vocab, shortest=False, mark="##", last=0, on_failure=lambda pieces: ["[UNK]"], longest=100):
    if len(word) > longest:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        ends = range(start + 1, len(word) + 1) if shortest else range(len(word) - last, start, -1)
        prefix = mark if start else ""
        end = next((end for end in ends if prefix + word[start:end] in vocab), None)
        if end is None:
            return on_failure(pieces)
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


def shortest_first(word, vocab):
    return greedy(word, vocab, shortest=True)


def without_marks(word, vocab):
    return greedy(word, vocab, mark="")


def half_a_word(word, vocab):
    return greedy(word, vocab, on_failure=lambda pieces: [*pieces, "[UNK]"])


def rest_lost(word, vocab):
    return greedy(word, vocab, on_failure=lambda pieces: pieces or ["[UNK]"])


def never_the_end(word, vocab):
    return greedy(word, vocab, last=1)


def no_limit(word, vocab):
    return greedy(word, vocab, longest=10_000)


def limit_at_a_hundred(word, vocab):
    return greedy(word, vocab, longest=99)


def a_string(word, vocab):
    return " ".join(with_two_loops(word, vocab))


def with_backtracking(word, vocab, start=0):
    if len(word) > 100:
        return ["[UNK]"]
    if start == len(word):
        return []
    for end in range(len(word), start, -1):
        piece = ("##" if start else "") + word[start:end]
        if piece in vocab and (rest := with_backtracking(word, vocab, end)) != ["[UNK]"]:
            return [piece, *rest]
    return ["[UNK]"]


def with_fewest_pieces(word, vocab):
    best = [[]] + [None] * len(word)
    for end in range(1, min(len(word), 100) + 1):
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            fits = piece in vocab and best[start] is not None
            if fits and (best[end] is None or len(best[start]) + 1 < len(best[end])):
                best[end] = [*best[start], piece]
    return best[-1] or ["[UNK]"]


def by_recursion(word, vocab):
    return ["[UNK]"] if len(word) > 100 else by_recursion_inside(word, vocab, "")


def by_recursion_inside(rest, vocab, prefix="##"):
    if not rest:
        return []
    longest = max((n for n in range(1, len(rest) + 1) if prefix + rest[:n] in vocab), default=0)
    others = by_recursion_inside(rest[longest:], vocab) if longest else ["[UNK]"]
    return others if others == ["[UNK]"] else [prefix + rest[:longest], *others]


def never_advances(word, vocab):
    start = 0
    while start < len(word):
        _ = word[start:] in vocab
    return []


ANSWERS = {
    "1.2": {
        "accepted": [with_two_loops, with_a_shrinking_rest, by_recursion],
        "wrong": [
            (shortest_first, "Those are the shortest pieces"),
            (with_backtracking, "The greedy rule never goes back"),
            (with_fewest_pieces, "does not compare splits"),
            (without_marks, 'with "##" before it'),
            (half_a_word, "does not keep half a word"),
            (rest_lost, "The rest of the word is lost"),
            (never_the_end, "Does your search try the end of the word"),
            (no_limit, "A word of more than 100 characters"),
            (limit_at_a_hundred, "exactly 100 is still split"),
            (a_string, "a list of strings"),
            (never_advances, "a loop that never ends"),
        ],
    }
}
