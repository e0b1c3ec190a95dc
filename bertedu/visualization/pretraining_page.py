"""The page of a pre-training run as HTML."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from bertedu.checkpoints.folder import GENERATOR
from bertedu.pretraining.members import article
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
OF_SPANS = (
    "Spans of neighbouring words are hidden together. The masked-word head guesses each word from its own vector, the "
    "boundary head from the vectors of the two visible tokens around the span alone. It is asked for fewer words (none "
    "in spans at either end of a text), so compare the two heads in the table above, which has them on the same words."
)
OF_ORDER = (
    "Some words are predicted, each from those that are not and from those that come before it in a random order. The "
    "words that a masked model would be asked for are asked for on the validation text alone, all hidden at once: "
    "compare these, not the words in a random order, with the figures of another model."
)
OF_DISTILLATION = (
    "The student learns to predict what its teacher does, for hidden tokens and for those that it can see: the KL "
    "divergence says how far it is from that. Dotted too: what the teacher reaches on masked words."
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
    member: str = "BERT",
    longer: str = "",
) -> str:
    """The whole page. pictures: <img> tags by name, "curves" (if there are any) and "attention". member: the name of
    the member of the family; longer: the options with which another run is of the same kind.
    """
    name = NAMES.get(metrics["corpus"], metrics["corpus"])
    detects, teacher = has(metrics, "detection"), facts["Model"].get("teacher", "")
    curves = (
        figure_html(pictures["curves"], CURVES + about_curves(metrics, bool(teacher)))
        if "curves" in pictures
        else "<p>The run was too short for curves.</p>"
    )
    try_out = examples[0][0]
    title = f"What a small {member} has learned from {'its teacher and ' if teacher else ''}"
    sections = [
        f"<h1>{title}{escape(name)}</h1>\n<p class='summary'>{escape(summary(metrics, member))}</p>",
        f"<h2>What it can do on text that it never saw</h2>\n{held_out_html(rows)}",
        f"<h2>{'What the generator fills in' if detects else 'Fill in the mask'}</h2>\n{examples_html(examples)}",
        f"<h2>How training went</h2>\n{curves}",
        f"<h2>Where it looks</h2>\n{figure_html(pictures['attention'], ATTENTION)}",
        f"<h2>How it was made</h2>\n{facts_html(facts)}",
        f"<h2>How to go on</h2>\n{next_html(folder, try_out, member, GENERATOR if detects else '', longer)}",
        f"<h2>What to know about these numbers</h2>\n{notes_html(metrics)}",
    ]
    return document(f"{title}{name}", sections)


def about_curves(metrics: Mapping[str, Any], taught: bool) -> str:
    """What to know about the curves of a run, by what it was trained for."""
    said = OF_WORDS
    for figure, about in (("detection", OF_REPLACED), ("boundary", OF_SPANS), ("ordering", OF_ORDER)):
        said = about if has(metrics, figure) else said
    if has(metrics, "pairs"):
        said += f" {OF_PAIRS}"
    return f"{said} {OF_DISTILLATION}" if taught else said


def held_out_html(rows: Sequence[Result]) -> str:
    """The table of results, and in words what was not beaten."""
    if not rows:
        return "<p>The corpus was too small to hold anything out: there is nothing to report.</p>"
    caption = "Each number beside what needs no network. Perplexity: lower is better."
    return results_html(rows, caption) + verdict_html(rows)


def has(metrics: Mapping[str, Any], figure: str) -> bool:
    """Whether the model was asked for this on some held-out text: "pairs", "detection" (of replaced tokens), "boundary"
    (of spans) or "ordering" (permutation).
    """
    return any(figure in figures for figures in metrics["evaluation"].values())


def summary(metrics: Mapping[str, Any], member: str = "BERT") -> str:
    """The run in a sentence or two."""
    done = metrics["run"]
    who = f"{article(member)} and its generator" if has(metrics, "detection") else article(member)
    text = f"In {duration(done['seconds'])} {who} with {done['parameters']:,} parameters read {done['tokens']:,} tokens"
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
    said = (
        f"{text}. On text that it never saw it now fills in {figures['mlm_accuracy']:.1%} of the hidden words; "
        f"always saying the most frequent token gets {baselines['most frequent token']['mlm_accuracy']:.1%}, "
        f"counting neighbours {baselines['n-gram, both sides']['mlm_accuracy']:.1%}."
    )
    if found := figures.get("boundary"):
        said += f" They are hidden in spans of {found['span_length']:.1f} words on average."
        if found["words"]:
            said += (
                f" Of those that have a boundary, the boundary alone tells {found['sbo_accuracy']:.1%}, and the "
                f"masked-word head {found['mlm_accuracy']:.1%}."
            )
    if found := figures.get("distillation"):
        teacher = found["teacher"]
        said += (
            f" Its teacher has {teacher['parameters']:,} parameters and fills in {teacher['mlm_accuracy']:.1%}; both "
            f"give the same answer to {found['mlm_agreement']:.1%}."
        )
    return said


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


def next_html(folder: str, try_out: str, member: str, filler: str = "", longer: str = "") -> str:
    """Commands to copy. filler: where in the checkpoint the model lies that fills masks; the others as in `page`."""
    name, text = escape(folder), escape(try_out)
    checkpoint = f"{name}/checkpoint/{filler}".rstrip("/")
    opened = f'from transformers import pipeline\n\npipeline("fill-mask", model="{checkpoint}")("{text}")'
    if member == "XLNet":  # of which <mask> hides nothing: its pipeline would ask the wrong stream
        opened = f'from transformers import XLNetLMHeadModel\n\nXLNetLMHeadModel.from_pretrained("{checkpoint}")'
    return (
        f'<p>Ask it:</p><pre><code>bertedu fill-mask "{text}" --model {name}\n'
        f'bertedu attention "The first text." "The second text." --model {name} --html attention.html</code></pre>'
        "<p>Train longer, in a new folder:</p>"
        f"<pre><code>bertedu pretrain {escape(longer)}--minutes 10 --output runs/longer</code></pre>"
        f"<p>Open it in transformers:</p><pre><code>{opened}</code></pre>"
    )


def notes_html(metrics: Mapping[str, Any]) -> str:
    """What a reader of the numbers must know."""
    notes = [
        *metrics.get("notes", []),
        "Every number is of one run with one seed: another seed gives slightly other numbers.",
    ]
    if has(metrics, "pairs"):
        notes.append("Accuracy on pairs is balanced, the mean over both answers, so that guessing gives 50 %.")
    if has(metrics, "boundary"):
        notes.append(
            "Words in spans are harder to fill in than single ones, so their accuracy does not compare with that of a "
            "run whose words were hidden one by one; and in a tenth of the spans the words stand as they are, for both "
            "heads. The boundary objective is meant to help afterwards, where answers are spans: in its paper it added "
            "0.1 points of F1 on SQuAD 2.0, which a short run cannot show."
        )
    return list_html(notes)
