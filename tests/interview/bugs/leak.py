"""Other right repairs of the lab `leak`, and wrong ones: changes of the repaired program."""

KEY = '" ".join(row[0].lower().split())'
GROUPS = f"""    groups: dict[str, list[Row]] = {{}}
    for row in rows:
        groups.setdefault({KEY}, []).append(row)
    shuffled = list(groups.values())
    random.Random(seed).shuffle(shuffled)
    cut = len(shuffled) // 5
    return sum(shuffled[cut:], []), sum(shuffled[:cut], [])
"""
CHOICE = "    words = choose_words(training)"

ACCEPTED = {
    "copies dropped": [
        (
            GROUPS,
            f"    shuffled = list({{{KEY}: row for row in rows}}.values())\n"
            "    random.Random(seed).shuffle(shuffled)\n"
            "    cut = len(shuffled) // 5\n"
            "    return shuffled[cut:], shuffled[:cut]\n",
        )
    ],
    "sets of words, a split of keys": [
        (
            GROUPS,
            "    keys = list(dict.fromkeys(frozenset(words_of(text)) for text, _ in rows))\n"
            "    test = set(random.Random(seed).sample(keys, len(keys) // 5))\n"
            "    sides = ([], [])\n"
            "    for row in rows:\n"
            "        sides[frozenset(words_of(row[0])) in test].append(row)\n"
            "    return sides\n",
        ),
        (CHOICE, "    words = choose_words([row for row in rows if row in training])"),
    ],
}
WRONG = {
    "only the ends stripped": ([(KEY, "row[0].strip()")], "were seen in training"),
    "case forgotten": ([(KEY, '" ".join(row[0].split())')], "were seen in training"),
    "spaces forgotten": ([(KEY, "row[0].strip().lower()")], "were seen in training"),
    "words of the test": ([(CHOICE, "    words = choose_words(test)")], "more or fewer are right"),
    "all words, weights of all": ([("fit(training, words)", "fit(rows, words)")], "more or fewer are right"),
    "no shuffling": ([("    random.Random(seed).shuffle(shuffled)\n", "")], "all seeds give the same"),
    "no seed": ([("random.Random(seed).shuffle", "random.Random().shuffle")], "another split on each call"),
    "a test of nothing": ([("len(shuffled) // 5", "1")], "2% of the tickets"),
    "no words": ([("most: int = 40", "most: int = 0")], "gives the label away"),
}
