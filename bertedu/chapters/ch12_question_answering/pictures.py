"""The pictures of chapter 12 up to the loss: how two scores for each token become an answer."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.course.pictures.places import Box

Boxes = Sequence[Box]


def where() -> Figure:
    """The map of BERT with the heads lit."""
    sheet = Sheet(180, "What does question answering change in BERT?")
    map_of_bert(sheet, 50, {"heads"})
    return sheet.figure()


def two_scores() -> Figure:
    """Question and context go in together; each token gets a start score and an end score."""
    tokens = ["[CLS]", "Who", "won", "?", "[SEP]", "Kim", "beat", "Lea", "[SEP]"]
    starts = [0.4, -2.1, -3.0, -3.4, -1.2, 5.2, -1.0, 1.9, -2.2]
    ends = [0.2, -2.5, -1.8, -2.0, -1.5, 4.8, -0.6, 2.3, -1.1]
    sheet = Sheet(400, "What goes in, and what comes out?")
    chips = sheet.chips(74, 60, tokens, {5: "chosen"}, width=66)
    sheet.words(14, 77, "in", bold=True)
    for one, text in ((chips[1:4], "question"), (chips[5:8], "context")):
        left, right = one[0].x, one[-1].right
        sheet.line((left, 102), (left, 108), (right, 108), (right, 102))
        sheet.words((left + right) / 2, 126, text, align="center", faint=True)
    sheet.box(74, 152, chips[-1].right - 74, 40, "BERT, and one linear layer for all tokens", new=True)
    cell = (chips[-1].right - 74) / len(tokens)
    for row, name, values in ((220, "start", starts), (276, "end", ends)):
        sheet.words(14, row + 17, name, bold=True)
        sheet.grid(74, row, [values], digits=1, cell=cell, largest=7)
    middle = chips[5].centre[0]
    sheet.arrow((middle, 312), (middle, 350))
    sheet.words(middle, 368, "the answer: Kim", align="center", bold=True)
    sheet.words(74 + cell / 2, 338, "no answer", align="center", faint=True)
    return sheet.figure()


def baselines(rules: dict[str, dict[str, float]]) -> Figure:
    """Exact match and F1 of the two answers that need no network."""
    sheet = Sheet(296, "What do two rules without a network reach?", "on the validation questions")
    names = {"never an answer": "never", "sentence most like the question": "overlap"}
    for y, measure, title in ((100, "exact_match", "exact match"), (206, "f1", "F1")):
        sheet.words(14, y + 34, title, bold=True)
        values = [rules[name][measure] for name in names]
        sheet.bars(230, y, values, list(names.values()), longest=360)
    return sheet.figure()


def f1_by_hand(normalized: Callable[[str], list[str]]) -> Figure:
    """Precision, recall and F1 of one prediction, word by word."""
    prediction, answer = normalized("in the old mill"), normalized("the old mill")
    common = Counter(prediction) & Counter(answer)
    sheet = Sheet(300, "How right is in the old mill?", "The right answer: the old mill. Articles don't count.")
    rows = []
    for y, name, words in ((92, "predicted", prediction), (172, "right", answer)):
        sheet.words(14, y + 17, name, bold=True)
        x = 140.0 + 96 * (len(prediction) - len(words))
        states = {i: "chosen" for i, word in enumerate(words) if word in common}
        rows.append({word: box for word, box in zip(words, sheet.chips(x, y, words, states, width=90), strict=True)})
    for word in common:
        sheet.line((rows[0][word].centre[0], 129), (rows[1][word].centre[0], 169), thick=True, ink="#444444")
    shared = common.total()
    precision, recall = shared / len(prediction), shared / len(answer)
    sheet.words(470, 109, f"precision {shared}/{len(prediction)}")
    sheet.words(470, 189, f"recall {shared}/{len(answer)}")
    f1 = 2 * precision * recall / (precision + recall)
    told = f"F1 = 2 · {precision:.2f} · {recall:.0f} / ({precision:.2f} + {recall:.0f}) = {f1:.1f}"
    sheet.words(140, 260, told, bold=True)
    return sheet.figure()


def softmaxes(tokens: list[str], start: Tensor, end: Tensor) -> Figure:
    """Two softmaxes over the same tokens: which one starts, which one ends."""
    sheet = Sheet(330, "Which token starts the answer, and which ends it?", "Two softmaxes over the same tokens")
    width, base = 92.0, 0.0
    for base, name, scores in ((170.0, "start", start), (300.0, "end", end)):
        sheet.words(14, base - 28, name, bold=True)
        for i, share in enumerate(scores.softmax(dim=-1).tolist()):
            x = 110 + i * (width + 6)
            sheet.column(x + 16, base, 66 * share, 60, thick=i == int(scores.argmax()))
            sheet.words(x + 46, base - 66 * share - 16, f"{share:.2f}", align="center")
        sheet.line((110, base), (690, base))
    sheet.chips(110, 182, tokens, width=width + 1)
    return sheet.figure()


def triangle(tokens: list[str], start: Tensor, end: Tensor) -> Figure:
    """The table of all spans: the lower left half ends before it starts."""
    table = start[:, None] + end[None, :]
    allowed = table.triu().where(table.triu() != 0, float("-inf")).tolist()
    best = max((value, i, j) for i, row in enumerate(allowed) for j, value in enumerate(row) if j >= i)
    sheet = Sheet(402, "Which spans may be the answer?", "Start score plus end score; dashes end before they start.")
    shown = [[float(table[i, j]) if j >= i else 0.0 for j in range(len(tokens))] for i in range(len(tokens))]
    grid = sheet.grid(150, 142, shown, rows=tokens, columns=tokens, cell=88, largest=11, numbers=False)
    sheet.words(150 + grid.width / 2, 96, "ends at", align="center", faint=True)
    for i in range(len(tokens)):
        for j in range(len(tokens)):
            middle = grid.cell(i, j).centre
            if j < i:
                sheet.words(*middle, "–", align="center", faint=True)
            else:
                sheet.words(*middle, f"{table[i, j]:.1f}", align="center", bold=(i, j) == best[1:])
    _, i, j = best
    _frame(sheet, grid.cell(i, j))
    sheet.words(150, 380, "rows: starts at", faint=True)
    sheet.words(690, 380, f"best: {tokens[i]}, {best[0]:.1f}", align="right", bold=True)
    return sheet.figure()


def _frame(sheet: Sheet, box: Box) -> None:
    """A thick edge around a cell."""
    left, top, right, bottom = box.x, box.y, box.right, box.bottom
    sheet.line((left, top), (right, top), (right, bottom), (left, bottom), (left, top), thick=True, ink="#222222")


def allowed_spans() -> Figure:
    """In a whole input: only the context, no end before its start, no more than `longest` tokens."""
    tokens = ["[CLS]", "Who", "[SEP]", "Kim", "beat", "Lea", "in", "May", "[SEP]"]
    first, length, longest = 3, 5, 3
    after = first + length
    table = [[float(first <= i <= j < min(after, i + longest)) for j in range(len(tokens))] for i in range(len(tokens))]
    sheet = Sheet(
        470, "Which pairs are left in a whole input?", "The context is Kim … May; a span has at most 3 tokens"
    )
    grid = sheet.grid(110, 112, table, rows=tokens, columns=tokens, cell=66, largest=1.6, numbers=False)
    for i, row in enumerate(table):
        for j, one in enumerate(row):
            if one:
                sheet.words(*grid.cell(i, j).centre, "yes", align="center")
    sheet.words(110, 442, f"rows: start · columns: end · {int(sum(map(sum, table)))} of {len(tokens) ** 2} pairs")
    return sheet.figure()


def offsets_of_pieces(tokenizer: Any) -> Figure:
    """Tokens and the characters that each of them came from."""
    context = "Zürich, Håkan paid £3.50."
    ids, offsets = tokenizer.encode_with_offsets(context)
    tokens = tokenizer.convert_ids_to_tokens(ids)
    sheet = Sheet(394, "How do tokens find their way back to the text?", "By offsets: where each one begins and ends")
    left, cell = 22.0, 27.0
    for i, letter in enumerate(context):
        if letter != " ":
            sheet.words(left + (i + 0.5) * cell, 100, letter, align="center", mono=True)
        if i % 5 == 0:
            sheet.words(left + (i + 0.5) * cell, 130, str(i), align="center", faint=True)
    rows = [150.0, 214.0, 278.0]
    for number, (token, (s, e)) in enumerate(zip(tokens, offsets, strict=True)):
        y = rows[number % 3]
        sheet.line((left + s * cell + 3, 114), (left + e * cell - 3, 114), thick=True, ink="#444444")
        middle, wide = left + (s + e) / 2 * cell, 11 * len(token) + 14
        at = min(max(14.0, middle - wide / 2), 706 - wide)
        box = sheet.chip(at, y, token, "chosen" if token == "[UNK]" else "plain")
        sheet.words(box.centre[0], y + 48, f"{s}–{e}", align="center", faint=True)
    sheet.words(22, 366, "The answer is cut out of the text, so Håkan comes back.", bold=True)
    return sheet.figure()


def what_goes_in(tokenizer: Any) -> Figure:
    """One example as the model gets it: tokens, token types, and the two labels."""
    question, context = "Who won?", "Kim beat Lea."
    pair = tokenizer(question, context)
    tokens, types = pair.tokens[0], pair.token_type_ids[0].tolist()
    place = tokens.index("Kim") if "Kim" in tokens else 5
    sheet = Sheet(300, "What does the model learn from one question?", "Who won? · Kim beat Lea. · the answer is Kim")
    chips = sheet.chips(104, 84, tokens, {place: "chosen"}, width=36)
    for y, name, values in (
        (142, "position", range(len(tokens))),
        (176, "type", types),
    ):
        sheet.words(14, y, name, faint=True)
        for chip, value in zip(chips, values, strict=True):
            sheet.words(chip.centre[0], y, str(value), align="center")
    sheet.words(14, 222, "with an answer", bold=True)
    sheet.words(230, 222, f"start_positions {place}, end_positions {place}")
    sheet.words(14, 262, "without one", bold=True)
    sheet.words(230, 262, "start_positions 0, end_positions 0: [CLS]")
    return sheet.figure()


def loss_by_hand(tokens: list[str], start: Tensor, end: Tensor) -> Figure:
    """The loss of one question: two cross-entropies and their mean."""
    right = tokens.index("lamp")
    sheet = Sheet(280, "How large is the loss if the answer is lamp?", "−ln of the probability of the right token")
    losses = []
    for y, name, scores in ((92, "start", start), (152, "end", end)):
        share = scores.softmax(dim=-1)[right]
        losses.append(-float(share.log()))
        sheet.words(14, y + 17, name, bold=True)
        sheet.chip(90, y, "lamp", "chosen", width=80)
        sheet.bars(190, y, [float(share)], longest=170, thick=[0])
        sheet.words(470, y + 17, f"−ln p = {losses[-1]:.3f}")
    told = f"loss = ({losses[0]:.3f} + {losses[1]:.3f}) / 2 = {sum(losses) / 2:.3f}"
    sheet.words(190, 240, told, bold=True)
    return sheet.figure()
