"""The pictures of chapter 18 on XLNet: orders, masks, two streams, and what the order is worth."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.chapters.ch18_deberta_and_xlnet.toy_texts import CITIES
from bertedu.course.pictures import Sheet


def order_of_prediction(order: Sequence[int]) -> Figure:
    """One text, predicted word by word in an order that is not its own."""
    words = ["the", "old", "keys", "rust"]
    sheet = Sheet(290, "What is known when a word is predicted?", "The text is not shuffled: only the order is.")
    for step, position in enumerate(order):
        y = 84 + 48 * step
        known = set(order[:step])
        states = {i: "hidden" for i in range(4) if i not in known and i != position} | {position: "chosen"}
        shown = [word if i in known or i == position else "?" for i, word in enumerate(words)]
        sheet.words(14, y + 17, f"{step + 1}.", bold=True)
        sheet.chips(44, y, shown, states, width=80)
        seen = ", ".join(words[i] for i in sorted(known)) or "nothing"
        sheet.words(410, y + 17, f"{words[position]} from {seen}")
    return sheet.figure()


def two_vectors() -> Figure:
    """The content stream has the word, the query stream asks for it; both read the content."""
    sheet = Sheet(350, "Why does each word have two vectors?", "One position, one layer")
    content = sheet.box(20, 236, 212, 56, "content stream", "begins with the word", new=True)
    query = sheet.box(20, 96, 212, 56, "query stream", "knows no word", new=True)
    layer = sheet.box(284, 146, 180, 96, "attention", "the same weights", "for both")
    after = sheet.box(510, 236, 190, 56, "content stream", "tells the others", new=True)
    predicts = sheet.box(510, 96, 190, 56, "query stream", "predicts the word", new=True)
    sheet.arrow((query.right, query.centre[1]), (layer.x, 170))
    sheet.arrow((content.right, content.centre[1]), (layer.x, 218))
    sheet.arrow((layer.right, 170), (predicts.x, predicts.centre[1]))
    sheet.arrow((layer.right, 218), (after.x, after.centre[1]))
    sheet.words(250, 112, "queries", faint=True)
    sheet.words(258, 280, "queries, keys, values", faint=True)
    sheet.words(30, 328, "Keys and values come from the content stream alone.", bold=True)
    return sheet.figure()


def streams_seen(changes: Tensor) -> Figure:
    """Which vector changes with which word, in both streams."""
    words = ["the", "old", "keys", "rust"]
    sheet = Sheet(330, "Which vectors notice that a word was changed?", "Rows: vectors. Columns: the changed word.")
    for x, name, table in ((70, "content stream", changes[0]), (420, "query stream", changes[1])):
        noticed = (table > 1e-6).double()
        grid = sheet.grid(
            x, 140, noticed, name, cell=56, numbers=False, largest=1.4, rows=words, columns=[*words, "cls"]
        )
        for i in range(4):
            for j in range(5):
                if noticed[i, j]:
                    sheet.words(*grid.cell(i, j).centre, "yes", align="center")
    sheet.words(70, 308, "order: cls, keys, the, rust, old", faint=True)
    return sheet.figure()


def score_by_hand(q_i: Tensor, k_j: Tensor, R: Tensor, r_w: Tensor, r_r: Tensor, r_s: Tensor, s_same: Tensor) -> Figure:
    """The three products of XLNet's score, for two words of one segment."""
    sheet = Sheet(340, "What is added up in XLNet's score?", "Query + bias, times what it is compared with")
    total = 0.0
    for y, name, bias, other in (
        (92, "content", r_w, k_j),
        (156, "distance", r_r, R),
        (220, "segment", r_s, s_same),
    ):
        sheet.words(14, y + 17, name, bold=True)
        left = sheet.grid(120, y, q_i, cell=36, largest=5, role="query")
        plus = sheet.grid(left.right + 24, y, bias, cell=36, largest=5)
        right = sheet.grid(plus.right + 32, y, other, cell=36, largest=5)
        sheet.words(left.right + 12, y + 17, "+", align="center")
        sheet.words(plus.right + 16, y + 17, "·", align="center", bold=True)
        product = float((q_i + bias) @ other)
        sheet.words(right.right + 14, y + 17, f"= {product:.0f}")
        total += product
    sheet.words(120, 300, f"score = {total:.0f} / √4 = {total / 2:.1f}, in the same segment", bold=True)
    return sheet.figure()


def cities() -> Figure:
    """Best probabilities of first and second word: each on its own, and one after the other."""
    sheet = Sheet(330, "Which cities can each way believe in?", "Rows: first words. Columns: second words.")
    pairs = [city.split() for city in CITIES]
    for x, name, table in (
        (104, "two [MASK]", [[1 / 16] * 4] * 4),
        (430, "one after the other", [[0.25 * (i == j) for j in range(4)] for i in range(4)]),
    ):
        grid = sheet.grid(x, 122, table, name, cell=62, digits=2, largest=0.4)
        for i, (first, _) in enumerate(pairs):
            if x < 200:
                sheet.words(grid.x - 8, grid.row(i).centre[1], first, align="right", mono=True)
    sheet.words(14, 282, "columns: york, francisco, angeles, vegas", faint=True)
    sheet.words(14, 308, "real cities together: 4 · 1/16 = 25 % on the left, 100 % on the right", bold=True)
    return sheet.figure()
