"""Answers to the variants of chapter 20: see test_classroom_variants.py."""

from support.variant_facts import found

SAMPLING = """
def sampling_probabilities(sizes, number):
    exponent = 1 / number if temperature else number
    powers = {name: min(size, cap) ** exponent if size else 0.0 for name, size in sizes.items()}
    total, count = sum(powers.values()), sum(size > 0 for size in sizes.values())
    return {name: (1 - mixed) * power / total + (mixed / count if sizes[name] else 0) for name, power in powers.items()}
"""
SAMPLING_TENSOR = """
def sampling_probabilities(sizes, number):
    amounts = torch.tensor(list(sizes.values()), dtype=torch.float64)
    there = amounts > 0
    chances = (amounts.clamp(max=cap).log() * (1 / number if temperature else number)).masked_fill(~there, -torch.inf)
    chances = chances.softmax(0) * (1 - mixed) + mixed * there / there.sum()
    return dict(zip(sizes, chances.tolist()))
"""
PUBLIC_SAMPLING = """
def sampling_probabilities(sizes, exponent):
    powers = {name: size**exponent if size else 0.0 for name, size in sizes.items()}
    total = sum(powers.values())
    return {name: power / total for name, power in powers.items()}
"""
SEGMENTS = """
def best_segmentation(word, numbers):
    def form(start, stop):
        part = word[start:stop]
        if mark == "##" and start or mark == "▁" and not start:
            return mark + part
        return part + mark if mark == "@@" and stop < len(word) else part
    best = [(0.0, [])]
    for stop in range(1, len(word) + 1):
        ways = [(best[s][0] + numbers[form(s, stop)], best[s][1] + [form(s, stop)])
                for s in range(stop) if best[s] and form(s, stop) in numbers]
        if form(stop - 1, stop) not in numbers:
            ways.append((best[stop - 1][0] + unknown, best[stop - 1][1] + ["[UNK]"]))
        best.append((max if largest else min)(ways))
    return best[-1][1]
"""
SEGMENTS_RECURSIVE = """
def best_segmentation(word, numbers):
    from functools import cache
    @cache
    def cost(start):
        if start == len(word):
            return 0.0, ()
        ways = []
        for stop in range(start + 1, len(word) + 1):
            piece = word[start:stop]
            if mark == "##" and start > 0:
                piece = "##" + piece
            if mark == "▁" and start == 0:
                piece = "▁" + piece
            if mark == "@@" and stop != len(word):
                piece += "@@"
            number = numbers.get(piece)
            if number is None and stop == start + 1:
                piece, number = "[UNK]", unknown
            if number is not None:
                rest, pieces = cost(stop)
                ways.append(((-number if largest else number) + rest, (piece, *pieces)))
        return min(ways)
    return list(cost(0)[1])
"""
PUBLIC_SEGMENTS = """
def best_segmentation(word, log_probabilities):
    best, last = [0.0], [""]
    for stop in range(1, len(word) + 1):
        ways = [
            (best[start] + log_probabilities[word[start:stop]], word[start:stop])
            for start in range(stop)
            if word[start:stop] in log_probabilities
        ]
        score, piece = max(ways, default=(float("-inf"), ""))
        best.append(score)
        last.append(piece)
    if best[-1] == float("-inf"):
        return None
    pieces, stop = [], len(word)
    while stop:
        pieces.append(last[stop])
        stop -= len(last[stop])
    return pieces[::-1]
"""
# As published, but None became something else: the rest is copied.
COPIED_SEGMENTS = PUBLIC_SEGMENTS.replace("return None", 'return ["[UNK]"]')
GREEDY = """
def best_segmentation(word, numbers):
    pieces, start = [], 0
    while start < len(word):
        for stop in range(len(word), start, -1):
            piece = word[start:stop]
            if mark == "##" and start or mark == "▁" and not start:
                piece = mark + piece
            if mark == "@@" and stop < len(word):
                piece += mark
            if piece in numbers or stop == start + 1:
                break
        pieces.append(piece if piece in numbers else "[UNK]")
        start = stop
    return pieces
"""

RIGHT = {
    "20.11": [SAMPLING, SAMPLING_TENSOR],
    "20.12": [SEGMENTS, SEGMENTS_RECURSIVE],
}
WRONG = {
    "20.11": {
        PUBLIC_SAMPLING: r"the chapter's exercise 20\.1",
        SAMPLING.replace("if temperature", "if not temperature").replace("1 / number", "1 / (number or 1)"): (
            r"The power is|exercise 20\.1"
        ),
        SAMPLING.replace("min(size, cap)", "size").replace("mixed", "0"): r"No amount counts|Mix in|exercise 20\.1",
        SAMPLING.replace(" / total", ""): r"Those are the powers|sum to",
        SAMPLING.replace("min(size, cap) ** exponent", "min(size ** exponent, cap)").replace(
            "(mixed / count if sizes[name] else 0)", "mixed / len(sizes)"
        ): r"capped the powers|without text gets a share|exercise 20\.1|No amount counts",
        SAMPLING.replace("(1 - mixed)", "(1 if mixed else 2)"): r"sum to",
    },
    "20.12": {
        PUBLIC_SEGMENTS: r"There always is a way|exercise 20\.3",
        COPIED_SEGMENTS: r"the chapter's exercise 20\.3",
        SEGMENTS.replace("if largest", "if not largest"): r"(largest|smallest) sum is the best",
        SEGMENTS.replace("return best[-1][1]", 'return [p.replace(mark, "") for p in best[-1][1]]'): "with their marks",
        SEGMENTS.replace('if mark == "##"', 'if mark == "#"').replace("mark ==", "None =="): r"without their marks",
        SEGMENTS.replace("+ unknown", "+ 0"): r"in your sums it is 0",
        SEGMENTS.replace("+ unknown", "- unknown"): r"the other sign",
        SEGMENTS.replace("    best = [(", '    if any(c == "d" for c in word): return ["[UNK]"]\n    best = [('): (
            r"does not make the whole word"
        ),
        GREEDY: r"longest piece first",
    },
}
PUBLIC = {"20.11": "20.1", "20.12": "20.3"}


def facts(text):
    """The conventions that a variant's text names."""
    return {
        "temperature": "**temperature**" in text,
        "cap": float(found(r"above (\d+)\*\*", text) or "inf"),
        "mixed": float(found(r"plus \*\*([\d.]+)\*\*", text) or 0),
        "mark": found(r"has \*\*`(##|▁|@@)`", text),
        "largest": "**logarithms**" in text,
        "unknown": float(found(r"the number \*\*(-?\d+)\*\*", text) or 0),
    }
