"""Answers to the exercises 1.1, 1.2, 1.3 and 1.5: right ones, and mistakes with the words that they hear."""

from bertedu.tokenization.normalization import Normalization, split_words, strip_accents
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.tokenization.wordpiece import split_word

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


# 1.5 --------------------------------------------------------------------------------------------------------------


def all_pieces(text, vocab, **switches):
    return [piece for word in Normalization(**switches).words(text) for piece in split_word(word, vocab)]


def looks_for_capitals(text, vocab):
    return all_pieces(text, vocab, lowercase=not any(t.lower() != t for t in vocab if t not in SPECIAL_TOKENS))


def looks_at_brackets(text, vocab):
    ordinary = "".join(token for token in vocab if not token.startswith("["))
    return all_pieces(text, vocab, lowercase=ordinary == ordinary.lower())


def by_ascii_capitals(text, vocab):
    ordinary = set(vocab) - set(SPECIAL_TOKENS)
    return all_pieces(text, vocab, lowercase=not any("A" <= c <= "Z" for token in ordinary for c in token))


def asks_whether_all_are_lower(text, vocab):
    return all_pieces(text, vocab, lowercase=all(token.islower() for token in vocab if token not in SPECIAL_TOKENS))


def asks_for_one_name(text, vocab):
    return all_pieces(text, vocab, lowercase="Oslo" not in vocab)


def still_broken(text, vocab):
    return all_pieces(text, vocab, lowercase=False)


def fooled_by_pad(text, vocab):
    return all_pieces(text, vocab, lowercase=not any(token != token.lower() for token in vocab))


def always_lower(text, vocab):
    return all_pieces(text, vocab, lowercase=True)


def keeps_accents(text, vocab):
    cased = any(t.lower() != t for t in vocab if t not in SPECIAL_TOKENS)
    return all_pieces(text, vocab, lowercase=not cased, strip_accents=False)


def forgets_to_clean(text, vocab):
    if not any(t.lower() != t for t in vocab if t not in SPECIAL_TOKENS):
        text = strip_accents(text.lower())
    return [piece for word in split_words(text) for piece in split_word(word, vocab)]


def gives_words(text, vocab):
    return " ".join(looks_for_capitals(text, vocab))


def forgets_to_split(text, vocab):
    cased = any(t != t.lower() for t in vocab if t not in SPECIAL_TOKENS)
    return Normalization(lowercase=not cased).words(text)


def gives_ids(text, vocab):
    return [vocab[piece] for piece in looks_for_capitals(text, vocab)]


ANSWERS = {
    "1.1": {
        "accepted": [
            [["unh", "##app", "##y"], ["[UNK]"], ["[UNK]"]],
            (("unh", "##app", "##y"), ("[UNK]",), ("[UNK]",)),
        ],
        "wrong": [
            ([["un", "##happy"], ["[UNK]"], ["[UNK]"]], "the greedy rule does not compare splits"),
            ([["unh", "app", "y"], ["[UNK]"], ["[UNK]"]], "is written with ##"),
            ([["un", "happy"], ["[UNK]"], ["[UNK]"]], "unh is longer than un"),
            ([["un", "h", "app", "y"], ["[UNK]"], ["[UNK]"]], "the longest piece that it begins with"),
            ([["unh", "##app", "##y"], ["unh", "##app", "[UNK]"], ["[UNK]"]], "the whole word becomes one [UNK]"),
            ([["unh", "##app", "##y"], ["unh", "##app", "##er"], ["[UNK]"]], "the rest is ier"),
            ([["unh", "##app", "##y"], ["[UNK]"], ["##happy"]], "can only continue a word"),
            ([["unh", "##app", "##y"], ["[UNK]"], ["happy"]], "a piece without ##"),
            ([["[UNK]"], ["[UNK]"], ["[UNK]"]], "the longest piece that it begins with"),
            (["unh", "##app", "##y"], "a list of three lists"),
        ],
    },
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
    },
    "1.3": {
        "accepted": [["ax", 1.0], ("ax", 1)],
        "wrong": [
            (["lo", 0.056], "first merge by frequency"),
            (["##st", 0.1], "Its parts never occur apart"),
            (["wi", 0.143], "7 / (7 · 7)"),
            (["##xe", 0.025], "makes the denominator large"),
            (["##ax", 1.0], "the beginning of a word has no ##"),
            (["axe", 1.0], "joins two pieces"),
            (["a ##x", 1.0], "the right pair"),
            (["zz", 1.0], "pair of neighbours"),
            (["##er", 0.025], "11 / (40 · 11) = 0.025"),
            (["ne", 0.025], "15 / (15 · 40) = 0.025"),
            (["st", 0.1], "so its new piece is written ##st"),
            (["a x", 1.0], "without a space"),
            (["ax", 0.5], "The piece is right"),
            (("a", "##x", 1.0), "the new piece and its score"),
        ],
    },
    "1.5": {
        "accepted": [looks_for_capitals, looks_at_brackets, by_ascii_capitals],
        "wrong": [
            (still_broken, "the text must be lower-cased"),
            (fooled_by_pad, "Does [PAD], or a token without letters"),
            (asks_whether_all_are_lower, "a token without letters such as '.'"),
            (always_lower, "must not be lower-cased"),
            (asks_for_one_name, "look at all tokens of the vocabulary"),
            (keeps_accents, "has no accents"),
            (forgets_to_clean, "does all of it"),
            (gives_words, "a list of tokens"),
            (forgets_to_split, "Those are words"),
            (gives_ids, "Those are ids"),
        ],
    },
}
