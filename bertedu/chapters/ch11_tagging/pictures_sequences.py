"""The pictures of chapter 11 about whole tag sequences: transitions, the forward algorithm, Viterbi."""

from collections.abc import Sequence
from itertools import pairwise, product

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet
from bertedu.course.pictures.colours import INK, RULE
from bertedu.course.pictures.places import Box
from bertedu.finetuning.crf import may_follow

Tags = Sequence[Sequence[str]]
LONGEST = 380.0  # of a bar, in pixels


def rules() -> Figure:
    """The transitions that BIO allows, for two types."""
    tags = ["O", "B-person", "I-person", "B-place", "I-place"]
    sheet = Sheet(336, "Which tag may follow which?", "I- needs a tag of its own type before it.")
    table = [[float(may_follow(before, after)) for after in tags] for before in tags]
    grid = sheet.grid(190, 112, table, rows=tags, columns=tags, cell=104, largest=3.0, numbers=False)
    for i, row in enumerate(table):
        for j, allowed in enumerate(row):
            sheet.words(*grid.cell(i, j).centre, "yes" if allowed else "never", align="center", bold=not allowed)
    sheet.words(182, 318, "row: before · column: after", faint=True)
    return sheet.figure()


def _walk(sheet: Sheet, emissions: Tensor, transitions: Tensor, best: bool) -> list[list[Box]]:
    """The table of the forward algorithm, or of Viterbi, drawn column by column; returns its cells [W][C]."""
    shares, weights = emissions.exp(), transitions.exp()
    values, cells = shares[0], []
    for word, (name, own) in enumerate(zip(("rose", "wells", "sang"), shares, strict=True)):
        if word:
            paths = values[:, None] * weights  # [C, C]: from the row to the column
            values = (paths.max(dim=0).values if best else paths.sum(dim=0)) * own
        x = 140 + 200 * word
        sheet.words(x + 45, 88, name, align="center", bold=True)
        cells.append([sheet.box(x, 110 + 84 * tag, 90, 48, f"{values[tag]:.0f}") for tag in range(2)])
    for tag, label in enumerate("ON"):
        sheet.words(14, 134 + 84 * tag, f"ends with {label}")
    return cells


def crf_paths(emissions: Tensor, transitions: Tensor) -> Figure:
    """All ways through three words, with emissions and transitions as factors, and the best of them."""
    shares, weights = emissions.exp(), transitions.exp()
    values = {
        path: float(
            torch.stack([shares[word, tag] for word, tag in enumerate(path)]).prod()
            * torch.stack([weights[a, b] for a, b in pairwise(path)]).prod()
        )
        for path in product(range(2), repeat=3)
    }
    best = max(values, key=values.__getitem__)
    sheet = Sheet(
        340, "Which way through the words is the best?", "Boxes: emissions. Lines: transitions. Multiply along a way."
    )
    cells = []
    for word, name in enumerate(("rose", "wells", "sang")):
        x = 90 + 230 * word
        sheet.words(x + 45, 88, name, align="center", bold=True)
        cells.append(
            [
                sheet.box(x, 110 + 100 * tag, 90, 48, f"{'ON'[tag]}: {shares[word, tag]:.0f}", new=best[word] == tag)
                for tag in range(2)
            ]
        )
    for word, (before, after) in enumerate(pairwise(cells)):
        for (a, one), (b, other) in product(enumerate(before), enumerate(after)):
            start, end = (one.right + 6, one.centre[1]), (other.x - 6, other.centre[1])
            thick = (a, b) == (best[word], best[word + 1])
            (left, above), (right, below) = start, end
            at = [
                (left + share * (right - left), above + share * (below - above)) for share in (0, 0.18, 0.28, 0.38, 1)
            ]
            ink = INK if thick else RULE
            sheet.line(at[0], at[1], thick=thick, ink=ink)
            sheet.line(at[3], at[4], thick=thick, ink=ink)
            sheet.words(*at[2], f"{weights[a, b]:.0f}", align="center", bold=thick)
    factors = [shares[0, best[0]]]
    for word, (a, b) in enumerate(pairwise(best), start=1):
        factors += [weights[a, b], shares[word, b]]
    way = " · ".join(f"{factor:.0f}" for factor in factors)
    names = " ".join("ON"[tag] for tag in best)
    sheet.words(360, 306, f"best: {names}, {way} = {values[best]:.0f}", align="center", bold=True)
    return sheet.figure()


def forward(emissions: Tensor, transitions: Tensor) -> Figure:
    """The forward algorithm with the pencil's numbers: one sum for each tag."""
    sheet = Sheet(330, "How can eight paths be summed without listing them?", "Each cell: all paths that end here")
    cells = _walk(sheet, emissions, transitions, best=False)
    for before, after in pairwise(cells):
        for one in before:
            for other in after:
                sheet.arrow((one.right, one.centre[1]), (other.x, other.centre[1]))
    sheet.words(14, 268, "42 = 3 · (1·2 + 4·3)")
    sheet.words(250, 268, "930 = 5 · (42·2 + 34·3)")
    sheet.words(14, 302, "34 = 2 · (1·1 + 4·4)")
    sheet.words(250, 302, "178 = 1 · (42·1 + 34·4)")
    sheet.words(500, 302, "930 + 178 = 1108", bold=True)
    return sheet.figure()


def viterbi_path(emissions: Tensor, transitions: Tensor) -> Figure:
    """Viterbi with the pencil's numbers: the best path to each tag, and the way back."""
    sheet = Sheet(
        360,
        "Where does the best path come from?",
        "Each cell: the best path that ends here; the line into it: its last step",
    )
    cells = _walk(sheet, emissions, transitions, best=True)
    values, weights = emissions.exp()[0], transitions.exp()
    path: list[list[int]] = []
    for own in emissions.exp()[1:]:
        values, origin = (values[:, None] * weights).max(dim=0)
        values = values * own
        path.append(origin.tolist())
    tag, way = int(values.argmax()), []
    for word in range(len(path), 0, -1):
        way.append((word, tag, path[word - 1][tag]))
        tag = path[word - 1][tag]
    for word, origins in enumerate(path, start=1):
        for after, before in enumerate(origins):
            one, other = cells[word - 1][before], cells[word][after]
            thick = (word, after, before) in way
            ends = (one.right + 6, one.centre[1]), (other.x - 6, other.centre[1])
            sheet.line(*ends, thick=thick, dashed=not thick, ink=INK)
    sheet.words(14, 268, "36 = 3 · max(1·2, 4·3)")
    sheet.words(320, 268, "480 = 5 · max(36·2, 32·3)")
    sheet.words(14, 300, "32 = 2 · max(1·1, 4·4)")
    sheet.words(320, 300, "128 = 1 · max(36·1, 32·4)")
    found = ["ON"[before] for _, _, before in reversed(way)] + ["ON"[int(values.argmax())]]
    sheet.words(
        360, 336, f"back from {values.max():.0f} along the thick lines: {' '.join(found)}", align="center", bold=True
    )
    return sheet.figure()
