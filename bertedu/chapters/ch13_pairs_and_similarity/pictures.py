"""The pictures of chapter 13, drawn from its sentences, vectors and cosines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.corpora.readers import LabelledText
from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.course.pictures.places import Box
from bertedu.finetuning.tasks.similarity import SentenceEncoder, embed
from bertedu.segmentation import terms
from bertedu.tokenization import Tokenizer


def where() -> Figure:
    """The map of BERT with what goes in and what comes out lit."""
    sheet = Sheet(190, "How does BERT read two texts?")
    map_of_bert(sheet, 50, {"tokenizer", "heads"})
    return sheet.figure()


def two_encoders() -> Figure:
    """Cross-encoder and bi-encoder side by side."""
    sheet = Sheet(370, "Together, or each alone?")
    sheet.words(150, 62, "cross-encoder", align="center", bold=True)
    sheet.words(530, 62, "bi-encoder", align="center", bold=True)
    sheet.line((304, 52), (304, 356), dashed=True)
    together = sheet.chips(20, 312, ["[CLS]", "A", "[SEP]", "B", "[SEP]"])
    reader = sheet.box(60, 216, 180, 46, "BERT", new=True)
    sheet.arrow((150, 310), reader)
    first = sheet.box(85, 142, 130, 40, "[CLS] vector")
    sheet.arrow(reader, first)
    score = sheet.box(105, 84, 90, 36, "score")
    sheet.arrow(first, score)
    assert together[-1].right < 304
    cosine = sheet.box(485, 84, 90, 36, "cosine")
    for x, name in ((330, "A"), (540, "B")):
        tokens = sheet.chips(x, 312, ["[CLS]", name, "[SEP]"])
        middle = (tokens[0].x + tokens[-1].right) / 2
        alone = sheet.box(middle - 75, 216, 150, 46, "BERT", new=True)
        sheet.arrow((middle, 310), alone)
        vector = sheet.box(middle - 75, 142, 150, 40, "mean of tokens")
        sheet.arrow(alone, vector)
        sheet.arrow(vector, cosine)
    sheet.words(530, 239, "=", align="center", bold=True)
    return sheet.figure()


def same_words(three: Sequence[LabelledText]) -> Figure:
    """Two premises with the same words, and their counts."""
    same = [row.text for row in three if "not on" in row.text]
    counts = [Counter(terms(text)) for text in same]
    words = sorted(counts[0])
    sheet = Sheet(270, "What does a bag of words see?")
    table = torch.tensor([[float(count[word]) for word in words] for count in counts])
    for i, text in enumerate(same):
        sheet.words(14, 72 + 32 * i, f"{i + 1}.  {text}")
    sheet.grid(60, 174, table, rows=["1.", "2."], columns=words, cell=92, largest=4)
    return sheet.figure()


def inputs(tokenizer: Tokenizer) -> Figure:
    """Tokens and token types of a pair, and the scores from [CLS]."""
    encoding = tokenizer("Mary is older.", "Peter is younger.")
    tokens, types = encoding.tokens[0], encoding.token_type_ids[0].tolist()
    sheet = Sheet(330, "What goes into a cross-encoder, and what comes out?")
    chips = sheet.chips(14, 230, tokens)
    for chip, kind in zip(chips, types, strict=True):
        sheet.words(chip.centre[0], 288, str(kind), align="center", mono=True)
    sheet.words(14, 314, "token types: 0 up to the first [SEP], then 1", faint=True)
    bert = sheet.box(14, 140, chips[-1].right - 14, 46, "BERT")
    for chip in chips:
        sheet.arrow(chip, (chip.centre[0], bert.bottom))
    head = sheet.box(14, 66, 190, 40, "pooler, linear", new=True)
    sheet.arrow((chips[0].centre[0], bert.y), (chips[0].centre[0], head.bottom))
    scores = sheet.chips(262, 69, ["contradiction", "entailment", "neutral"])
    sheet.arrow(head, scores[0])
    return sheet.figure()


def pooling(bert: Any, tokenizer: Tokenizer) -> Figure:
    """Three numbers of each token's vector, and three vectors for the whole text."""
    encoding = tokenizer("He apologised to her.")
    shown = _states(bert, encoding)[:, :3]
    sheet = Sheet(390, "How does a text get one vector?", "Three of the 256 numbers of each vector")
    given = sheet.grid(
        120, 130, shown, "token vectors", "[T, D]", rows=encoding.tokens[0], digits=1, cell=60, row=30, largest=4
    )
    ends = given.right + 22
    sheet.line(
        (given.right + 8, given.y + 4),
        (ends, given.y + 4),
        (ends, given.bottom - 4),
        (given.right + 8, given.bottom - 4),
    )
    ways = {"[CLS]": shown[0], "mean": shown.mean(0), "maximum": shown.amax(0)}
    for i, (name, vector) in enumerate(ways.items()):
        y = 130 + 90 * i
        sheet.words(500, y + 17, name, align="right", bold=True)
        made = sheet.grid(514, y, vector, digits=1, cell=60, largest=4)
        sheet.arrow((given.right + 8 if not i else ends, made.centre[1]), (400, made.centre[1]))
    return sheet.figure()


def matches(bert: Any, tokenizer: Tokenizer) -> Figure:
    """The cosines of the words of two sentences, and the best partner of each."""
    first, second = (tokenizer(text) for text in ("He apologised to her.", "He told her that he was sorry."))
    inner = slice(1, -2)  # without [CLS], the full stop and [SEP]
    rows, columns = (encoding.tokens[0][inner] for encoding in (first, second))
    one, other = (normalize(_states(bert, encoding)[inner], dim=-1) for encoding in (first, second))
    cosines = one @ other.T  # [T, S]
    best, partners = cosines.max(dim=1)
    sheet = Sheet(
        400, "Which partner does each token find?", "Late interaction: the highest cosine of each row, and their sum"
    )
    grid = sheet.grid(110, 130, cosines, rows=rows, columns=columns, cell=68, row=40, largest=1.6)
    for i, j in enumerate(partners.tolist()):
        _thick(sheet, grid.cell(i, j))
        sheet.words(grid.right + 56, grid.cell(i, j).centre[1], f"{best[i]:.2f}", align="center", bold=True)
    sheet.words(grid.right + 56, 112, "best", align="center", bold=True)
    sheet.words(grid.right + 84, grid.bottom + 30, f"MaxSim of these words: {best.sum():.1f}", align="right", bold=True)
    return sheet.figure()


def cosines(untrained: Mapping[str, Sequence[float]]) -> Figure:
    """The mean cosine of different pairs and of paraphrases, by pooling."""
    names = {"cls": "[CLS]", "pooler": "pooler", "mean": "mean"}
    sheet = Sheet(350, "Does a high cosine mean: the same?", "Mean cosines before any training on pairs")
    for i, (key, name) in enumerate(names.items()):
        y = 82 + 88 * i
        sheet.words(14, y + 34, name, bold=True)
        _, different, same = untrained[key]
        sheet.bars(300, y, [different, same], ["unrelated", "score 5"], longest=330)
    return sheet.figure()


def both_orders() -> Figure:
    """A pair read twice, as A B and as B A."""
    sheet = Sheet(240, "What if A and B change places?")
    boxes = []
    for y, order in ((72, ["A", "B"]), (164, ["B", "A"])):
        chips = sheet.chips(14, y, ["[CLS]", order[0], "[SEP]", order[1], "[SEP]"])
        bert = sheet.box(330, y - 3, 148, 40, "cross-encoder")
        sheet.arrow(chips[-1], bert)
        boxes.append(bert)
    mean = sheet.box(560, 116, 140, 44, "mean score", new=True)
    for bert, score in zip(boxes, ("score", "score"), strict=True):
        sheet.words(bert.right + 8, bert.y - 12 if bert.y < 100 else bert.bottom + 14, score, faint=True)
        sheet.arrow(bert, mean)
    return sheet.figure()


def passes() -> Figure:
    """All pairs of six sentences, and six sentences."""
    sheet = Sheet(330, "How many passes for all pairs of six sentences?")
    names = list("ABCDEF")
    for i, name in enumerate(names):
        sheet.words(52, 117 + 34 * i, name, align="center", mono=True)
        sheet.words(87 + 34 * i, 84, name, align="center", mono=True)
        for j in range(i):
            sheet.chip(70 + 34 * j + 1, 100 + 34 * i + 1, "", width=32)
    sheet.words(300, 160, "cross-encoder: 15 passes", bold=True)
    sheet.words(300, 186, "n (n − 1) / 2", faint=True)
    sheet.words(300, 240, "bi-encoder: 6 passes", bold=True)
    sheet.words(300, 266, "n, and then cosines", faint=True)
    sheet.chips(540, 223, names[:3], width=44)
    sheet.chips(540, 262, names[3:], width=44)
    return sheet.figure()


def rerank() -> Figure:
    """From a million texts to one."""
    sheet = Sheet(196, "Who reads a million texts?")
    boxes = [
        sheet.box(14, 84, 140, 56, "1,000,000", "stored vectors"),
        sheet.box(204, 84, 120, 56, "bi-encoder", "cosines"),
        sheet.box(374, 84, 120, 56, "100", "candidates"),
        sheet.box(544, 84, 160, 56, "cross-encoder", "100 passes", new=True),
    ]
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    sheet.words(14, 172, "The first step must find it, the second puts it first.", faint=True)
    return sheet.figure()


def recall() -> Figure:
    """Where the partner stands among five results."""
    sheet = Sheet(300, "When has a search found it?", "Five results for each of four queries; thick: the partner")
    for i, at in enumerate((0, 2, 4, None)):
        y = 84 + 44 * i
        sheet.words(14, y + 17, f"query {i + 1}")
        sheet.chips(104, y, ["1.", "2.", "3.", "4.", "5."], {} if at is None else {at: "chosen"}, width=52)
        told = "not found" if at is None else "found for k = 1 and 5" if at == 0 else "found for k = 5"
        sheet.words(420, y + 17, told)
    sheet.words(104, 274, "recall@1 = 1/4, recall@5 = 3/4", bold=True)
    return sheet.figure()


def batch(encoder: SentenceEncoder, tokenizer: Tokenizer, positives: Sequence[LabelledText]) -> Figure:
    """The cosines of four pairs, partners on the diagonal."""
    sheet = Sheet(330, "Which second sentence belongs to which first?", "Cosines of four pairs, from the bi-encoder")
    _square(sheet, _cosines(encoder, tokenizer, positives), 250)
    return sheet.figure()


def temperature() -> Figure:
    """Softmax over three cosines at two temperatures."""
    given = torch.tensor([0.9, 0.5, 0.4])
    sheet = Sheet(250, "How certain can a softmax over cosines be?")
    names = ["partner", "other", "other"]
    for x, longest, title, values in (
        (110, 90, "cosines", given),
        (310, 90, "softmax, τ = 1", given.softmax(0)),
        (520, 90, "softmax, τ = 0.05", (given / 0.05).softmax(0)),
    ):
        sheet.words(x, 84, title, bold=True)
        shown = names if x == 110 else ()
        digits = 4 if "0.05" in title else 2
        sheet.bars(x, 104, values.tolist(), shown, longest=longest, digits=digits, thick=[0])
    return sheet.figure()


def hard_negatives(
    searcher: SentenceEncoder, tokenizer: Tokenizer, positives: Sequence[LabelledText], negatives: Sequence[str]
) -> Figure:
    """The same cosines with a mined sentence for each first one."""
    sheet = Sheet(330, "And if the wrong answers look right?", "Four more columns: a mined sentence for each first one")
    table = _cosines(searcher, tokenizer, positives)
    mined = (
        embed(searcher, tokenizer, [row.text for row in positives[:4]])
        @ embed(searcher, tokenizer, list(negatives[:4])).T
    )
    _square(sheet, table, 90)
    sheet.grid(390, 130, mined, columns=[f"n{j + 1}" for j in range(4)], cell=66, row=44, largest=1.6)
    return sheet.figure()


def choices() -> Figure:
    """Four pairs for one question, and a softmax over their scores."""
    sheet = Sheet(270, "How does a cross-encoder choose?", "[B, C, T] becomes [B · C, T]: each choice makes a pair")
    probabilities = sheet.box(590, 146, 110, 44, "softmax", new=True)
    for i in range(4):
        y = 84 + 44 * i
        chips = sheet.chips(14, y, ["[CLS]", "question", "[SEP]", f"choice {i + 1}", "[SEP]"])
        score = sheet.box(478, y, 70, 34, "score")
        sheet.arrow(chips[-1], score)
        sheet.arrow(score, probabilities)
    return sheet.figure()


def sentences_in() -> Figure:
    """An input with a [CLS] for each sentence."""
    sheet = Sheet(250, "How does each sentence get a vector of its own?")
    row = ["[CLS]", "rain", "fell", "[SEP]", "[CLS]", "bread", "sold", "[SEP]", "[CLS]", "…"]
    chips = sheet.chips(14, 130, row, {i: "chosen" for i, token in enumerate(row) if token == "[CLS]"})
    for i, chip in enumerate(chips):
        kind = 0 if i < 4 else 1 if i < 8 else 0
        sheet.words(chip.centre[0], 184, str(kind), align="center", mono=True)
        if row[i] == "[CLS]":
            top = sheet.box(chip.x, 66, 108, 34, "in or out?")
            sheet.arrow(chip, (chip.centre[0], top.bottom))
    sheet.words(14, 216, "interval segments: 0, 1, 0, …", faint=True)
    return sheet.figure()


def swapped(reader: Any) -> Figure:
    """Which number means which label, for the model and for the file."""
    model, data = reader.task_config.labels, ("entailment", "neutral", "contradiction")
    sheet = Sheet(260, "What does the number 0 mean?")
    for x, title, labels in ((60, "the model", model), (440, "the file (GLUE)", data)):
        sheet.words(x, 64, title, bold=True)
        for i, label in enumerate(labels):
            sheet.words(x - 6, 101 + 48 * i, str(i), align="right", mono=True)
            sheet.chip(x + 6, 84 + 48 * i, label, width=170)
    for i, label in enumerate(model):
        sheet.line((238, 101 + 48 * i), (424, 101 + 48 * data.index(label)), dashed=True)
    return sheet.figure()


def _cosines(searcher: SentenceEncoder, tokenizer: Tokenizer, positives: Sequence[LabelledText]) -> Tensor:
    first, second = ([getattr(row, name) for row in positives[:4]] for name in ("text", "pair"))
    return embed(searcher, tokenizer, first) @ embed(searcher, tokenizer, second).T


def _square(sheet: Sheet, table: Tensor, x: float) -> None:
    rows, columns = [f"a{i + 1}" for i in range(4)], [f"b{j + 1}" for j in range(4)]
    grid = sheet.grid(x, 130, table, rows=rows, columns=columns, cell=66, row=44, largest=1.6)
    for i in range(4):
        _thick(sheet, grid.cell(i, i))


def _thick(sheet: Sheet, cell: Box) -> None:
    corners = ((cell.x, cell.y), (cell.right, cell.y), (cell.right, cell.bottom), (cell.x, cell.bottom))
    sheet.line(*corners, corners[0], thick=True, ink="#222222")


@torch.no_grad()
def _states(bert: Any, encoding: Any) -> Tensor:
    """The last vectors of a text's tokens, [T, D]."""
    inputs = (encoding[name] for name in ("input_ids", "attention_mask", "token_type_ids"))
    return bert(*inputs).last_hidden_state[0]
