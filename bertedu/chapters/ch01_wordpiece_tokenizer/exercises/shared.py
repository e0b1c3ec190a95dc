"""What several exercises of chapter 01 share."""

WORDS = ("unhappy", "unhappier", "happy")


SCORES = {
    "lo": "lo is the first merge by frequency. Its score here is 18 / (18 · 18) = 0.056, and other pairs score higher.",
    "##st": "The score of ##st is 10 / (10 · 10) = 0.100. Its parts never occur apart, but rarer pairs score higher.",
    "wi": "The score of wi is 7 / (7 · 7) = 0.143, and one pair scores higher. Look at the rarest pieces of all.",
    "##id": "The score of ##id is 7 / (7 · 7) = 0.143, and one pair scores higher. Look at the rarest pieces of all.",
    "wid": "wid takes two merges. The first merge joins two characters.",
    "##xe": "The score of ##xe is 1 / (1 · 40) = 0.025: ##e occurs 40 times, which makes the denominator large.",
    "##ax": "Nearly. But this piece begins a word, and the beginning of a word has no ##.",
    "a##x": "Nearly. But a merge removes the ## of the second piece.",
    "a ##x": "That is the right pair. Answer with the new piece that its merge makes: one text, with one piece in it.",
    "axe": "Nearly. But a merge joins two pieces, and axe begins as three.",
    "a x": "That is the right pair. Answer with the new piece that its merge makes: one text, without a space.",
    "ax": "The piece is right. Its score is freq(ab) divided by freq(a) · freq(b). How often does each of them occur?",
}


FREQUENT = {  # freq(ab), freq(a), freq(b) of the other pairs
    "##ow": (18, 18, 33),
    "##we": (17, 33, 40),
    "##er": (11, 40, 11),
    "##es": (10, 40, 10),
    "ne": (15, 15, 40),
    "##ew": (15, 40, 33),
    "##de": (7, 7, 40),
}


for piece, (ab, a, b) in FREQUENT.items():
    SCORES[piece] = (
        f"The score of {piece} is {ab} / ({a} · {b}) = {ab / (a * b):.3f}. "
        "A score is high only if both pieces are rare: look at the rarest pieces of all."
    )
