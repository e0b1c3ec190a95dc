"""Attention as a page to explore: choose layer and head, point at a token, see where it looks. Nothing is fetched."""

import json
from collections.abc import Sequence
from html import escape

from torch import Tensor

from bertedu.errors import UserError
from bertedu.visualization.attention import checked

MOST_NUMBERS = 4_000_000  # about 12 MB of page

STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --faint: #5c5c62; --paper: #fff; --line: #dcdce0; --soft: #eef4fa;
  --mark: #0072b2; --heat: 0, 114, 178; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --faint: #a6a6ae; --paper: #18181b; --line: #3a3a40;
  --soft: #22303c; --mark: #7cc0ff; --heat: 86, 180, 233; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.6rem 1.1rem 3rem; max-width: 76rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
p { margin: .3rem 0; }
.faint { color: var(--faint); }
.controls { display: flex; flex-wrap: wrap; gap: 1rem; align-items: end; margin: 1rem 0; }
label { display: grid; gap: .15rem; font-size: .9rem; color: var(--faint); }
select, button { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--line);
  border-radius: 6px; padding: .3rem .6rem; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 1px; }
#said { min-height: 3.2em; padding: .5rem .8rem; background: var(--soft); border-radius: 8px; }
.views { display: grid; gap: 0 2.5rem; grid-template-columns: minmax(16rem, 24rem) minmax(0, 1fr); }
@media (max-width: 50rem) { .views { grid-template-columns: minmax(0, 1fr); } }
.lines { display: grid; grid-template-columns: max-content minmax(4rem, 1fr) max-content; }
.lines ol { list-style: none; margin: 0; padding: 0; }
.lines li, .lines button { height: 1.7rem; font: .85rem/1.5rem ui-monospace, Menlo, Consolas, monospace; }
.lines button { width: 100%; padding: 0 .4rem; border: 1px solid transparent; text-align: right; cursor: pointer; }
.lines li.target { padding: 0 .4rem; border-radius: 4px; line-height: 1.7rem; }
.lines button[aria-pressed="true"] { background: var(--soft); border-color: var(--mark); }
svg { width: 100%; height: 100%; display: block; }
line { stroke: rgb(var(--heat)); }
.scroll { overflow: auto; max-width: 100%; }
table { border-collapse: separate; border-spacing: 1px; font: .68rem/1 ui-monospace, Menlo, Consolas, monospace; }
td { width: 1.7rem; min-width: 1.7rem; height: 1.7rem; text-align: center; }
td.strong { color: #fff; }
td.none { color: var(--faint); opacity: .55; }
@media (prefers-color-scheme: dark) { td.strong { color: #101014; } }
thead th { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; padding: .3rem 0; font-weight: 400; }
tbody th { text-align: right; padding-right: .4rem; font-weight: 400; white-space: nowrap; }
tr.chosen th { color: var(--mark); font-weight: 700; }
"""

SCRIPT = """
const { tokens, weights } = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const percent = (share) => Math.round(share / 10) + ' %';
let chosen = null, pinned = null;

function matrix() { return weights[byId('layer').value][byId('head').value]; }

function add(parent, tag, text, attributes) {
  const svg = tag === 'line' || tag === 'svg';
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  if (text !== null) element.textContent = text;
  for (const name in attributes || {}) element.setAttribute(name, attributes[name]);
  return parent.appendChild(element);
}

function drawLines() {
  const svg = byId('lines');
  svg.replaceChildren();
  svg.setAttribute('viewBox', '0 0 100 ' + tokens.length);
  matrix().forEach((row, source) => row.forEach((share, target) => {
    if (share < 20 && chosen === null || share < 5 || chosen !== null && chosen !== source) return;
    add(svg, 'line', null, { x1: 0, y1: source + 0.5, x2: 100, y2: target + 0.5,
      'stroke-width': 0.5 + 5 * share / 1000, 'stroke-opacity': Math.min(1, 0.12 + share / 1000),
      'vector-effect': 'non-scaling-stroke' });
  }));
  document.querySelectorAll('.target').forEach((item, target) => {
    const share = chosen === null ? 0 : matrix()[chosen][target] / 1000;
    item.style.background = 'rgba(var(--heat), ' + share + ')';
  });
  document.querySelectorAll('.source').forEach((button, source) =>
    button.setAttribute('aria-pressed', source === pinned));
}

function drawTable() {
  const body = byId('heat'), most = Math.max(...matrix().flat());
  body.replaceChildren();
  matrix().forEach((row, source) => {
    const line = add(body, 'tr', null, source === chosen ? { class: 'chosen' } : {});
    add(line, 'th', tokens[source], { scope: 'row' });
    row.forEach((share, target) => {
      const title = tokens[source] + ' → ' + tokens[target] + ': ' + percent(share);
      const cell = add(line, 'td', Math.round(share / 10), { title });
      cell.style.background = 'rgba(var(--heat), ' + share / most + ')';
      cell.className = share > 0.55 * most ? 'strong' : share < 5 ? 'none' : '';
    });
  });
}

function speak() {
  if (chosen === null) {
    byId('said').textContent =
      'Point at a token on the left, or go there with Tab, to see where it looks. Enter keeps it.';
    return;
  }
  const order = tokens.map((token, target) => [matrix()[chosen][target], token, target]).sort((a, b) => b[0] - a[0]);
  const told = order.slice(0, 5).map(([share, token, target]) => token + ' (' + (target + 1) + ') ' + percent(share));
  byId('said').textContent = 'Token ' + (chosen + 1) + ', ' + tokens[chosen] + ', attends to: ' + told.join(', ') + '.';
}

function draw() { drawLines(); drawTable(); speak(); }

function choose(token) { chosen = token === null ? pinned : token; drawLines(); speak();
  document.querySelectorAll('#heat tr').forEach((line, source) => line.classList.toggle('chosen', source === chosen)); }

function step(by) {
  const heads = weights[0].length, all = weights.length * heads;
  const now = (Number(byId('layer').value) * heads + Number(byId('head').value) + by + all) % all;
  byId('layer').value = Math.floor(now / heads);
  byId('head').value = now % heads;
  draw();
}

weights.forEach((_, layer) => add(byId('layer'), 'option', layer + 1, { value: layer }));
weights[0].forEach((_, head) => add(byId('head'), 'option', head + 1, { value: head }));
tokens.forEach((token, place) => {
  const button = add(add(byId('sources'), 'li', null), 'button', token, { class: 'source', type: 'button' });
  button.addEventListener('mouseenter', () => choose(place));
  button.addEventListener('mouseleave', () => choose(null));
  button.addEventListener('focus', () => choose(place));
  button.addEventListener('blur', () => choose(null));
  button.addEventListener('click', () => { pinned = pinned === place ? null : place; choose(place); });
  add(byId('targets'), 'li', token, { class: 'target' });
  add(byId('columns'), 'th', token, { scope: 'col' });
});
byId('layer').addEventListener('change', draw);
byId('head').addEventListener('change', draw);
byId('previous').addEventListener('click', () => step(-1));
byId('next').addEventListener('click', () => step(1));
draw();
"""

BODY = """
<main>
<h1>Where does each token look?</h1>
<p class="faint">__COUNTS__ Each token shares out 100 % of its attention in every head.</p>
<div class="controls">
<label>Layer <select id="layer"></select></label>
<label>Head <select id="head"></select></label>
<button type="button" id="previous">← Previous head</button>
<button type="button" id="next">Next head →</button>
</div>
<p id="said" role="status" aria-live="polite"></p>
<div class="views">
<section><h2>From left to right: which token attends to which</h2>
<div class="lines"><ol id="sources"></ol><svg id="lines" preserveAspectRatio="none" aria-hidden="true"></svg>
<ol id="targets" aria-hidden="true"></ol></div></section>
<section><h2>The same in numbers: percent, row by row</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Attention in percent"><table>
<thead><tr id="columns"><td></td></tr></thead><tbody id="heat"></tbody></table></div></section>
</div>
<noscript><p>This page needs JavaScript to draw. All of it is in this file, and nothing is fetched.</p></noscript>
</main>
"""


def attention_page(weights: Tensor, tokens: Sequence[str], title: str = "Attention") -> str:
    """A whole HTML page for the weights [L, H, T, T] of one text. Raises UserError for a text too long for a page."""
    numbers = checked(weights, tokens, dimensions=4)
    if numbers.size > MOST_NUMBERS:
        raise UserError(
            f"{numbers.size:,} attention weights are too many for a page of at most {MOST_NUMBERS:,}: shorten the text."
        )
    layers, heads = numbers.shape[:2]
    data = {"tokens": list(tokens), "weights": (numbers * 1000).round().astype(int).tolist()}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")  # no </script> inside
    counts = f"{layers} layers of {heads} heads, {len(tokens)} tokens."
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>{BODY.replace('__COUNTS__', counts)}"
        f'<script type="application/json" id="data">{text}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n'
    )
