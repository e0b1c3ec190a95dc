"""The pictures of chapter 18 on positions and distances: where positions fail, and DeBERTa's attention."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Grid, Plane, Sheet, map_of_bert
from bertedu.course.pictures.places import Box
from bertedu.family.deberta.v2 import log_buckets

WORDS = ["old", "keys", "rust"]


def where() -> Figure:
    """The map of BERT with embeddings, attention and heads lit."""
    sheet = Sheet(180, "What do DeBERTa and XLNet change in BERT?")
    map_of_bert(sheet, 50, {"embeddings", "attention", "heads"})
    return sheet.figure()


def somewhere_else(cosines: Mapping[int, float]) -> Figure:
    """One sentence at two places, and how similar its vectors are."""
    sheet = Sheet(356, "Is it the same sentence for BERT, further right?")
    tokens = ["[CLS]", "the", "keys", "near", "…"]
    for y, shift in ((66, 0), (140, 2)):
        row = sheet.chips(110, y, ["[PAD]"] * shift + tokens, dict.fromkeys(range(shift), "padding"), width=66)
        sheet.words(14, y + 48, "position", faint=True)
        for i, chip in enumerate(row[:-1]):
            sheet.words(chip.centre[0], y + 48, str(i), align="center")
    shown = {shift: value for shift, value in cosines.items() if shift}
    sheet.words(14, 222, "mean cosine with the vectors at the start", bold=True)
    labels = [f"{shift} later" for shift in shown]
    sheet.bars(120, 240, list(shown.values()), labels, longest=480)
    return sheet.figure()


def far_subject() -> Figure:
    """Two sentences: the subject is always four words to the left of [MASK], at another position each time."""
    sheet = Sheet(260, "Where is the subject of the sentence with [MASK]?", "Always four to the left of its verb")
    for y, start, tokens, subject, verb in (
        (84, 1, "the horses near the books [MASK] wet .", 1, 5),
        (176, 9, "the boats near the keys [MASK] wet .", 1, 5),
    ):
        row = sheet.chips(30, y, tokens.split(), {subject: "chosen", verb: "hidden"}, width=62)
        for place in (subject, verb):
            x = row[place].centre[0]
            sheet.words(x, y + 50, str(start + place), align="center", bold=True)
        sheet.words((row[subject].centre[0] + row[verb].centre[0]) / 2, y + 50, "4 words", align="center", faint=True)
    sheet.words(700, 134, "a text of one sentence", align="right", faint=True)
    sheet.words(700, 226, "the second of a text", align="right", faint=True)
    return sheet.figure()


def second_sentence(by_sentences: Mapping[int, tuple[float, float]]) -> Figure:
    """The little BERTs' accuracy, and how often they answer for the second sentence."""
    sheet = Sheet(300, "For which sentence does the little BERT answer?", "Trained on texts of one and two sentences")
    for x, name, which in ((120, "it was asked about", 0), (430, "the second sentence", 1)):
        sheet.words(x, 88, name, bold=True)
        values = [shares[which] for shares in by_sentences.values()]
        labels = [str(n) for n in by_sentences] if not which else []
        sheet.bars(x, 104, values, labels, longest=200)
    sheet.words(14, 262, "Share of answers that are right for it, by sentences in the text", faint=True)
    return sheet.figure()


def four_terms() -> Figure:
    """Query and key are word plus position each, so their product has four terms; DeBERTa keeps three."""
    sheet = Sheet(300, "What does a score compare with what?", "(word + position) · (word + position), four products")
    for x, name in ((224, "key: the word"), (484, "key: the position")):
        sheet.words(x + 110, 96, name, align="center", bold=True)
    for y, name in ((116, "query: the word"), (190, "query: the position")):
        sheet.words(14, y + 30, name, bold=True)
    cells = (
        (224, 116, ("content to content", "c2c"), True),
        (484, 116, ("content to position", "c2p"), True),
        (224, 190, ("position to content", "p2c"), True),
        (484, 190, ("position to position",), False),
    )
    for x, y, lines, kept in cells:
        sheet.box(x, y, 220, 60, *lines, new=kept)
    sheet.words(14, 278, "thick: DeBERTa keeps it, as a term of its own, with distances for positions", faint=True)
    return sheet.figure()


def rows_of_distances(delta: Tensor, s: int) -> Figure:
    """Distances become rows of the table; those that lead out of it are clamped."""
    sheet = Sheet(340, "Which row of the table belongs to a distance?", f"s = {s}: the table has {2 * s} rows")
    distances = list(range(-s, s + 1))
    rows = [min(max(n + s, 0), 2 * s - 1) for n in distances]
    clamped = {i for i, n in enumerate(distances) if not 0 <= n + s < 2 * s}
    top = sheet.grid(180, 84, [distances], cell=56, largest=9)
    sheet.words(168, top.centre[1], "distance", align="right")
    low = sheet.grid(180, 152, [rows], cell=56, numbers=False, largest=90)
    sheet.words(168, low.centre[1], "row", align="right")
    for i, row in enumerate(rows):
        sheet.arrow(top.cell(0, i), low.cell(0, i))
        sheet.words(*low.cell(0, i).centre, str(row), align="center", bold=i in clamped)
    sheet.words(480, low.centre[1], "bold: clamped", faint=True)
    table = sheet.grid(280, 236 - 8, delta, rows=WORDS, cell=56, largest=90, row=30)
    sheet.words(180, table.centre[1], "δ", align="center", bold=True)
    sheet.words(table.right + 20, table.centre[1], "query − key, plus s", faint=True)
    return sheet.figure()


def disentangled(c2c: Tensor, c2p: Tensor, p2c: Tensor, total: Tensor) -> Figure:
    """Three tables of scores and their sum."""
    sheet = Sheet(250, "How do three terms become one score?", "Rows: queries. Columns: keys old, keys, rust.")
    x = 62.0
    middle = 0.0
    for name, table, sign in (("c2c", c2c, "+"), ("c2p", c2p, "+"), ("p2c", p2c, "="), ("sum", total, "")):
        grid = sheet.grid(x, 116, table, name, rows=WORDS if name == "c2c" else (), cell=42, largest=12)
        middle = grid.centre[1]
        sheet.words(grid.right + 20, middle, sign, align="center")
        if name == "sum":
            _frame(sheet, grid.cell(1, 0))
        x = grid.right + 40
    sheet.words(14, 236, "then divided by √(3d)", faint=True)
    return sheet.figure()


def gathered(q: Tensor, k: Tensor, k_position: Tensor, q_position: Tensor, delta: Tensor) -> Figure:
    """Compare with all distances at once, then pick: by rows for c2p, transposed twice for p2c."""
    sheet = Sheet(434, "How does each pair find its entry, without a loop?", "Framed: query keys and key old")
    index = delta.long()
    c2p, p2c = q @ k_position.T, k @ q_position.T
    rows = (
        (126, "c2p", "query, distance", c2p, delta, c2p.gather(-1, index), (1, 3), (1, 0), (1, 0)),
        (286, "p2c", "key, distance", p2c, delta.T, p2c.gather(-1, index.T), (0, 3), (0, 1), (0, 1)),
    )
    for y, name, axes, table, which, picked, entry, row, result in rows:
        left = sheet.grid(60, y, table, name, axes, rows=(), cell=40, largest=9)
        right = sheet.grid(300, y, which, "δ" if name == "c2p" else "δ transposed", cell=40, largest=90)
        out = sheet.grid(
            500, y, picked, "gathered", "query, key" if name == "c2p" else "key, query", cell=40, largest=9
        )
        for grid, cell in ((left, entry), (right, row), (out, result)):
            _frame(sheet, grid.cell(*cell))
        sheet.words(264, left.centre[1], "by", align="center")
        sheet.arrow(right, out)
    sheet.words(690, 414, "the lower one is then transposed back", align="right", faint=True)
    return sheet.figure()


def _frame(sheet: Sheet, box: Box | Grid) -> None:
    """A thick edge around a cell."""
    left, top, right, bottom = box.x, box.y, box.right, box.bottom
    sheet.line((left, top), (right, top), (right, bottom), (left, bottom), (left, top), thick=True, ink="#222222")


def toy_languages() -> Figure:
    """Two languages: in one the query's word says where to look, in the other the key's word does."""
    sheet = Sheet(310, "Which word says where the answer stands?")
    for y, name, texts in (
        (56, "the query decides", (("a left? d", "a"), ("a right? d", "d"))),
        (180, "the key decides", (("a> [MASK] d>", "a"), ("<a [MASK] <d", "d"))),
    ):
        sheet.words(14, y + 12, name, bold=True)
        for x, (text, answer) in zip((14.0, 374.0), texts, strict=True):
            tokens = text.split()
            chosen = 0 if answer == "a" else 2
            states = {chosen: "chosen"} | ({1: "hidden"} if "[MASK]" in tokens else {})
            row = sheet.chips(x, y + 32, tokens, states, width=62)
            end = (row[-1].right + 44, row[-1].centre[1])
            sheet.arrow((row[-1].right, end[1]), end)
            sheet.words(end[0] + 8, end[1], answer, mono=True, bold=True)
    sheet.words(14, 284, "The vector in the middle has to name the letter in the thick edge.", faint=True)
    return sheet.figure()


def by_term(accuracies: Mapping[str, Sequence[float]]) -> Figure:
    """Accuracy of the reader in both languages, by its terms."""
    sheet = Sheet(236, "Which term does which language need?", "Share of right answers, without and with each term")
    columns = ["c2c", "+ c2p", "+ p2c", "all three"]
    names = [name.replace("_", " ") for name in accuracies]
    grid = sheet.grid(190, 130, list(accuracies.values()), columns=columns, cell=124, digits=2, largest=1.6)
    for row, name in enumerate(names):
        sheet.words(178, grid.row(row).centre[1], name, align="right", bold=True)
    return sheet.figure()


def buckets() -> Figure:
    """Which distances share a bucket: for b = 6, and the curve of the published models."""
    sheet = Sheet(400, "Which distances share a row?")
    b, farthest = 6, 33
    sheet.words(14, 66, "b = 6, M = 33: distances 0 to 32, a box for each bucket", bold=True)
    left, wide = 14.0, 690 / farthest
    found = log_buckets(Tensor(range(farthest)).long(), b, farthest).tolist()
    for bucket in sorted(set(found)):
        first, count = found.index(bucket), found.count(bucket)
        box = sheet.box(left + first * wide, 86, count * wide, 34)
        sheet.words(box.centre[0], 103, str(bucket), align="center")
    for n in (0, 3, 9, 32):
        sheet.words(left + (n + 0.5) * wide, 140, str(n), align="center", faint=True)
    sheet.words(14, 186, "b = 256, M = 512, as published", bold=True)
    plane = Plane(sheet, 100, 206, 480, 140, (0, 512), (0, 256))
    plane.ticks((0, 128, 256, 511), (0, 128, 255))
    distances = list(range(0, 512, 3))
    rows = log_buckets(Tensor(distances).long(), 256, 512).tolist()
    sheet.line(*(plane.at(n, row) for n, row in zip(distances, rows, strict=True)), thick=True, ink="#222222")
    sheet.line(plane.at(0, 0), plane.at(256, 256), dashed=True)
    sheet.words(590, 340, "distance", faint=True)
    sheet.words(590, plane.at(0, 246)[1], "bucket", faint=True)
    return sheet.figure()


def longer_texts(runs: Mapping[str, Sequence[Sequence[float]]], lengths: Sequence[int]) -> Figure:
    """Accuracy over the number of sentences, each seed of each model."""
    sheet = Sheet(400, "Who can read more sentences than in training?", "Accuracy by the number of sentences")
    for n, (name, lines) in enumerate(runs.items()):
        x, y = 70.0 + 345 * (n % 2), 116.0 + 156 * (n // 2)
        trained = 6 if name == "control" else 2
        sheet.words(x, y - 18, f"{name}, trained up to {trained}", bold=True)
        plane = Plane(sheet, x, y, 250, 80, (0.6, 10.4), (0, 1.1))
        plane.ticks(tuple(lengths), (0, 0.5, 1))
        edge = plane.at(trained + 0.5, 0)[0]
        sheet.line((edge, y), (edge, y + 80), dashed=True)
        for line in lines:
            places = [plane.at(a, b) for a, b in zip(lengths, line, strict=True)]
            sheet.line(*places, ink="#222222")
            for place in places:
                sheet.dot(place, 4)
    return sheet.figure()
