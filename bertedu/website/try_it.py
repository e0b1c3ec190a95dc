"""A small BERT of this course in the browser: the playground, live at the top of the front page, and its code, read
aloud on a page of its own."""

from pathlib import Path

from bertedu.files import write_text
from bertedu.web.playground import write_playground
from bertedu.web.reading_aloud import write_reading

MODEL = "world-tiny"  # 2 MB: it is there at once
TITLE = "Playground: a small BERT that runs in this page"
FRAME = f"""```{{raw}} html
<iframe class="playground" src="playground.html" title="{TITLE}" height="760"></iframe>
```

This BERT has two layers and knows a small world of facts; it runs in your browser, and nothing is sent anywhere. Scroll
inside the frame to look into it, or [open it in a window of its own](playground.html){{.external}}.
[BERT in 200 lines of JavaScript](bert_in_javascript.html){{.external}} reads its code aloud, with the numbers of your
sentence.
"""
READING = "bert_in_javascript.html"
BACK = (
    ("index.html", "Build BERT yourself: the course"),
    ("playground.html", "The playground: hide words, look inside"),
)


def add_playground(root: Path, folder: Path) -> None:
    """Write the playground and its code into the tree of pages, and what the front page includes."""
    (folder / "extra").mkdir(parents=True, exist_ok=True)
    model = root / "data" / "checkpoints" / MODEL
    write_playground(model, folder / "extra" / "playground.html", reading=READING)
    write_reading(model, folder / "extra" / READING, BACK)
    write_text(folder / "playground.md", FRAME)
