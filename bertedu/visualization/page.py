"""What pages about runs are made of: one file, nothing fetched, for dark and light screens, phones and paper."""

from collections.abc import Mapping, Sequence
from html import escape

from bertedu.templates import page, template
from bertedu.visualization.results import NOT_BEATEN, Result, verdicts

RESULTS = page("visualization/results.html.j2")
FACTS = template("""\
{% for title, group in facts.items() %}
<h3>{{ title }}</h3><dl>
{% for name, value in group.items() %}<dt>{{ name }}</dt><dd>{{ value }}</dd>{% endfor %}</dl>
{% endfor %}""")
LIST = template("<ul>{% for sentence in sentences %}<li>{{ sentence }}</li>{% endfor %}</ul>")
STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --faint: #5c5c62; --paper: #ffffff; --line: #dcdce0;
  --soft: #f5f5f7; --mark: #0060a8; --good: #00694f; --warn: #9a4a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --faint: #a6a6ae; --paper: #18181b; --line: #3a3a40;
  --soft: #232327; --mark: #7cc0ff; --good: #5fd0ae; --warn: #ffb067; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.1rem 4rem; max-width: 52rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; }
.summary { font-size: 1.1rem; }
.faint, caption, td small { color: var(--faint); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td small { display: block; }
td.number { white-space: nowrap; font-weight: 600; }
td.won { color: var(--good); }
td.lost { color: var(--warn); }
dl { display: grid; grid-template-columns: minmax(7rem, auto) 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
figure img { width: 100%; height: auto; background: #fff; border: 1px solid var(--line); border-radius: 8px;
  padding: 6px; }
@media screen and (max-width: 40rem) { figure { overflow-x: auto; } figure img { width: 44rem; max-width: none; } }
figcaption { color: var(--faint); font-size: .92rem; }
.answers { list-style: none; padding: 0; display: grid; gap: 1rem 2rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
.answers ol { list-style: none; padding: 0; margin: .3rem 0 0; }
.answers ol li { display: grid; grid-template-columns: minmax(6.5rem, auto) 1fr 3.6rem; gap: .5rem; align-items: center;
  font-size: .92rem; font-variant-numeric: tabular-nums; }
.answers ol li span:first-child { overflow-wrap: anywhere; }
.answers ol li span:last-child { text-align: right; }
.mistakes { list-style: none; padding: 0; }
.mistakes > li { border-bottom: 1px solid var(--line); padding: .6rem 0; }
.mistakes p { margin: 0 0 .2rem; overflow-wrap: anywhere; }
.mistakes dl { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.mistakes dl div { display: flex; gap: .6rem; min-width: 9rem; }
.mistakes dt { white-space: nowrap; }
.looks { display: grid; gap: 0 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.bar { display: block; height: .6rem; background: var(--mark); border-radius: 3px; min-width: 2px; }
a { color: var(--mark); }
mark { background: none; color: var(--mark); font-weight: 600; }
pre { background: var(--soft); padding: .7rem .9rem; border-radius: 8px; white-space: pre-wrap;
  overflow-wrap: anywhere; }
code { font: .88rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; }
  figure, tr, .answers > li, .mistakes > li { break-inside: avoid; } .bar { print-color-adjust: exact; } }
"""


def document(title: str, sections: Sequence[str]) -> str:
    """A whole page made of sections of HTML; the title is text."""
    body = "\n".join(f"<section>\n{section}\n</section>" for section in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def figure_html(image: str, caption: str) -> str:
    """A picture's <img> with words below it; on a narrow screen it can be scrolled."""
    return f"<figure tabindex='0'>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def duration(seconds: float) -> str:
    """A time in seconds or minutes, whichever reads better."""
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.1f} minutes"


def results_html(rows: Sequence[Result], caption: str, beside: str = "without a network") -> str:
    """The table of results, the baselines beside each under a head of their own."""
    return RESULTS.render(rows=rows, caption=caption, beside=beside)


def verdict_html(rows: Sequence[Result]) -> str:
    """In words where the model does not beat a baseline."""
    lost = verdicts(rows)
    if not lost:
        return "<p>The model beats every baseline in the table.</p>" if rows else ""
    return f"<p>{NOT_BEATEN}</p>{list_html(lost)}"


def facts_html(facts: Mapping[str, Mapping[str, str]]) -> str:
    """Groups of names and values."""
    return FACTS.render(facts=facts)


def list_html(sentences: Sequence[str]) -> str:
    """Sentences as points of a list."""
    return LIST.render(sentences=sentences)
