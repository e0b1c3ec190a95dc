"""The pictures of chapter 03 about one head, drawn from its tensors."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Grid, Sheet, map_of_bert
from bertedu.course.pictures.colours import FAINT, INK, ROLES

ENTRIES = ["noun", "early", "plural", "mask"]  # what the four numbers of a vector say


def where() -> Figure:
    """The map of BERT with attention lit."""
    sheet = Sheet(210, "Where in BERT do tokens learn from each other?")
    map_of_bert(sheet, 50, {"attention"})
    sheet.words(706, 184, "output layers for a task, not attention heads", align="right", faint=True)
    sheet.line((675, 158), (675, 170))
    return sheet.figure()


def question() -> Figure:
    """The sentence of the chapter, and the two words that [MASK] may stand for."""
    sheet = Sheet(230, "Is or are? One of two nouns decides")
    tokens = ["the", "keys", "near", "the", "old", "lamp", "[MASK]", "wet", "."]
    chips = sheet.chips(90, 120, tokens, {6: "hidden"})
    for noun, number, height in ((1, "plural: are", 78), (5, "singular: is", 78)):
        x = chips[noun].centre[0]
        sheet.words(x, height, number, align="center")
        sheet.line((x, height + 14), (x, chips[noun].y - 3), ink=INK)
    sheet.words(chips[6].centre[0], 190, "is or are?", align="center", bold=True)
    return sheet.figure()


def average() -> Figure:
    """Two sentences of the same words have the same mean."""
    sheet = Sheet(276, "Why can the average not decide?", "Thick: the noun that decides")
    mean = sheet.box(530, 118, 176, 56, "the same mean", "of all vectors", new=True)
    for words, subject, verb, y in (
        ("the keys near the old lamp [MASK]", 1, "are", 80),
        ("the old lamp near the keys [MASK]", 2, "is", 180),
    ):
        row = sheet.chips(20, y, words.split(), {subject: "chosen", 6: "hidden"})
        left, right, top, bottom = row[0].x - 6, row[-1].right + 6, y - 6, y + 40
        sheet.line((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
        sheet.arrow((right, row[-1].centre[1]), (mean.x, mean.centre[1] + (y - 130) / 5))
        sheet.words(row[-1].centre[0], y + 56, f"needs {verb}", align="center")
    sheet.words(706, 236, "one answer for both", align="right", bold=True)
    sheet.arrow(mean, (mean.centre[0], 226))
    return sheet.figure()


def picked(x: Tensor, W_query: Tensor) -> Figure:
    """The vector of [MASK] picks a row of W_query."""
    sheet = Sheet(290, "How does [MASK] get its query?", "Its vector has a single 1, so it picks one row of W_query.")
    vector = sheet.grid(16, 181, x[2], "x of [MASK]", "[D]", cell=36)
    weights = sheet.grid(280, 130, W_query, "W_query", "[D, d]", role="query", rows=ENTRIES, cell=38)
    answer = _named(sheet, 484, 181, x[2] @ W_query, "query", "[d]", "query")
    sheet.words(180, vector.centre[1], "×", align="center")
    sheet.arrow((weights.right, answer.centre[1]), answer)
    sheet.words(answer.centre[0], 240, "“a noun, early”", align="center")
    return sheet.figure()


def _named(
    sheet: Sheet, x: float, y: float, values: Tensor, name: str, shape: str, role: str = "", rows: Sequence[str] = ()
) -> Grid:
    """A grid of vectors, with the names of the four entries above its columns."""
    box = sheet.grid(x, y, values, role=role, rows=rows, cell=57, largest=3.2)
    for j, entry in enumerate(ENTRIES):
        sheet.words(box.column(j).centre[0], y - 15, entry, align="center", faint=True)
    sheet.words(box.centre[0], y - 37, shape, align="center", faint=True)
    sheet.words(box.centre[0], y - 59, name, align="center", bold=True, ink=ROLES.get(role, INK))
    return box


def three_vectors(x: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor, tokens: list[str]) -> Figure:
    """Query, key and value of three tokens."""
    sheet = Sheet(
        500,
        "Which three vectors does each token get?",
        "x, Q and K: noun, early, plural, mask. \u22121: late, singular",
    )
    vectors = _named(sheet, 82, 236, x, "x", "[T, D]", rows=tokens)
    asks = "what it looks for", "what it offers", "what it hands over"
    shapes = "[T, d]", "[T, d]", "[T, 1]: plural"
    for i, (role, matrix) in enumerate((("query", W_query), ("key", W_key), ("value", W_value))):
        y = 112 + 132 * i
        projection = sheet.box(346, y + 29, 104, 44, f"× W_{role}")
        sheet.arrow(vectors, projection)
        answer = sheet.grid(496, y, x @ matrix, role=role, largest=3.2)
        sheet.arrow(projection, answer)
        sheet.words(answer.x, y - 16, f"{'QKV'[i]}: {asks[i]}", bold=True, ink=ROLES[role])
        sheet.words(answer.right + 10, answer.centre[1], shapes[i], faint=True)
    return sheet.figure()


def by_hand(x: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor, tokens: list[str]) -> Figure:
    """One token attends: scores, weights, weighted sum."""
    query, key, value = x[2] @ W_query, x @ W_key, x @ W_value
    scores = key @ query / key.size(-1) ** 0.5
    weights = scores.softmax(dim=-1)
    sheet = Sheet(370, "What does [MASK] learn from the other tokens?", "Its query fits the key of “keys” best.")
    top = _named(sheet, 80, 146, query, "query", "[d]", "query", rows=["[MASK]"])
    keys = sheet.grid(80, 246, key, "keys", "[T, d]", role="key", rows=tokens, cell=57, largest=3.2)
    fits = sheet.grid(344, 246, scores[:, None], "scores", "q·k / √d", largest=3.2)
    across = (keys.right + fits.x) / 2 - 4
    sheet.line((top.right + 5, top.centre[1]), (across, top.centre[1]), (across, keys.row(2).centre[1]), ink=FAINT)
    for i in range(len(tokens)):
        sheet.arrow(keys.row(i), fits.row(i))
        sheet.dot((across, keys.row(i).centre[1]), 4)
    sheet.words(502, 210, "weights", align="center", bold=True)
    bars = sheet.bars(470, 246, weights.tolist(), longest=50)
    sheet.arrow((fits.right, fits.centre[1]), (bars[0].x, fits.centre[1]), "softmax")
    values = sheet.grid(576, 246, value, "values", "[T, 1]", role="value", largest=3.2)
    sheet.words(564, fits.centre[1], "×", align="center")
    sheet.arrow(values, sheet.grid(656, 280, (weights @ value)[None], "output", largest=3.2), "add")
    sheet.words(682, 332, "plural", align="center")
    return sheet.figure()


def all_tokens(x: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor, tokens: list[str]) -> Figure:
    """The same for all tokens, as matrices."""
    query, key, value = x @ W_query, x @ W_key, x @ W_value
    scores = query @ key.T / key.size(-1) ** 0.5
    weights = scores.softmax(dim=-1)
    sheet = Sheet(310, "And all tokens at once?", "Row: the token that attends. Column: the token attended to.")
    fits = sheet.grid(84, 160, scores, "Q·Kᵀ / √d", "scores [T, T]", rows=tokens, columns=tokens, cell=60, largest=3.2)
    shares = sheet.grid(346, 160, weights, "weights", "[T, T]", columns=tokens, cell=60, digits=2, largest=1.2)
    values = sheet.grid(552, 160, value, "V", "[T, 1]", role="value", largest=3.2)
    out = sheet.grid(638, 160, weights @ value, "output", "[T, 1]", digits=2, largest=3.2, cell=72)
    sheet.arrow(fits, shares, "softmax")
    sheet.words(539, shares.centre[1], "×", align="center")
    sheet.arrow(values, out)
    sheet.words(shares.centre[0], 284, "each row sums to 1", align="center", faint=True)
    return sheet.figure()


def too_sure(raw: Tensor) -> Figure:
    """Weights of one query for its 16 keys, without and with the division."""
    size = 1024
    sheet = Sheet(
        310, "What does softmax make of large scores?", f"Attention weights of one query for its 16 keys, d = {size}"
    )
    base, tall = 256.0, 130.0
    for x, name, scores in ((50, "softmax(scores)", raw[0]), (410, "softmax(scores / √d)", raw[0] / size**0.5)):
        weights = scores.softmax(dim=-1)
        sheet.words(x, 94, name, bold=True)
        for tick in (0, 1):
            sheet.line((x, base - tall * tick), (x + 276, base - tall * tick), dashed=tick > 0)
            sheet.words(x - 8, base - tall * tick, str(tick), align="right", faint=True)
        for i, weight in enumerate(weights.tolist()):
            if weight >= 0.01:
                sheet.column(x + 4 + 17 * i, base, tall * weight, 12)
        sheet.words(x, 282, f"largest weight {weights.max():.2f}")
    return sheet.figure()
