"""The links of a built site: those within it must lead somewhere, those out of it are listed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bertedu.errors import UserError
from bertedu.files import read_text

NAMED = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}
PLAYGROUND_PAGE = "playground.html"
NOT_PAGES = ("_static", "pagefind")
MOST_NAMED = 30
STATE = re.compile(r"\w+=")  # the playground's state stands where other pages have an anchor: #masks=6&text=...


@dataclass
class Page(HTMLParser):
    """What a page links to, and the anchors that it has."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a link and an anchor."""
        values = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := values.get(name))}
        address = values.get(NAMED.get(tag, ""))
        if address and not (tag == "link" and values.get("rel") in ("canonical", "preconnect")):
            self.links.append(address)


def read_page(path: Path) -> Page:
    """The links and anchors of a file."""
    page = Page()
    page.feed(read_text(path))
    return page


def check_links(site: Path) -> list[str]:
    """The links that lead out of a built site, each once. Raises UserError that names those that lead nowhere in it."""
    site = site.resolve()
    own = [path for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] not in NOT_PAGES]
    pages = {path: read_page(path) for path in own}
    broken = [fault for path in pages for fault in broken_links(site, path, pages)]
    if broken:
        shown = "\n".join(broken[:MOST_NAMED])
        raise UserError(f"{len(broken)} links within the site lead nowhere:\n{shown}\nMend the pages that have them.")
    return sorted(
        {link for page in pages.values() for link in page.links if urlsplit(link).scheme in ("http", "https")}
    )


def is_state(target: Path, anchor: str) -> bool:
    """Whether what follows "#" is a state of the playground."""
    return target.name == PLAYGROUND_PAGE and bool(STATE.match(anchor))


def broken_links(site: Path, path: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """A sentence for each link of a page that leads to no file or no anchor of the site."""
    for link in pages[path].links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        anchor = unquote(parts.fragment)
        where = f"{path.relative_to(site)} links {link}"
        if not target.is_relative_to(site):
            yield f"{where}, which is outside the site"
        elif not target.exists():
            yield f"{where}, which is not there"
        elif anchor and target in pages and anchor not in pages[target].anchors and not is_state(target, anchor):
            yield f"{where}, which has no such anchor"
