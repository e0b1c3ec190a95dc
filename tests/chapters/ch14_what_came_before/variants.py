"""Answers to the variants of chapter 14: see test_classroom_variants.py."""

from support.variant_facts import found

PIECES = """
def pieces_of(word):
    marked = first + word + last
    lengths = range(shortest, min(longest, len(marked) - 1) + 1)
    return [marked[i : i + n] for n in lengths for i in range(len(marked) - n + 1)]
"""
PIECES_LOOPS = """
def pieces_of(word):
    marked, found = f"{first}{word}{last}", []
    for start in range(len(marked)):
        for end in range(start + shortest, start + longest + 1):
            if end <= len(marked) and marked[start:end] != marked:
                found.append(marked[start:end])
    return found
"""
MASK = """
def may_attend(length, prefix):
    query, key = torch.arange(length)[:, None], torch.arange(length)[None]
    may = (key < prefix) | ((key <= query) & (key > query - window))
    return may == visible
"""
MASK_LOOPS = """
def may_attend(length, prefix):
    rows = []
    for query in range(length):
        sees = [key < prefix or 0 <= query - key < window for key in range(length)]
        rows.append([may if visible else not may for may in sees])
    return torch.tensor(rows)
"""

RIGHT = {"14.11": [PIECES, PIECES_LOOPS], "14.12": [MASK, MASK_LOOPS]}
WRONG = {
    "14.11": {
        PIECES.replace("len(marked) - 1) + 1", "len(marked)) + 1"): r"itself is no piece",
        PIECES.replace("longest, len", "longest - 1, len"): r"longest pieces are missing",
        PIECES.replace("first + word + last", "word").replace(" - 1) + 1", ") + 1"): r"marks are missing",
        PIECES.replace("first + word + last", "'<' + word + '>'"): r"marks of the chapter",
        PIECES.replace("shortest", "3").replace("longest", "6"): r"lengths of the chapter|Write down",
        "def pieces_of(word):\n"
        "    marked = f'<{word}>'\n"
        "    return [marked[i : i + n] for n in range(3, min(6, len(marked)) + 1)\n"
        "            for i in range(len(marked) - n + 1)]\n": r"others here",
    },
    "14.12": {
        MASK.replace("may == visible", "may != visible"): r"swapped",
        MASK.replace("may == visible", "(may == visible).T"): r"transposed",
        MASK.replace(" & (key > query - window)", ""): r"window is missing",
        MASK.replace("query - window", "query - window - 1"): r"one token too many",
        MASK.replace("query - window", "query - window + 1"): r"one token too few",
        MASK.replace("may == visible", "(may & (key <= query)) == visible"): r"on their right as well",
        MASK.replace("may == visible", "(may == visible).float()"): r"True and False",
    },
}
PUBLIC = {"14.11": "14.3", "14.12": "14.5"}


def facts(text):
    """What a variant's text names."""
    return {
        "first": found(r"with `(.)` before", text),
        "last": found(r"and `(.)` after", text),
        "shortest": int(found(r"runs of \*\*(\d+)\*\*", text) or 0),
        "longest": int(found(r"to \*\*(\d+)\*\* characters", text) or 0),
        "window": int(found(r"window of \*\*(\d+)\*\*", text) or 0),
        "visible": found(r"mask is \*\*(\w+)\*\*", text) == "True",
    }
