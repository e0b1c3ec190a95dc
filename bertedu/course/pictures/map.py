"""The map of BERT that every chapter shows: the way of a text from below to above, with this chapter's parts lit."""

from collections.abc import Collection
from itertools import pairwise

from bertedu.course.pictures.places import Box
from bertedu.course.pictures.sheet import Sheet

# From the text to the answers: what a part is called, and what comes out of it.
PARTS = {
    "tokenizer": ("tokenizer", "ids [B, T]"),
    "embeddings": ("embeddings", "[B, T, D]"),
    "attention": ("self-attention", "[B, T, D]"),
    "feed-forward": ("feed-forward", "[B, T, D]"),
    "heads": ("heads", "answers"),
}


def map_of_bert(sheet: Sheet, y: float, lit: Collection[str], layers: str = "L") -> dict[str, Box]:
    """Draw the map across a sheet at height y (120 pixels high), the parts in `lit` as new. Returns their boxes."""
    boxes: dict[str, Box] = {}
    x, widths = 10.0, {"tokenizer": 102, "embeddings": 134, "attention": 158, "feed-forward": 142, "heads": 70}
    for part, (name, out) in PARTS.items():
        boxes[part] = sheet.box(x, y + 28, widths[part], 44, name, new=part in lit)
        sheet.words(boxes[part].centre[0], y + 94, out, align="center", faint=True)
        x = boxes[part].right + 23
    for one, following in pairwise(boxes.values()):
        sheet.arrow(one, following)
    first, last = boxes["attention"], boxes["feed-forward"]
    for across in (first.x - 8, last.right + 8):
        sheet.line((across, y + 18), (across, y + 108), dashed=True)
    sheet.words((first.x + last.right) / 2, y + 10, f"a layer, {layers} times", align="center", faint=True)
    return boxes
