"""The pictures of chapter 13 about vectors: pooling, their cosines, and late interaction."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.corpora.readers import LabelledText
from bertedu.course.pictures import Sheet
from bertedu.course.pictures.places import Box
from bertedu.finetuning.tasks.similarity import SentenceEncoder, embed
from bertedu.tokenization import Tokenizer


def pooling(bert: Any, tokenizer: Tokenizer) -> Figure:
    """Three numbers of each token's vector, and three vectors for the whole text."""
    encoding = tokenizer("He apologised to her.")
    shown, pooled = (vectors[..., :3] for vectors in _states(bert, encoding))
    sheet = Sheet(400, "How does a text get one vector?", "Three of the 256 numbers of each vector, before fine-tuning")
    given = sheet.grid(
        120, 130, shown, "token vectors", "[T, D]", rows=encoding.tokens[0], digits=1, cell=60, row=30, largest=4
    )
    ends, last = given.right + 22, given.bottom - 4
    start = given.right + 8
    sheet.line((start, given.y + 4), (ends, given.y + 4), (ends, last), (start, last))
    made = {}
    for y, name, vector in ((128, "[CLS]", shown[0]), (220, "pooler", pooled), (312, "mean", shown.mean(0))):
        sheet.words(500, y + 17, name, align="right", bold=True)
        made[name] = sheet.grid(514, y, vector, digits=1, cell=60, largest=4)
    first, mean = made["[CLS]"], made["mean"]
    sheet.arrow((given.right, first.centre[1]), (430, first.centre[1]))
    sheet.arrow(first, made["pooler"], "linear, tanh")
    sheet.arrow((ends, mean.centre[1]), (430, mean.centre[1]))
    return sheet.figure()


def matches(bert: Any, tokenizer: Tokenizer) -> Figure:
    """The cosines of the words of two sentences, and the best partner of each."""
    first, second = (tokenizer(text) for text in ("He apologised to her.", "He told her that he was sorry."))
    inner = slice(1, -2)  # without [CLS], the full stop and [SEP]
    rows, columns = (encoding.tokens[0][inner] for encoding in (first, second))
    one, other = (normalize(_states(bert, encoding)[0][inner], dim=-1) for encoding in (first, second))
    cosines = one @ other.T  # [T, S]
    best, partners = cosines.max(dim=1)
    sheet = Sheet(
        400,
        "Which partner does each token find?",
        "Thick: the highest cosine of each row. BERT was not yet trained for it.",
    )
    grid = sheet.grid(110, 130, cosines, rows=rows, columns=columns, cell=68, row=40, largest=1.6)
    for i, j in enumerate(partners.tolist()):
        _thick(sheet, grid.cell(i, j))
        sheet.words(grid.right + 56, grid.cell(i, j).centre[1], f"{best[i]:.2f}", align="center", bold=True)
    sheet.words(grid.right + 56, 112, "best", align="center", bold=True)
    sheet.words(
        grid.right + 84, grid.bottom + 30, f"MaxSim, the sum of these: {best.sum():.1f}", align="right", bold=True
    )
    return sheet.figure()


def cosines(untrained: Mapping[str, Sequence[float]]) -> Figure:
    """The mean cosine of different pairs and of paraphrases, by pooling."""
    names = {"cls": "[CLS]", "pooler": "pooler", "mean": "mean"}
    sheet = Sheet(
        350,
        "Does a high cosine mean: the same?",
        "Mean cosines before training on pairs; score 5: the same in other words",
    )
    for i, (key, name) in enumerate(names.items()):
        y = 82 + 88 * i
        sheet.words(14, y + 34, name, bold=True)
        _, different, same = untrained[key]
        sheet.bars(300, y, [different, same], ["unrelated", "score 5"], longest=330)
    return sheet.figure()


def batch(encoder: SentenceEncoder, tokenizer: Tokenizer, positives: Sequence[LabelledText]) -> Figure:
    """The cosines of four pairs, partners on the diagonal."""
    sheet = Sheet(
        360,
        "Which second sentence belongs to which first?",
        "Cosines of four pairs, from the bi-encoder trained on scores",
    )
    grid = _square(sheet, _cosines(encoder, tokenizer, positives), 50)
    softmax = sheet.box(370, 188, 136, 60, "softmax", "of each row")
    loss = sheet.box(560, 188, 146, 60, "loss: \u2212ln", "of the thick", new=True)
    sheet.arrow(grid, softmax)
    sheet.arrow(softmax, loss)
    sheet.words(50, 334, "thick: the partner; the rest of its row: wrong answers", faint=True)
    return sheet.figure()


def hard_negatives(
    searcher: SentenceEncoder, tokenizer: Tokenizer, positives: Sequence[LabelledText], negatives: Sequence[str]
) -> Figure:
    """The same cosines with a mined sentence for each first one."""
    sheet = Sheet(
        340, "And if the wrong answers look right?", "Cosines after InfoNCE, before training with the mined ones"
    )
    table = _cosines(searcher, tokenizer, positives)
    mined = (
        embed(searcher, tokenizer, [row.text for row in positives[:4]])
        @ embed(searcher, tokenizer, list(negatives[:4])).T
    )
    square = _square(sheet, table, 90)
    grid = sheet.grid(390, 130, mined, columns=[f"n{j + 1}" for j in range(4)], cell=66, row=44, largest=1.6)
    sheet.words(square.centre[0], 92, "partners, thick", align="center", bold=True)
    sheet.words(grid.centre[0], 92, "mined, all wrong", align="center", bold=True)
    return sheet.figure()


@torch.no_grad()
def _states(bert: Any, encoding: Any) -> tuple[Tensor, Tensor]:
    """The last vectors of a text's tokens, [T, D], and the pooler's vector, [D]."""
    output = bert(*(encoding[name] for name in ("input_ids", "attention_mask", "token_type_ids")))
    return output.last_hidden_state[0], output.pooler_output[0]


def _thick(sheet: Sheet, cell: Box) -> None:
    corners = ((cell.x, cell.y), (cell.right, cell.y), (cell.right, cell.bottom), (cell.x, cell.bottom))
    sheet.line(*corners, corners[0], thick=True, ink="#222222")


def _cosines(searcher: SentenceEncoder, tokenizer: Tokenizer, positives: Sequence[LabelledText]) -> Tensor:
    first, second = ([getattr(row, name) for row in positives[:4]] for name in ("text", "pair"))
    return embed(searcher, tokenizer, first) @ embed(searcher, tokenizer, second).T


def _square(sheet: Sheet, table: Tensor, x: float) -> Box:
    rows, columns = [f"a{i + 1}" for i in range(4)], [f"b{j + 1}" for j in range(4)]
    grid = sheet.grid(x, 130, table, rows=rows, columns=columns, cell=66, row=44, largest=1.6)
    for i in range(4):
        _thick(sheet, grid.cell(i, i))
    return grid
