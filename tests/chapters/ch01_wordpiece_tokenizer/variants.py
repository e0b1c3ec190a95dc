"""Answers to the variants of chapter 1: see test_classroom_variants.py."""

from support.variant_facts import found

SPLIT = """
def split_word(word, vocab):
    def token(a, b):
        first, last = a == 0, b == len(word)
        before = mark if (mark == "▁" and first) or (mark == "+" and not first) else ""
        after = mark if (mark == "</w>" and last) or (mark == "@@" and not last) else ""
        return before + word[a:b] + after
    pieces, a, b = [], 0, len(word)
    while a < b:
        for size in range(b - a, 0, -1):
            span = (b - size, b) if right else (a, a + size)
            if token(*span) in vocab:
                break
        else:
            if whole:
                return ["<unk>"]
            span = (b - 1, b) if right else (a, a + 1)
        piece = token(*span) if token(*span) in vocab else "<unk>"
        pieces = [piece, *pieces] if right else [*pieces, piece]
        a, b = (a, span[0]) if right else (span[1], b)
    return pieces
"""
SPLIT_RECURSIVE = """
def split_word(word, vocab):
    signs = [""] * len(word)
    def written(a, b):
        if mark == "▁":
            return ("▁" if not a else "") + word[a:b]
        if mark == "+":
            return ("+" if a else "") + word[a:b]
        if mark == "@@":
            return word[a:b] + ("@@" if b < len(word) else "")
        return word[a:b] + ("</w>" if b == len(word) else "")
    def rest(a, b):
        if a == b:
            return []
        cuts = range(a, b) if right else range(b, a, -1)
        for cut in cuts:
            one = written(cut, b) if right else written(a, cut)
            if one in vocab:
                return rest(a, cut) + [one] if right else [one] + rest(cut, b)
        return rest(a, b - 1) + ["<unk>"] if right else ["<unk>"] + rest(a + 1, b)
    pieces = rest(0, len(word))
    return ["<unk>"] if whole and "<unk>" in pieces else pieces
"""
PUBLIC_SPLIT = """
def split_word(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = [end for end in range(len(word), start, -1) if prefix + word[start:end] in vocab]
        if not ends:
            return ["[UNK]"]
        pieces.append(prefix + word[start : ends[0]])
        start = ends[0]
    return pieces
"""
BACK = """
def split_word(word, vocab):
    if whole:
        greedy = first_split(word, vocab)
        return greedy if greedy != ["<unk>"] else back(word, vocab, 0) or greedy
    return back(word, vocab, 0) or first_split(word, vocab)
def back(word, vocab, start):
    for end in range(len(word), start, -1):
        first, last = start == 0, end == len(word)
        before = mark if (mark == "▁" and first) or (mark == "+" and not first) else ""
        after = mark if (mark == "</w>" and last) or (mark == "@@" and not last) else ""
        one = before + word[start:end] + after
        if one in vocab:
            if last:
                return [one]
            if rest := back(word, vocab, end):
                return [one, *rest]
    return []
""" + SPLIT.replace("def split_word", "def first_split")
PAIR = """
def encode_pair(first, second, max_length):
    pad, cls, sep = ids
    first, second = list(first), list(second)
    while len(first) + len(second) + layout.count("[") > max_length:
        if cut == "longer":
            (first if len(first) > len(second) else second).pop(0)
        elif cut == "first":
            first.pop(0)
        else:
            second.pop()
    built, types, kind = [], [], 0
    order = [one for one in layout.split() if one[0] != "["]
    for one in layout.split():
        part = {"[CLS]": [cls], "[SEP]": [sep], "first": first, "second": second}[one]
        kind = 1 if one == order[1] else kind
        built, types = built + part, types + [kind] * len(part)
    mask, empty = [1] * len(built), max_length - len(built)
    if side == "left":
        return [pad] * empty + built, [0] * empty + types, [0] * empty + mask
    return built + [pad] * empty, types + [0] * empty, mask + [0] * empty
"""
PAIR_COUNTED = """
def encode_pair(first, second, max_length):
    too_many = max(0, len(first) + len(second) + layout.count("[") - max_length)
    if cut == "second":
        second = second[: len(second) - too_many]
    elif cut == "first":
        first = first[too_many:]
    else:
        difference = len(first) - len(second)
        alone = min(abs(difference), too_many)
        both = too_many - alone
        first = first[(alone if difference > 0 else 0) + both // 2 :]
        second = second[(alone if difference < 0 else 0) + both - both // 2 :]
    pad, cls, sep = ids
    words = {"[CLS]": f"{cls}", "[SEP]": f"{sep}", "first": " ".join(map(str, first)),
             "second": " ".join(map(str, second))}
    names = layout.split()
    later = max(names.index("first"), names.index("second"))
    front = " ".join(words[one] for one in names[:later]).split()
    back = " ".join(words[one] for one in names[later:]).split()
    rows = [(int(x), 0, 1) for x in front] + [(int(x), 1, 1) for x in back]
    empty = [(pad, 0, 0)] * (max_length - len(rows))
    rows = empty + rows if side == "left" else rows + empty
    return tuple(list(column) for column in zip(*rows))
"""
PUBLIC_PAIR = """
def encode_pair(first, second, max_length):
    first, second = list(first), list(second)
    while len(first) + len(second) + 3 > max_length:
        (first if len(first) > len(second) else second).pop()
    input_ids = [2, *first, 3, *second, 3]
    token_type_ids = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    padding = [0] * (max_length - len(input_ids))
    return input_ids + padding, token_type_ids + padding, [1] * len(input_ids) + padding
"""

RIGHT = {"1.11": [SPLIT, SPLIT_RECURSIVE], "1.12": [PAIR, PAIR_COUNTED]}
WRONG = {
    "1.11": {
        PUBLIC_SPLIT: r"exercise 1\.2",
        PUBLIC_SPLIT.replace("[UNK]", "<unk>"): r"exercise 1\.2",
        SPLIT.replace("if right", "if not right"): r"The search begins on the (right|left)|order in which",
        SPLIT.replace("[piece, *pieces] if right else [*pieces, piece]", "[*pieces, piece] if right else "
                      "[piece, *pieces]"): r"order of the word",
        SPLIT.replace("range(b - a, 0, -1)", "range(1, b - a + 1)"): r"shortest pieces",
        SPLIT.replace("if whole", "if not whole"): r"fits no piece.*(one letter|whole word)",
        SPLIT.replace("before + word[a:b] + after", "word[a:b]"): r"looked up without",
        SPLIT.replace("return pieces", 'return [one.replace(mark, "") for one in pieces]'): r"have lost",
        SPLIT.replace('"<unk>"', '"[UNK]"'): r"is <unk> here",
        BACK: r"never goes back",
    },
    "1.12": {
        PUBLIC_PAIR: r"exercise 1\.4",
        PAIR.replace('layout.count("[") >', '(layout.count("[") - 1) >'): r"and you left room for",
        PAIR.replace("> max_length", ">= max_length"): r"and you left room for",
        PAIR.replace('side == "left"', 'side == "right"'): r"padding belongs on the",
        PAIR.replace("pad, cls, sep = ids", "pad, cls, sep = 0, 2, 3"): r"the chapter's ids",
        PAIR.replace("second.pop()", "first.pop()").replace("(first if len(first) > len(second) else second)", "second")
        .replace("            first.pop(0)", "            (first if len(first) > len(second) else second).pop(0)"): (
            r"You removed (the|an id)"
        ),
        PAIR.replace("pop(0)", "pop(-1 )").replace("pop()", "pop(0)"): r"You removed the",
        PAIR.replace("[kind]", "[1 - kind]"): r"types are swapped",
        PAIR.replace("mask, empty = [1]", "mask, empty = [0]").replace("[0] * empty + mask", "[1] * empty + mask")
        .replace("mask + [0] * empty", "mask + [1] * empty"): r"1 for tokens and 0 for padding",
        PAIR.replace("kind = 1 if one == order[1] else kind", "kind = 0"): r"All types are 0",
        PAIR.replace("for one in layout.split():", 'for one in "[CLS] first [SEP] second [SEP]".split():').replace(
            "order[1]", '"second"'): r"BERT's layout|you left room",
    },
}  # fmt: skip
PUBLIC = {"1.11": "1.2", "1.12": "1.4"}


def facts(text):
    """What a variant's text names."""
    return {
        "mark": found(r"vocabulary, `([^`]+)` stands", text),
        "right": "**right** end" in text,
        "whole": "**whole word**" in text,
        "layout": found(r"a pair as `([^`]+)`", text),
        "side": found(r"padded on the \*\*(\w+)\*\*", text),
        "ids": [int(found(rf"`\[{name}\]` (?:has the id )?(\d+)", text) or 0) for name in ("PAD", "CLS", "SEP")],
        "cut": "longer" if "longer at that" in text else "first" if "first text loses its" in text else "second",
    }
