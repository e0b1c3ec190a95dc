"""Other right repairs of the lab `answers`, and wrong ones: changes of the repaired program."""

PAIRS = "if first <= last]"
BEST = "    first, last = max(pairs, key=lambda pair: starts[pair[0]] + ends[pair[1]])\n"
STRIDE = "range(0, len(words), room - overlap)"

ACCEPTED = {
    "overlap of characters, a running maximum, windows from the end of the last": [
        ("span[1] > start and span[0] < end", "min(span[1], end) - max(span[0], start) > 0"),
        (
            "    pairs = [(first, last) for first in possible for last in possible if first <= last]\n" + BEST,
            "    best, top = None, possible[0]\n"
            "    for index in possible:\n"
            "        top = index if starts[index] > starts[top] else top\n"
            "        if best is None or starts[top] + ends[index] > best[0]:\n"
            "            best = (starts[top] + ends[index], top, index)\n"
            "    _, first, last = best\n",
        ),
        (
            f"    for begin in {STRIDE}:\n        part = words[begin : begin + room]\n",
            "    begin = 0\n    while True:\n        part = words[begin : begin + room]\n",
        ),
        (
            "        if begin + room >= len(words):\n            break\n",
            "        if begin + room >= len(words):\n            break\n        begin += room - overlap\n",
        ),
    ],
}
WRONG = {
    "swapped": (
        [
            (
                "    pairs = [(first, last) for first in possible for last in possible if first <= last]\n" + BEST,
                "    first = max(possible, key=lambda index: starts[index])\n"
                "    last = max(possible, key=lambda index: ends[index])\n"
                "    first, last = min(first, last), max(first, last)\n",
            )
        ],
        "and there is an answer with",
    ),
    "the best start, then an end": (
        [
            (
                "    pairs = [(first, last) for first in possible for last in possible if first <= last]\n" + BEST,
                "    first = max(possible, key=lambda index: starts[index])\n"
                "    last = max(range(first, possible[-1] + 1), key=lambda index: ends[index])\n",
            )
        ],
        "and there is an answer with",
    ),
    "the end alone": ([("starts[pair[0]] + ends[pair[1]])", "ends[pair[1]])")], "and there is an answer with"),
    "no word alone": ([(PAIRS, "if first < last]")], "the score is not the sum of two"),
    "no overlap": ([(STRIDE, "range(0, len(words), room)")], "share fewer than 4 words"),
    "one window": ([(STRIDE, "range(0, 1)")], "leave out a part"),
    "too long": ([("size - len(tokens) - 1", "size")], "longer than 20 tokens"),
    "one character less": ([("span[0] < end", "span[0] < end - 1")], "gets no label"),
    "inside only": ([("span[1] > start and span[0] < end", "span[0] >= start and span[1] < end")], "no label"),
}
