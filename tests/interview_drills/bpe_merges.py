"""Answers to the drill of byte-pair encoding: right ones, and mistakes with the words that they must hear."""

import re
from collections import Counter, defaultdict
from itertools import pairwise


def rewritten(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == pair:
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return tuple(out)


def counted(words):
    pairs = Counter()
    for symbols, count in words:
        for pair in pairwise(symbols):
            pairs[pair] += count
    return pairs


def trained(word_counts, num_merges, choose, rewrite=rewritten, count=counted, split=tuple):
    words, merges = [(split(word), times) for word, times in word_counts.items()], []
    for _ in range(num_merges):
        pairs = count(words)
        if not pairs:
            break
        best = choose(pairs)
        merges.append(best)
        words = [(rewrite(symbols, best), times) for symbols, times in words]
    return merges


def smallest_of_the_best(pairs):
    most = max(pairs.values())
    return min(pair for pair, count in pairs.items() if count == most)


def with_tuples(word_counts, num_merges):
    return trained(word_counts, num_merges, smallest_of_the_best)


def with_a_regular_expression(word_counts, num_merges):
    words, merges = {" ".join(word): count for word, count in word_counts.items()}, []
    for _ in range(num_merges):
        pairs = defaultdict(int)
        for text, count in words.items():
            symbols = text.split()
            for i in range(len(symbols) - 1):
                pairs[symbols[i], symbols[i + 1]] += count
        if len(pairs) == 0:
            return merges
        best = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[0][0]
        pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(best)) + r"(?!\S)")
        words = {pattern.sub("".join(best), text): count for text, count in words.items()}
        merges.append(list(best))
    return merges


def in_place(word_counts, num_merges):
    words = [[list(word), count] for word, count in word_counts.items()]
    merges = []
    while len(merges) < num_merges:
        pairs = counted([(symbols, count) for symbols, count in words])
        if sum(pairs.values()) == 0:
            break
        best = min(pairs.items(), key=lambda item: (-item[1], *item[0]))[0]
        for symbols, _ in words:
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
        merges.append(best)
    return tuple(merges)


def unweighted(word_counts, num_merges):
    return with_tuples(dict.fromkeys(word_counts, 1), num_merges)


def first_met(word_counts, num_merges):
    return trained(word_counts, num_merges, lambda pairs: pairs.most_common(1)[0][0])


def last_of_the_alphabet(word_counts, num_merges):
    return trained(word_counts, num_merges, lambda pairs: max((count, pair) for pair, count in pairs.items())[1])


def counts_once(word_counts, num_merges):
    pairs = counted([(tuple(word), count) for word, count in word_counts.items()])
    return [pair for pair, _ in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))][:num_merges]


def replaces_text(word_counts, num_merges):
    def rewrite(symbols, pair):
        return tuple(" ".join(symbols).replace(" ".join(pair), "".join(pair)).split(" "))

    return trained(word_counts, num_merges, smallest_of_the_best, rewrite)


def never_merges(word_counts, num_merges):
    return trained(word_counts, num_merges, smallest_of_the_best, lambda symbols, _: symbols)


def merges_the_first_only(word_counts, num_merges):
    def rewrite(symbols, pair):
        for i, two in enumerate(pairwise(symbols)):
            if two == pair:
                return (*symbols[:i], "".join(pair), *symbols[i + 2 :])
        return symbols

    return trained(word_counts, num_merges, smallest_of_the_best, rewrite)


def once_for_each_word(word_counts, num_merges):
    def count(words):
        pairs = Counter()
        for symbols, times in words:
            for pair in set(pairwise(symbols)):
                pairs[pair] += times
        return pairs

    return trained(word_counts, num_merges, smallest_of_the_best, count=count)


def joined_symbols(word_counts, num_merges):
    return ["".join(pair) for pair in with_tuples(word_counts, num_merges)]


def with_an_end_mark(word_counts, num_merges):
    return trained(word_counts, num_merges, smallest_of_the_best, split=lambda word: (*word, "</w>"))


def stops_at_one(word_counts, num_merges):
    words, merges = [(tuple(word), times) for word, times in word_counts.items()], []
    for _ in range(num_merges):
        pairs = counted(words)
        if not pairs or max(pairs.values()) == 1:
            break
        merges.append(smallest_of_the_best(pairs))
        words = [(rewritten(symbols, merges[-1]), times) for symbols, times in words]
    return merges


def never_stops(word_counts, num_merges):
    words, merges = [(tuple(word), times) for word, times in word_counts.items()], []
    for _ in range(num_merges):
        pairs = counted(words)
        merges.append(min(pairs, key=lambda pair: (-pairs[pair], pair)) if pairs else max(pairs))
        words = [(rewritten(symbols, merges[-1]), times) for symbols, times in words]
    return merges


def over_the_ends(word_counts, num_merges):
    text = "".join(word * count for word, count in word_counts.items())
    return with_tuples({text: 1}, num_merges)


def shortens_while_it_runs(word_counts, num_merges):
    def rewrite(symbols, pair):
        symbols = list(symbols)
        for i in range(len(symbols) - 1):
            if (symbols[i], symbols[i + 1]) == pair:
                symbols[i : i + 2] = ["".join(pair)]
        return tuple(symbols)

    return trained(word_counts, num_merges, smallest_of_the_best, rewrite)


def vocabulary(word_counts, num_merges):
    return {character for word in word_counts for character in word}


ANSWERS = {
    "bpe-merges": {
        "accepted": [with_tuples, with_a_regular_expression, in_place],
        "wrong": [
            (unweighted, "as often as its word occurs"),
            (first_met, "the one that was met first"),
            (last_of_the_alphabet, "the last in the alphabet"),
            (counts_once, "count again after each"),
            (replaces_text, "Compare whole symbols"),
            (never_merges, "so the same one wins again"),
            (merges_the_first_only, "only the first occurrence"),
            (once_for_each_word, "once for each word that holds it"),
            (joined_symbols, "where it was split"),
            (with_an_end_mark, "added an end mark"),
            (stops_at_one, "Go on as long as there is a pair"),
            (never_stops, "there is no pair left"),
            (over_the_ends, "inside each word only"),
            (shortens_while_it_runs, "build a new list"),
            (vocabulary, "a list of pairs"),
        ],
    },
}
