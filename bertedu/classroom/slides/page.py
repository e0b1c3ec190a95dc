"""A deck as one HTML file: slides, notes, style and script, and nothing that is fetched from elsewhere."""

from html import escape
from importlib.resources import files

from bertedu.classroom.markup import code_css, inline_html, markdown_html
from bertedu.classroom.slides.fitting import letters
from bertedu.classroom.slides.slide import Slide

# The page forbids itself to fetch anything.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
KEYS = (
    ("→ ↓ Space Page Down", "next slide"),
    ("← ↑ Page Up", "slide before"),
    ("Home, End", "first and last slide"),
    ("o or Esc", "all slides; Tab and Enter choose one"),
    ("s", "speaker notes with a clock in a window of their own"),
    ("b", "notes below the slide"),
    ("f", "full screen"),
    ("?", "this list"),
)
BUTTONS = (
    ("before", "Slide before", "‹"),
    ("next", "Next slide", "›"),
    ("overview", "All slides", "▦"),
    ("speaker", "Speaker notes", "notes"),
    ("help", "Keys", "?"),
)


def own(name: str) -> str:
    """The text of a file that lies beside this one."""
    return (files("bertedu.classroom.slides") / name).read_text(encoding="utf-8")


def deck_html(title: str, slides: list[Slide]) -> str:
    """The whole page."""
    pages = "\n".join(slide_html(slide, place, len(slides), title) for place, slide in enumerate(slides, start=1))
    keys = "".join(f"<tr><td>{left}</td><td>{right}</td></tr>" for left, right in KEYS)
    buttons = "".join(
        f'<button data-do="{do}" aria-label="{name}" title="{name}">{sign}</button>' for do, name, sign in BUTTONS
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{own("deck.css")}
{code_css()}
</style>
</head>
<body>
<main>
{pages}
</main>
<div id="done"></div>
<div id="below" role="region" aria-label="Speaker notes" tabindex="0" hidden></div>
<div id="help" role="dialog" aria-label="Keys" tabindex="-1" hidden><h2>Keys</h2><table>{keys}</table></div>
<div id="bar" role="toolbar" aria-label="Slides">{buttons}</div>
<div id="said" class="said" aria-live="polite"></div>
<script>
{own("deck.js")}
</script>
</body>
</html>
"""


def slide_html(slide: Slide, place: int, count: int, chapter: str) -> str:
    """One slide, its notes beside it."""
    tag = "h1" if slide.kind == "title" else "h2"
    parts = "\n".join(f'<div class="{part.kind}">{part.html}</div>' for part in slide.parts)
    notes = "\n".join(markdown_html(text, lambda address: None) for text in slide.notes)
    size = letters(slide.parts, slide.title)
    name = f"{place} of {count}: {slide.title}"
    return f"""<section class="slide is-{slide.kind}" aria-roledescription="slide" aria-label="{escape(name)}">
<p class="kicker">{inline_html(slide.kicker)}</p>
<{tag}>{inline_html(slide.title)}</{tag}>
<div class="body" style="font-size:{size}px">
{parts}
</div>
<p class="foot"><span>{escape(chapter)}</span><span>{place} / {count}</span></p>
<aside>{notes}</aside>
</section>"""
