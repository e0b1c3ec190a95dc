"""The playground, live at the top of the front page: a small BERT of this course, in the browser."""

from pathlib import Path

from bertedu.files import write_text
from bertedu.web.playground import write_playground

MODEL = "world-tiny"  # 2 MB: it is there at once
TITLE = "Playground: a small BERT that runs in this page"
FRAME = f"""```{{raw}} html
<iframe class="playground" src="playground.html" title="{TITLE}" height="760"></iframe>
```

This BERT has two layers and knows a small world of facts; it runs in your browser, and nothing is sent anywhere. Scroll
inside the frame to look into it, or [open it in a window of its own](playground.html){{.external}}.
"""


def add_playground(root: Path, folder: Path) -> None:
    """Write the playground into the tree of pages, and what the front page includes."""
    (folder / "extra").mkdir(parents=True, exist_ok=True)
    write_playground(root / "data" / "checkpoints" / MODEL, folder / "extra" / "playground.html")
    write_text(folder / "playground.md", FRAME)
