"""Answers to the variants of chapter 15: see test_classroom_variants.py."""

from support.variant_facts import found

POSITIONS = """
def position_ids(input_ids, padding):
    real = input_ids.ne(padding)
    count = real.flip(1).cumsum(1).flip(1) if from_right else real.cumsum(1)
    return torch.where(real, count + start - 1, fixed)
"""
POSITIONS_SUM = """
def position_ids(input_ids, padding):
    real = (input_ids != padding).long()
    size = input_ids.size(1)
    counts = real @ torch.ones(size, size, dtype=torch.long).tril().T
    if from_right:
        counts = real.sum(1, keepdim=True) - counts + real
    return (counts + (start - 1)) * real + fixed * (1 - real)
"""
PUBLIC_POSITIONS = """
def position_ids(input_ids, padding):
    real = input_ids.ne(padding)
    return real.cumsum(dim=1) * real + padding
"""
LEARN = """
from collections import Counter
from itertools import pairwise

def join(pieces, pair):
    joined = []
    for piece in pieces:
        if joined and (joined[-1], piece) == pair:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined

def learn(counts, number):
    words = {word: list("_" + word if before else word + "_") for word in counts}
    merges = []
    for _ in range(number):
        pairs = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                pairs[pair] += counts[word]
        if not pairs or max(pairs.values()) < least:
            break
        most = max(pairs.values())
        best = choose(pair for pair in pairs if pairs[pair] == most)
        words = {word: join(pieces, best) for word, pieces in words.items()}
        merges.append(best)
    return merges
"""
LEARN_TOKENS = """
def learn(counts, number):
    lists = [[list("_" + word if before else word + "_"), times] for word, times in counts.items()]
    merges = []
    while len(merges) < number:
        found = {}
        for pieces, times in lists:
            for at in range(len(pieces) - 1):
                pair = pieces[at], pieces[at + 1]
                found[pair] = found.get(pair, 0) + times
        ranked = sorted(found, reverse=choose is max)
        ranked.sort(key=lambda pair: -found[pair])
        if not ranked or found[ranked[0]] < least:
            return merges
        merges.append(ranked[0])
        for pieces, _ in lists:
            at = 0
            while at < len(pieces) - 1:
                if (pieces[at], pieces[at + 1]) == ranked[0]:
                    pieces[at : at + 2] = ["".join(ranked[0])]
                at += 1
    return merges
"""
COUNTED_ONCE = """
import collections

def learn(counts, number):
    pairs = collections.Counter()
    for word, times in counts.items():
        pieces = "_" + word if before else word + "_"
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += times
    kept = sorted((pair for pair in pairs if pairs[pair] >= least), reverse=choose is max)
    return sorted(kept, key=lambda pair: -pairs[pair])[:number]
"""
BOUND = "if not pairs or max(pairs.values()) < least"

RIGHT = {
    "15.11": [POSITIONS, POSITIONS_SUM],
    "15.12": [LEARN, LEARN_TOKENS],
}
WRONG = {
    "15.11": {
        PUBLIC_POSITIONS: r"the chapter's exercise 15\.5",
        "def position_ids(input_ids, padding):\n    return torch.arange(input_ids.size(1)).expand(input_ids.shape)": (
            r"BERT's rule"
        ),
        POSITIONS.replace("if from_right", "if not from_right"): r"Count from the (left|right)",
        POSITIONS.replace("real.", "torch.ones_like(input_ids)."): r"counted as well",
        POSITIONS.replace("start - 1", "start"): r"begins with 1 already",
        POSITIONS.replace(" + start - 1", ""): r"You count from 1",
        POSITIONS.replace(" + start - 1", " - 1"): r"You count from 0",
        POSITIONS.replace("fixed)", "padding)"): r"as in the chapter",
        POSITIONS.replace("fixed)", "-1 - fixed)"): r"Padding should get",
        POSITIONS.replace("fixed)", "count + start - 1)"): r"reached so far",
        POSITIONS.replace("ne(padding)", "ne(1)"): r"Use the argument",
        POSITIONS.replace("(1)", "(0)"): r"down the batch",
    },
    "15.12": {
        LEARN.replace('"_" + word if before else word + "_"', "word")
        .replace(BOUND, "if not pairs")
        .replace("choose(pair", "next(pair")
        .replace("append(best)", "append((best, most))"): r"the chapter's program",
        LEARN.replace("append(best)", "append((best, most))"): r"without their counts",
        LEARN.replace("append(best)", "append(''.join(best))"): r"joined pieces",
        LEARN.replace('"_" + word if before else word + "_"', "word"): r"sign _ is missing",
        LEARN.replace("if before", "if not before"): r"It belongs (before|after)",
        LEARN.replace("+= counts[word]", "+= 1"): r"each word once",
        LEARN.replace("choose(", "(min if choose is max else max)("): r"Of equally frequent pairs the alphabetically",
        LEARN.replace("choose(pair", "next(pair"): r"was counted first",
        COUNTED_ONCE: r"counted again",
        LEARN.replace(BOUND, "if not pairs"): r"must not be merged",
        LEARN.replace("< least", "<= least"): r"still merged",
        LEARN.replace("not pairs or ", ""): r"return the merges so far",
    },
}
PUBLIC = {"15.11": "15.5"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "start": int(found(r"one gets \*\*(\d+)\*\*", text) or 0),
        "fixed": int(found(r"and gets \*\*(-?\d)\*\*", text) or 0),
        "from_right": "counted from the **right**" in text,
        "before": "**before** them" in text,
        "choose": max if "alphabetically **last**" in text else min,
        "least": int(found(r"at least \*\*(\d)\*\*", text) or 0),
    }
