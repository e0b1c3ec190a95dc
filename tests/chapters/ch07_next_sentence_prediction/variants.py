"""Answers to the variants of chapter 7: see test_classroom_variants.py."""

from support.variant_facts import found

CUT = """
def cut_pair(first, second, max_length, rng):
    first, second = list(first), list(second)
    while len(first) + len(second) + special > max_length:
        longer = first if len(first) > len(second) or (len(first) == len(second) and tie == "first") else second
        longer.pop(0 if rng.random() < share else -1)
    return first, second
"""
CUT_COUNTS = """
def cut_pair(first, second, max_length, rng):
    segments = {"first": first, "second": second}
    ends = {name: [0, len(tokens)] for name, tokens in segments.items()}
    names = [tie, *(name for name in ends if name != tie)]
    for _ in range(len(first) + len(second) - (max_length - special)):
        start_stop = ends[max(names, key=lambda name: ends[name][1] - ends[name][0])]
        if rng.random() >= share:
            start_stop[1] -= 1
        else:
            start_stop[0] += 1
    return tuple(segments[name][slice(*ends[name])] for name in segments)
"""
PUBLIC_CUT = """
def cut_pair(first, second, max_tokens, rng):
    first, second = list(first), list(second)
    while len(first) + len(second) > max_tokens:
        max(second, first, key=len).pop(0 if rng.random() < 0.5 else -1)
    return first, second
"""
PAIRS = """
def pairs_of(document, strangers, coins, target):
    coins, strangers, found, start = iter(coins), iter(strangers), [], 0
    while start < len(document):
        stop = start + 1
        while stop < len(document):
            length = sum(len(s) for s in document[start:stop])
            if at_most and length + len(document[stop]) > target:
                break
            if not at_most and length >= target:
                break
            stop += 1
        n = stop - start
        if n == 1:
            if lonely:
                found.append((document[start], next(strangers), labels[1]))
            start = stop
            continue
        middle = start + {"first": 1, "last": n - 1, "middle": n // 2}[split]
        first = sum(document[start:middle], [])
        if next(coins) == "heads":
            found.append((first, sum(document[middle:stop], []), labels[0]))
            start = stop
        else:
            found.append((first, next(strangers), labels[1]))
            start = middle
    return found
"""
PAIRS_QUEUE = """
def pairs_of(document, strangers, coins, target):
    def full(chunk, following):
        length = sum(map(len, chunk))
        return length + len(following) > target if at_most else length >= target

    def join(sentences):
        return [token for sentence in sentences for token in sentence]

    waiting, strangers, coins, pairs = list(document), list(strangers), list(coins), []
    while waiting:
        chunk = [waiting.pop(0)]
        while waiting and not full(chunk, waiting[0]):
            chunk.append(waiting.pop(0))
        if len(chunk) == 1:
            pairs += [[chunk[0], strangers.pop(0), labels[1]]] if lonely else []
            continue
        at = 1 if split == "first" else len(chunk) - 1 if split == "last" else len(chunk) // 2
        if coins.pop(0) == "tails":
            pairs.append([join(chunk[:at]), strangers.pop(0), labels[1]])
            waiting = chunk[at:] + waiting
        else:
            pairs.append([join(chunk[:at]), join(chunk[at:]), labels[0]])
    return pairs
"""

RIGHT = {
    "7.11": [CUT, CUT_COUNTS],
    "7.12": [PAIRS, PAIRS_QUEUE],
}
WRONG = {
    "7.11": {
        PUBLIC_CUT: r"chapter's exercise 7\.2",
        CUT.replace("+ special ", ""): r"^(?!.*chapter's).*Leave room for the \d special tokens",
        CUT.replace("> max_length", ">= max_length"): r"stop as soon as the pair fits",
        CUT.replace("+ special", "+ special + 2"): r"Both together may have",
        CUT.replace('tie == "first"', 'tie == "second"'): r"equally long segments, shorten the",
        CUT.replace("        longer = ", "        longer = first if len(first) else second\n        unused = "): (
            r"compare their lengths before each token"
        ),
        CUT.replace("< share", ">= share"): r"Front and end are swapped",
        CUT.replace("< share", "< share + 0.1"): r"at the front, and about \d\d% should be",
        CUT.replace("share", "0.5"): r"fair coin of the chapter",
        CUT.replace("0 if rng.random() < share else -1", "-1"): r"always removed at the end",
        CUT.replace("    while", "    front = rng.random() < share\n    while").replace(
            "0 if rng.random() < share", "0 if front"
        ): r"draw once for a pair",
        CUT.replace("rng.random()", "float(torch.rand(()))"): r"other tokens the second time",
        CUT.replace("return first, second", "return second, first"): r"in their order",
    },
    "7.12": {
        PAIRS.replace("start = middle", "start = stop"): r"Put it back",
        PAIRS.replace("labels[1]", "labels[2]").replace("labels[0]", "labels[1]").replace("labels[2]", "labels[0]"): (
            r"labels are swapped"
        ),
        PAIRS.replace("if lonely", "if not lonely"): r"a chunk of one sentence gives",
        PAIRS.replace("        if n == 1:\n", "        if n == 1:\n            next(coins)\n"): r"uses no coin",
        PAIRS.replace("next(strangers)", "(strangers := list(strangers))[0]"): r"next of `strangers`",
        PAIRS.replace("if at_most and", "if not at_most and").replace(
            "if not at_most and length >=", "if at_most and length >="
        ): r"A chunk has at (most|least)",
        PAIRS.replace(
            '{"first": 1, "last": n - 1, "middle": n // 2}[split]', '(n - 1 if split == "first" else 1)'
        ): r"The chunk is split (after|before|in)",
        PAIRS.replace('== "heads"', '== "tails"'): r"After heads the pair is IsNext",
        PAIRS.replace("        n = stop", "        if stop == len(document):\n            break\n        n = stop"): (
            r"last chunk is missing"
        ),
        PAIRS.replace("sum(document[start:middle], [])", "document[start:middle]"): r"join its sentences",
        PAIRS.replace("> target", "> 10").replace(">= target", ">= 10"): r"Do this chunk by hand",
        PAIRS.replace("labels[0]", "'IsNext'"): r"a label is 'IsNext'",
    },
}
PUBLIC = {"7.11": "7.2"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "special": int(found(r"its \*\*(\d)\*\* special", text) or 0),
        "share": float(found(r"probability \*\*([\d.]+)\*\*", text) or 0),
        "tie": found(r"shorten the \*\*(\w+)\*\*", text),
        "at_most": "as many sentences as fit" in text,
        "split": found(r"Split the chunk \*\*\w+ \w+ (\w+)", text),
        "labels": (
            int(found(r"\*\*(-?\d)\*\* \(IsNext", text) or 0),
            int(found(r"\*\*(-?\d)\*\* \(NotNext", text) or 0),
        ),
        "lonely": "always gives a NotNext pair" in text,
    }
