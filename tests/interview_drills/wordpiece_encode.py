"""Answers to the drill wordpiece-encode: right ones, and mistakes with the words that they must hear."""


def with_an_end(word, vocab):
    unknown = [vocab["[UNK]"]]
    if len(word) > 100:
        return unknown
    ids, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start and ("##" * bool(start) + word[start:end]) not in vocab:
            end -= 1
        if end == start:
            return unknown
        ids.append(vocab["##" * bool(start) + word[start:end]])
        start = end
    return ids


def recursive(word, vocab):
    def rest(left, prefix):
        if not left:
            return []
        for end in range(len(left), 0, -1):
            if prefix + left[:end] in vocab:
                after = rest(left[end:], "##")
                return None if after is None else [vocab[prefix + left[:end]], *after]
        return None

    ids = rest(word, "") if len(word) <= 100 else None
    return [vocab["[UNK]"]] if ids is None else ids


def by_the_longest_pieces(word, vocab):
    ordered = sorted(vocab, key=len, reverse=True)
    rest, ids = word, []
    while rest and len(word) <= 100:
        fits = [p for p in ordered if (p[2:] if ids and p[:2] == "##" else p if not ids and p[:2] != "##" else None)]
        fits = [p for p in fits if rest.startswith(p[2:] if ids else p)]
        if not fits:
            return (vocab["[UNK]"],)
        ids.append(vocab[fits[0]])
        rest = rest[len(fits[0]) - (2 if len(ids) > 1 else 0) :]
    return tuple(ids) if len(word) <= 100 else (vocab["[UNK]"],)


def search(word, vocab, ends=None, prefix="##", first="", unknown=None):
    ids, start = [], 0
    while start < len(word):
        for end in ends(word, start) if ends else range(len(word), start, -1):
            piece = (prefix if start else first) + word[start:end]
            if piece in vocab:
                break
        else:
            return unknown(ids) if unknown else [vocab["[UNK]"]]
        ids.append(vocab[piece])
        start = end
    return ids


def shortest_first(word, vocab):
    return search(word, vocab, ends=lambda word, start: range(start + 1, len(word) + 1))


def end_left_out(word, vocab):
    return search(word, vocab, ends=lambda word, start: range(len(word) - 1, start, -1))


def no_mark(word, vocab):
    return search(word, vocab, prefix="")


def mark_everywhere(word, vocab):
    return search(word, vocab, first="##")


def keeps_the_half(word, vocab):
    return search(word, vocab, unknown=lambda ids: [*ids, vocab["[UNK]"]])


def loses_the_rest(word, vocab):
    return search(word, vocab, unknown=lambda ids: ids)


def one_piece(word, vocab):
    for end in range(len(word), 0, -1):
        if word[:end] in vocab:
            return [vocab[word[:end]]]
    return [vocab["[UNK]"]]


def any_length(word, vocab):
    return search(word, vocab)


def less_than_a_hundred(word, vocab):
    return [vocab["[UNK]"]] if len(word) >= 100 else search(word, vocab)


def backtracking(word, vocab):
    def cover(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab and (rest := cover(end)) is not None:
                return [vocab[piece], *rest]
        return None

    return cover(0) or [vocab["[UNK]"]]


def pieces(word, vocab):
    names = {number: piece for piece, number in vocab.items()}
    return [names[number] for number in with_an_end(word, vocab)]


def never_ends(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                ids.append(vocab[piece])
                start = end
                break
    return ids


def an_id_as_truth(word, vocab):
    return search(word, {piece: number for piece, number in vocab.items() if number or piece == "[UNK]"})


def skips_what_is_unknown(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if ids else "") + word[start:end]
            if piece in vocab:
                ids.append(vocab[piece])
                break
        start = end
    return ids


ANSWERS = {
    "wordpiece-encode": {
        "accepted": [with_an_end, recursive, by_the_longest_pieces],
        "wrong": [
            (shortest_first, "Try the longest first"),
            (end_left_out, "Does your search try its end"),
            (no_mark, 'looked up with "##" before it'),
            (mark_everywhere, 'has no "##"'),
            (keeps_the_half, "does not keep half a word"),
            (loses_the_rest, "The rest is lost"),
            (one_piece, "The rest of the word is lost"),
            (any_length, "More than 100 characters"),
            (less_than_a_hundred, "exactly 100 are still encoded"),
            (backtracking, "never takes it back"),
            (pieces, "asks for their ids"),
            (an_id_as_truth, "0 counts as False"),
            (never_ends, "a loop that never ends"),
            (skips_what_is_unknown, "The rest is lost"),
        ],
    },
}
