"""The tags and words of a page of HTML, and what it would fetch."""

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "input", "br", "line"}


class Page(HTMLParser):
    """Checks that every tag is closed, and collects what a test asks for."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)


def fetches(page: str) -> list[str]:
    """Everything in a page that would make a browser ask somebody else."""
    tags = Page(page).tags
    addresses = [
        value for _, named in tags for name, value in named.items() if name in ("src", "href", "srcset", "data")
    ]
    outside = [address for address in addresses if not address.startswith("data:")]
    return [*outside, *re.findall(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", page)]
