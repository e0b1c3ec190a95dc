"""The page of a pre-training run as HTML."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from bertedu.checkpoints.folder import GENERATOR
from bertedu.visualization.page import (
    document,
    duration,
    facts_html,
    figure_html,
    list_html,
    results_html,
    verdict_html,
)
from bertedu.visualization.results import Result

NAMES = {"documentation": "the documentation on one machine", "world": "a small world of facts"}
MASK = re.compile(r"\[MASK\]|&lt;mask&gt;")  # as the members of the family write it, escaped
TRAINED = {"BERT": "a BERT", "ELECTRA": "an ELECTRA and its generator", "XLNet": "an XLNet"}
CURVES = (
    "Figures on the training text (blue, means over some steps) and on validation text (orange). Dotted: what n-gram "
    "baselines reach on the held-out text. "
)
OF_WORDS = "Fewer and fewer words are masked while training goes on, so the blue curves get easier with time."
OF_REPLACED = (
    "Masked words are the generator's task, replaced tokens the discriminator's: is this the token of the text, or one "
    "that was sampled from the generator? The better the generator, the fewer tokens are replaced and the harder they "
    "are to find, so these figures do not tell which of two runs is better: fine-tune both and compare."
)
OF_ORDER = (
    "One of six words is predicted, each from the words that are not and from those that come before it in a random "
    "order. The words that a masked model would be asked for are asked for on the validation text alone, all hidden at "
    "once: compare these, not the words in a random order, with the figures of another model."
)
OF_PAIRS = "Accuracy on pairs is not balanced here: always saying the more frequent answer would get more than 50 %."
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
) -> str:
    """The whole page. pictures: <img> tags by name, "curves" (if there are any) and "attention"."""
    name = NAMES.get(metrics["corpus"], metrics["corpus"])
    detects = has_detection(metrics)
    about_curves = OF_REPLACED if detects else OF_ORDER if has_ordering(metrics) else OF_WORDS
    if has_pairs(metrics):
        about_curves += f" {OF_PAIRS}"
    curves = (
        figure_html(pictures["curves"], CURVES + about_curves)
        if "curves" in pictures
        else "<p>The run was too short for curves.</p>"
    )
    try_out, title = examples[0][0], f"What a small {member(metrics)} has learned from "
    sections = [
        f"<h1>{title}{escape(name)}</h1>\n<p class='summary'>{escape(summary(metrics))}</p>",
        f"<h2>What it can do on text that it never saw</h2>\n{held_out_html(rows)}",
        f"<h2>{'What the generator fills in' if detects else 'Fill in the mask'}</h2>\n{examples_html(examples)}",
        f"<h2>How training went</h2>\n{curves}",
        f"<h2>Where it looks</h2>\n{figure_html(pictures['attention'], ATTENTION)}",
        f"<h2>How it was made</h2>\n{facts_html(facts)}",
        f"<h2>How to go on</h2>\n{next_html(folder, try_out, objective(metrics))}",
        f"<h2>What to know about these numbers</h2>\n{notes_html(metrics)}",
    ]
    return document(f"{title}{name}", sections)


def held_out_html(rows: Sequence[Result]) -> str:
    """The table of results, and in words what was not beaten."""
    if not rows:
        return "<p>The corpus was too small to hold anything out: there is nothing to report.</p>"
    caption = "Each number beside what needs no network. Perplexity: lower is better."
    return results_html(rows, caption) + verdict_html(rows)


def has_pairs(metrics: Mapping[str, Any]) -> bool:
    """Whether the model was asked about pairs; one that was pre-trained with masked words alone was not."""
    return any("pairs" in figures for figures in metrics["evaluation"].values())


def has_detection(metrics: Mapping[str, Any]) -> bool:
    """Whether the model was asked which tokens a generator had replaced."""
    return any("detection" in figures for figures in metrics["evaluation"].values())


def has_ordering(metrics: Mapping[str, Any]) -> bool:
    """Whether the model was asked for words in a random order."""
    return any("ordering" in figures for figures in metrics["evaluation"].values())


def member(metrics: Mapping[str, Any]) -> str:
    """What was trained."""
    return "ELECTRA" if has_detection(metrics) else "XLNet" if has_ordering(metrics) else "BERT"


def objective(metrics: Mapping[str, Any]) -> str:
    """What it was trained for, where that is another objective than masked words."""
    return "replaced-tokens" if has_detection(metrics) else "permutation" if has_ordering(metrics) else ""


def summary(metrics: Mapping[str, Any]) -> str:
    """The run in a sentence or two."""
    done = metrics["run"]
    text = (
        f"In {duration(done['seconds'])} {TRAINED[member(metrics)]} with "
        f"{done['parameters']:,} parameters read {done['tokens']:,} tokens"
    )
    figures = next((value for value in metrics["evaluation"].values() if "masked_words" in value), None)
    if figures is None:
        return f"{text}. There was no held-out text to test it on."
    baselines = figures["baselines"]
    if found := figures.get("detection"):
        return (
            f"{text}. In text that it never saw the generator replaced {found['rtd_replaced']:.1%} of the tokens: it "
            f"finds {found['rtd_recall']:.1%} of them, and is right about {found['rtd_accuracy']:.1%} of all tokens. "
            f"Always saying “original” is right about {1 - found['rtd_replaced']:.1%}."
        )
    return (
        f"{text}. On text that it never saw it now fills in {figures['mlm_accuracy']:.1%} of the hidden words; "
        f"always saying the most frequent token gets {baselines['most frequent token']['mlm_accuracy']:.1%}, "
        f"counting neighbours {baselines['n-gram, both sides']['mlm_accuracy']:.1%}."
    )


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


def next_html(folder: str, try_out: str, objective: str = "") -> str:
    """Commands to copy, for a model that was trained for this objective."""
    name, text = escape(folder), escape(try_out)
    longer = f"--objective {objective} " if objective else ""
    checkpoint = f"{name}/checkpoint/{GENERATOR}" if objective == "replaced-tokens" else f"{name}/checkpoint"
    opened = f'from transformers import pipeline\n\npipeline("fill-mask", model="{checkpoint}")("{text}")'
    if objective == "permutation":  # of which <mask> hides nothing: its pipeline would ask the wrong stream
        opened = f'from transformers import XLNetLMHeadModel\n\nXLNetLMHeadModel.from_pretrained("{checkpoint}")'
    return (
        f'<p>Ask it:</p><pre><code>bertedu fill-mask "{text}" --model {name}\n'
        f'bertedu attention "The first text." "The second text." --model {name} --html attention.html</code></pre>'
        "<p>Train longer, in a new folder:</p>"
        f"<pre><code>bertedu pretrain {longer}--minutes 10 --output runs/longer</code></pre>"
        f"<p>Open it in transformers:</p><pre><code>{opened}</code></pre>"
    )


def notes_html(metrics: Mapping[str, Any]) -> str:
    """What a reader of the numbers must know."""
    notes = [
        *metrics.get("notes", []),
        "Every number is of one run with one seed: another seed gives slightly other numbers.",
    ]
    if has_pairs(metrics):
        notes.append("Accuracy on pairs is balanced, the mean over both answers, so that guessing gives 50 %.")
    return list_html(notes)
