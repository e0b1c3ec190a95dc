"""The page of a pre-training run as HTML."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from bertedu.pretraining.members import article
from bertedu.registry import OBJECTIVES
from bertedu.visualization.page import (
    document,
    duration,
    facts_html,
    figure_html,
    list_html,
    results_html,
    verdict_html,
)
from bertedu.visualization.results import Result, objectives_in

NAMES = {"documentation": "the documentation on one machine", "world": "a small world of facts"}
MASK = re.compile(r"\[MASK\]|&lt;mask&gt;")  # as the members of the family write it, escaped
CURVES = (
    "Figures on the training text (blue, means over some steps) and on validation text (orange). Dotted: what n-gram "
    "baselines reach on the held-out text. "
)
ATTENTION = (
    "All attention heads on two sentences. Each row of a square is one token; the darker a field, the more of its "
    "attention goes to the token of that column. Dark is the largest share in its own square."
)


def page(
    folder: str,
    metrics: Mapping[str, Any],
    rows: Sequence[Result],
    facts: Mapping[str, Mapping[str, str]],
    examples: Sequence[tuple[str, Sequence[tuple[str, float]]]],
    pictures: Mapping[str, str],
    member: str = "BERT",
    longer: str = "",
    objective: str = "words",
    opened_as: str = "",
    playground: str = "",
) -> str:
    """The whole page. pictures: <img> tags by name, "curves" (if there are any) and "attention". member: the name of
    the member of the family; longer: the options with which another run is of the same kind; objective: what it was
    trained for, by name; opened_as: the class in `transformers` of a member of which no pipeline fills masks;
    playground: the page beside this one on which the model answers.
    """
    name = NAMES.get(metrics["corpus"], metrics["corpus"])
    teacher, objectives = facts["Model"].get("teacher", ""), objectives_of(metrics, objective)
    filler = next(((one.filler_name, one.filler_folder) for one in objectives if one.filler_folder), ("", ""))
    about = " ".join(one.about_curves for one in objectives)
    curves = (
        figure_html(pictures["curves"], CURVES + about)
        if "curves" in pictures
        else "<p>The run was too short for curves.</p>"
    )
    try_out = examples[0][0]
    title = f"What a small {member} has learned from {'its teacher and ' if teacher else ''}"
    sections = [
        f"<h1>{title}{escape(name)}</h1>\n<p class='summary'>{escape(summary(metrics, objectives, member))}</p>",
        f"<h2>What it can do on text that it never saw</h2>\n{held_out_html(rows)}",
        f"<h2>{f'What the {filler[0]} fills in' if filler[1] else 'Fill in the mask'}</h2>\n{examples_html(examples)}",
        f"<h2>How training went</h2>\n{curves}",
        f"<h2>Where it looks</h2>\n{figure_html(pictures['attention'], ATTENTION)}",
        f"<h2>How it was made</h2>\n{facts_html(facts)}",
        f"<h2>How to go on</h2>\n{next_html(folder, try_out, filler[1], longer, opened_as, playground)}",
        f"<h2>What to know about these numbers</h2>\n{notes_html(metrics, objectives)}",
    ]
    return document(f"{title}{name}", sections)


def objectives_of(metrics: Mapping[str, Any], objective: str) -> list[Any]:
    """What the run was trained for: of which there are figures, or else by its name."""
    found = dict.fromkeys(one for figures in metrics["evaluation"].values() for one in objectives_in(figures))
    return [*found] or [OBJECTIVES[objective]]


def held_out_html(rows: Sequence[Result]) -> str:
    """The table of results, and in words what was not beaten."""
    if not rows:
        return "<p>The corpus was too small to hold anything out: there is nothing to report.</p>"
    caption = "Each number beside what needs no network. Perplexity: lower is better."
    return results_html(rows, caption) + verdict_html(rows)


def summary(metrics: Mapping[str, Any], objectives: Sequence[Any], member: str = "BERT") -> str:
    """The run in a sentence or two."""
    done = metrics["run"]
    parts = "".join(f" and its {one.filler_name}" for one in objectives if one.filler_folder)
    text = (
        f"In {duration(done['seconds'])} {article(member)}{parts} with {done['parameters']:,} parameters read "
        f"{done['tokens']:,} tokens"
    )
    figures = next((value for value in metrics["evaluation"].values() if "masked_words" in value), None)
    if figures is None:
        return f"{text}. There was no held-out text to test it on."
    baselines = figures["baselines"]
    said = (
        f"On text that it never saw it now fills in {figures['mlm_accuracy']:.1%} of the hidden words; "
        f"always saying the most frequent token gets {baselines['most frequent token']['mlm_accuracy']:.1%}, "
        f"counting neighbours {baselines['n-gram, both sides']['mlm_accuracy']:.1%}."
    )
    for objective in objectives_in(figures):
        said = objective.summary(figures, said)
    return f"{text}. {said}"


def examples_html(examples: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> str:
    """The guesses for each prompt as bars with their numbers."""
    items = []
    for prompt, answers in examples:
        bars = "".join(
            f"<li><span>{escape(word)}</span><span><span class='bar' style='width:{share:.1%}'></span></span>"
            f"<span>{share:.1%}</span></li>"
            for word, share in answers
        )
        marked = MASK.sub(r"<mark>\g<0></mark>", escape(prompt))
        items.append(f"<li>{marked}<ol>{bars}</ol></li>")
    return f"<ul class='answers'>{''.join(items)}</ul>"


def next_html(
    folder: str, try_out: str, filler: str = "", longer: str = "", opened_as: str = "", playground: str = ""
) -> str:
    """A link, and commands to copy. filler: where in the checkpoint the model lies that fills masks; the others as in
    `page`.
    """
    name, text = escape(folder), escape(try_out)
    checkpoint = f"{name}/checkpoint/{filler}".rstrip("/")
    opened = f'from transformers import pipeline\n\npipeline("fill-mask", model="{checkpoint}")("{text}")'
    if opened_as:  # <mask> hides nothing from it: a pipeline would ask the wrong stream
        opened = f'from transformers import {opened_as}\n\n{opened_as}.from_pretrained("{checkpoint}")'
    touched = (
        f'<p><a href="{escape(playground)}">Ask it on a page of its own</a>: hide words, look inside, change a part. '
        "The page needs no network.</p>"
    )
    return (touched if playground else "") + (
        f'<p>Ask it:</p><pre><code>bertedu fill-mask "{text}" --model {name}\n'
        f'bertedu attention "The first text." "The second text." --model {name} --html attention.html</code></pre>'
        "<p>Train longer, in a new folder:</p>"
        f"<pre><code>bertedu pretrain {escape(longer)}--minutes 10 --output runs/longer</code></pre>"
        f"<p>Open it in transformers:</p><pre><code>{opened}</code></pre>"
    )


def notes_html(metrics: Mapping[str, Any], objectives: Sequence[Any]) -> str:
    """What a reader of the numbers must know."""
    notes = [
        *metrics.get("notes", []),
        "Every number is of one run with one seed: another seed gives slightly other numbers.",
    ]
    notes += [one.caveat for one in objectives if one.caveat]
    return list_html(notes)
