"""The playground, live at the top of the front page; until there is one, the moving picture."""

from pathlib import Path

from bertedu.files import copy, write_text

PICTURE = """![A small BERT fills in three sentences. Layer by layer, dots show how much [MASK] attends to each token;
then its three best guesses appear as bars, and the first takes the place of [MASK].](/pictures/fill_mask.gif)
"""


def write_playground(root: Path, folder: Path) -> None:
    """Write what the front page includes into the tree of pages."""
    write_text(folder / "playground.md", PICTURE)
    copy(root / "docs" / "images" / "fill_mask.gif", folder / "pictures" / "fill_mask.gif")
