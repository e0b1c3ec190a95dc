"""Build the website: the tree of pages, Sphinx, the index for the search, the map for search engines, the check."""

import asyncio
import os
import re
import shutil
from collections.abc import Sequence
from html import escape
from pathlib import Path

from bertedu.address import PLACEHOLDER, has_address, page_url
from bertedu.errors import UserError
from bertedu.extras import needs_extra
from bertedu.files import write_text
from bertedu.website.checking import check_links
from bertedu.website.front import course_facts
from bertedu.website.glossary import Term, anchor
from bertedu.website.pages import write_tree
from bertedu.website.try_it import add_playground

DESCRIPTION = "Build BERT yourself, from the first subword to a fine-tuned model, in notebooks that run."
HIDDEN_FROM_ENGINES = ("404.html", "search.html", "genindex.html", "py-modindex.html")


def build_site(root: Path, output: Path, solutions: bool = True) -> list[str]:
    """Build the site of a repository into a folder, which is emptied first; returns the links that lead out of it.

    Without solutions, for a class, no page has them. Raises UserError where the site's packages are missing, where
    Sphinx warns of anything, and where a link within the site leads nowhere.
    """
    source = output.parent / "source"
    found, listed = write_tree(root, source, solutions)
    add_playground(root, source)
    write_text(source / "course_facts.json", course_facts(found, DESCRIPTION))
    shutil.rmtree(output, ignore_errors=True)
    run_sphinx(source, output)
    shutil.rmtree(output / "_sources", ignore_errors=True)
    write_sitemap(output)
    index_words(output, listed)
    outside = check_links(output)
    if not has_address():
        print(PLACEHOLDER)
    return outside


def run_sphinx(source: Path, output: Path) -> None:
    """Run Sphinx in this process's Python, without executing a notebook; a warning is an error."""
    with needs_extra("site,authors"):
        from sphinx.cmd.build import build_main
    options = ["-b", "html", "-q", "-W", "--keep-going", "-j", str(os.cpu_count() or 1)]
    if build_main([*options, "-d", str(output.parent / "doctrees"), str(source), str(output)]):
        raise UserError(f"Sphinx has built {output} with the warnings above: mend what they name, and build again.")


def write_sitemap(output: Path) -> None:
    """Write sitemap.xml and robots.txt: all pages that somebody may want to find."""
    pages = sorted(path.relative_to(output).as_posix() for path in output.rglob("*.html"))
    pages = [page for page in pages if page not in HIDDEN_FROM_ENGINES and not page.startswith("_static")]
    entries = "".join(f"<url><loc>{escape(page_url(page))}</loc></url>\n" for page in pages)
    write_text(
        output / "sitemap.xml",
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{entries}</urlset>\n",
    )
    write_text(output / "robots.txt", f"User-agent: *\nAllow: /\nSitemap: {page_url('sitemap.xml')}\n")


def index_words(output: Path, found: Sequence[Term]) -> None:
    """Write the index that the page of the search reads, in the browser and without a server.

    Each term is an entry of its own, so that who searches for it finds the sentence that defines it first.
    """
    from pagefind.index import IndexConfig, PagefindIndex

    async def index() -> None:
        config = IndexConfig(
            root_selector="main",
            exclude_selectors=["#jb-print-docs-body", ".headerlink", ".chapter-bar"],
            output_path=str(output / "pagefind"),
            force_language="en",
        )
        async with PagefindIndex(config=config) as words:
            await words.add_directory(str(output))
            for term in found:
                await words.add_custom_record(
                    url=f"/terms.html#{anchor(term)}",
                    content=f"{term.name}. {re.sub('[*`]', '', term.sentence)}",
                    language="en",
                    meta={"title": f"Term: {term.name}"},
                )

    asyncio.run(index())
