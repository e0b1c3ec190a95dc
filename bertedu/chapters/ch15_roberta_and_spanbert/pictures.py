"""The pictures of chapter 15 for RoBERTa: its masks, its tokens and its positions."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from bertedu.course.pictures import Sheet


def changes() -> Figure:
    """BERT's pre-training from left to right, and below each part what either paper changed."""
    sheet = Sheet(
        374, "What did the two papers change in BERT's training?", "R: RoBERTa. S: SpanBERT. The encoder stays."
    )
    x = 14.0
    parts = []
    for name, width in (
        ("text", 70),
        ("tokens", 88),
        ("masks", 84),
        ("positions", 110),
        ("encoder", 100),
        ("heads", 84),
    ):
        parts.append(sheet.box(x, 92, width, 44, name, new=name != "encoder"))
        x = parts[-1].right + 31
    for one, following in pairwise(parts):
        sheet.arrow(one, following)
    for y, who, what in (
        (166, "text", "R: full sentences, ten times the text. S: one segment"),
        (200, "tokens", "R: byte-level BPE, 50,000 tokens"),
        (234, "masks", "R and S: drawn anew each time. S: spans of words"),
        (268, "positions", "R: they start at 2"),
        (302, "encoder", "unchanged"),
        (336, "heads", "R and S: no next sentence. S: boundary objective"),
    ):
        sheet.words(14, y, who, bold=who != "encoder", faint=who == "encoder")
        sheet.words(124, y, what, faint=who == "encoder")
    return sheet.figure()


def tokens_read(runs: Mapping[str, tuple[int, int, float]]) -> Figure:
    """How many tokens each run has read, at most."""
    billions = [batch * steps * tokens / 1e9 for batch, steps, tokens in runs.values()]
    sheet = Sheet(190, "How much text did each model read?", "Billions of tokens at most: sequences times their length")
    sheet.bars(230, 76, billions, longest=400, full=max(billions), digits=0)
    for i, name in enumerate(runs):
        sheet.words(14, 93 + 34 * i, name)
    return sheet.figure()


def masks_of_passes(mask_of: Callable[[int, int], tuple[int, ...]]) -> Figure:
    """One sentence in four passes: two stored masks again and again, and a new mask each time."""
    tokens = ["the", "keys", "near", "the", "old", "lamp"]
    number = len(tokens)
    sheet = Sheet(
        310, "Which words are asked for in four passes?", "Static: two stored masks, used again. Dynamic: new ones."
    )
    for x, name, seeds in ((14, "static", (0, 1, 0, 1)), (376, "dynamic", (0, 1, 2, 3))):
        sheet.words(x, 92, name, bold=True)
        for line, seed in enumerate(seeds):
            hidden = mask_of(number, seed)
            at = float(x)
            for i, token in enumerate(tokens):
                box = sheet.chip(at, 110 + 44 * line, token, "hidden" if i in hidden else "plain")
                at = box.right + 3
    sheet.words(14, 296, "Dark: hidden from the model", faint=True)
    return sheet.figure()


def bytes_of_characters(to_characters: Callable[[str], str]) -> Figure:
    """Characters, their bytes in UTF-8, and the visible character that stands for each byte."""
    sheet = Sheet(
        270, "How does a text become bytes that one can see?", "Each byte has one visible character; there are 256."
    )
    for y, name in ((100, "text"), (162, "bytes"), (224, "written")):
        sheet.words(14, y, name, bold=True)
    x = 130.0
    for letter in (" ", "a", "ë", "€"):
        raw = letter.encode()
        width = 58.0 * len(raw)
        sheet.chip(x, 83, "space" if letter == " " else letter, width=max(width, 70) - 4)
        for i, (byte, shown) in enumerate(zip(raw, to_characters(letter), strict=True)):
            middle = x + max(width, 70) / 2 if len(raw) == 1 else x + 58 * i + 29
            sheet.words(middle, 162, f"{byte:02X}", align="center", mono=True)
            sheet.arrow((middle, 174), (middle, 204))
            sheet.words(middle, 224, shown, align="center", mono=True, bold=True)
        x += max(width, 70) + 40
    return sheet.figure()


def first_merges(counts: Mapping[str, int], learned: Sequence[tuple[tuple[str, str], int]]) -> Figure:
    """Five words before and after each of the first three merges."""
    sheet = Sheet(330, "Which pair is merged first?", "The most frequent one; then everything is counted again.")
    words = {word: list(word.replace(" ", "Ġ")) for word in counts}
    sheet.words(14, 96, "occurs", faint=True)
    for step in range(4):
        x = 90 + 160 * step
        if step:
            (a, b), times = learned[step - 1]
            words = {word: _merged(pieces, a, b) for word, pieces in words.items()}
            sheet.words(x, 96, f"{a} + {b}: {times}", bold=True)
        for line, (word, pieces) in enumerate(words.items()):
            y = 134 + 38 * line
            if not step:
                sheet.words(34, y, str(counts[word]), align="center")
            sheet.words(x, y, " ".join(pieces), mono=True)
    return sheet.figure()


def _merged(pieces: Sequence[str], a: str, b: str) -> list[str]:
    """The pieces with each pair of a and b joined."""
    merged: list[str] = []
    for piece in pieces:
        if merged and (merged[-1], piece) == (a, b):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def by_rank(merges: Sequence[tuple[str, str]]) -> Figure:
    """A new word is split by replaying the merges: the neighbors with the lowest rank first."""
    pieces = list("Ġseat")
    sheet = Sheet(252, "How is a new word split?", "The neighbors with the lowest rank are merged first.")
    for line in range(3):
        y = 84 + 54 * line
        sheet.chips(14, y, pieces, width=52)
        known = [pair for pair in pairwise(pieces) if pair in merges]
        told = ", ".join(f"{a} {b} has rank {merges.index((a, b))}" for a, b in known)
        sheet.words(320, y + 17, told or "no pair has a rank: done", bold=not told)
        if known:
            pieces = _merged(pieces, *min(known, key=merges.index))
    return sheet.figure()


def pair_of_texts() -> Figure:
    """A pair for BERT and for RoBERTa: special tokens, and token types."""
    sheet = Sheet(300, "What does a pair of texts look like?", "Below each token: its token type")
    for y, name, tokens, types in (
        (90, "BERT", ["[CLS]", "Why", "?", "[SEP]", "So", ".", "[SEP]"], [0, 0, 0, 0, 1, 1, 1]),
        (196, "RoBERTa", ["<s>", "ĠWhy", "?", "</s>", "</s>", "ĠSo", ".", "</s>"], [0] * 8),
    ):
        sheet.words(14, y + 17, name, bold=True)
        special = {i: "chosen" for i, token in enumerate(tokens) if token[0] in "[<"}
        for chip, number in zip(sheet.chips(110, y, tokens, special, width=38), types, strict=True):
            sheet.words(chip.centre[0], y + 52, str(number), align="center")
    return sheet.figure()


def counted_positions(positions_of: Callable[[list[int]], list[int]]) -> Figure:
    """Positions of three sequences: RoBERTa counts ids that are no padding, BERT from the left edge."""
    sheet = Sheet(
        330, "Which position does each token get?", "RoBERTa counts real tokens from 2; padding, id 1, gets 1."
    )
    for x, name in ((160, "ids"), (350, "RoBERTa"), (540, "BERT")):
        sheet.words(x + 76, 96, name, align="center", bold=True)
    for line, (name, ids) in enumerate(
        (("no padding", [0, 7, 8, 2]), ("on the right", [0, 7, 2, 1]), ("on the left", [1, 1, 0, 2]))
    ):
        y = 124 + 62 * line
        sheet.words(14, y + 17, name)
        sheet.chips(
            160, y, [str(one) for one in ids], {i: "padding" for i, one in enumerate(ids) if one == 1}, width=34
        )
        for x, positions in ((350, positions_of(ids)), (540, range(4))):
            for i, position in enumerate(positions):
                sheet.words(x + 20 + 38 * i, y + 17, str(position), align="center", mono=True, faint=ids[i] == 1)
    sheet.words(
        706, 310, "On the left: BERT's first real token moves to 2, its text is shifted.", align="right", faint=True
    )
    return sheet.figure()


def moved_rows() -> Figure:
    """Which rows of BERT's three tables go where in RoBERTa's."""
    sheet = Sheet(430, "How does a BERT become a RoBERTa?", "Rows of its three tables move. Nothing else changes.")
    for x, name, rows in (
        (
            14,
            "tokens",
            (
                ("[CLS]", "<s> 0"),
                ("[PAD]", "<pad> 1"),
                ("[SEP]", "</s> 2"),
                ("[UNK]", "<unk> 3"),
                ("[MASK]", "<mask> 4"),
                ("words", "words"),
            ),
        ),
        (248, "positions", (("", "0 unused"), ("", "1 padding"), ("0", "2"), ("1", "3"))),
        (498, "segments", (("0", "0"), ("1", ""))),
    ):
        sheet.words(x + 110, 96, name, align="center", bold=True)
        for line, (old, new) in enumerate(rows):
            y = 122 + 50 * line
            if old:
                sheet.chip(x, y, old, width=72)
            if new:
                sheet.chip(x + 112, y, new, "plain" if old else "padding", width=96)
            if old and new:
                sheet.arrow((x + 80, y + 17), (x + 112, y + 17))
    return sheet.figure()
