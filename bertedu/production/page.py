"""The page at /: one field, one button, and the answer. No script and nothing fetched; all that is shown is escaped."""

import base64
import hashlib
import json
from html import escape
from typing import Any

from bertedu.finetuning.task import ANSWERS, CLASSES, SCORE, SEVERAL

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
label { display: block; margin-top: 1rem; } textarea { width: 100%; box-sizing: border-box; font: inherit; }
button { font: inherit; margin-top: 1rem; padding: 0.3rem 1rem; }
pre { background: #f2f2f2; padding: 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
"""
POLICY = (
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)
TWO = "Second text, if the model compares two"
SECOND = {CLASSES: TWO, SEVERAL: TWO, SCORE: TWO, ANSWERS: "The passage in which to look"}


def page(health: dict[str, Any], text: str = "", pair: str = "", said: Any = None) -> str:
    """The page. said: an answer (JSON), or a sentence that says why there is none."""
    name, use = escape(health["model"] or "a model"), escape(health["use"])
    labels = ", ".join(escape(label) for label in health["labels"])
    first, second = "Question" if health["use"] == ANSWERS else "Text", ""
    if health["use"] in SECOND:
        label = SECOND[health["use"]]
        second = f'<label>{label}<textarea name="pair">\n{escape(pair)}</textarea></label>'
    shown = said if said is None or isinstance(said, str) else json.dumps(said, ensure_ascii=False, indent=2)
    answer = "" if shown is None else f'<h2>Answer</h2>\n<pre role="status">{escape(shown)}</pre>'
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{name}</h1>
<p>Answers with {use}{": " + labels if labels else ""}. Reads up to {health["most_tokens"]:,} tokens.</p>
<form method="post" action="/">
<label>{first}<textarea name="text" rows="5" required>\n{escape(text)}</textarea></label>
{second}
<button>Ask</button>
</form>
{answer}
</body>
</html>
"""
