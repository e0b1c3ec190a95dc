"""What the front page and the map are made of: the chapters with their pictures and times, and facts for machines."""

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from bertedu.address import SITE
from bertedu.website.chapters import Stored

PARTS = (
    ("Build", "00", "05", "Your own BERT, which gives the same numbers as Hugging Face transformers."),
    ("Pre-train and look inside", "06", "09", "A BERT that you trained on plain text, and tools to look into it."),
    ("Fine-tune", "10", "13", "Models that classify, tag, answer questions and compare texts."),
    ("The family", "14", "21", "What came before BERT and after it, each as its difference from BERT."),
    ("In the world", "22", "25", "Many GPUs, a service, the same BERT in JAX, and the interview."),
)
SHOWN = re.compile(r'<img class="figure"[^>]*src="\.\./([^"]+)"')
DRAWN = re.compile(r"!\[[^\]]*(?:\[[^\]]*\][^\]]*)*\]\(/(pictures/[^)\s]+)\)")
SENTENCE_END = re.compile(r"(?<=[.?!])(?<!al\.)\s")
SAYS_WHAT_YOU_DO = re.compile(r"\byou (?!are|have)|this chapter", re.IGNORECASE)


def promise(one: Stored) -> str:
    """The first sentences of a chapter, up to the one that says what the reader will do."""
    text = re.sub(r"!\[.*?\]\([^)]*\)", "", one.learner.cells[0].source.partition("\n")[2], flags=re.DOTALL).strip()
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)|[*`]", r"\1", " ".join(text.partition("\n\n")[0].split()))
    sentences = SENTENCE_END.split(text)
    last = next((place for place, sentence in enumerate(sentences) if SAYS_WHAT_YOU_DO.search(sentence)), 0)
    return " ".join(sentences[: last + 1])


def first_picture(page: NotebookNode) -> str | None:
    """The address, from the root of the site, of the first picture on the page of a chapter."""
    for cell in page.cells:
        if cell.cell_type == "markdown" and (found := DRAWN.search(cell.source)):
            return f"_images/{Path(found[1]).name}"  # where Sphinx puts it
        for output in cell.get("outputs", []):
            if found := SHOWN.search(output.get("data", {}).get("text/html", "")):
                return found[1]
    return None


def chapter_map(chapters: Sequence[tuple[Stored, NotebookNode]]) -> str:
    """All chapters as cards, part by part: picture, promise, times, and a tick if the reader has finished it."""
    parts = []
    for title, first, last, after in PARTS:
        cards = "".join(card(one, page) for one, page in chapters if first <= one.chapter.number[:2] <= last)
        parts.append(
            f"## {title}\n\n*After it you have:* {after}\n\n```{{raw}} html\n<ol class='map'>{cards}</ol>\n```\n"
        )
    return "\n".join(parts)


def card(one: Stored, page: NotebookNode) -> str:
    """One chapter on the map."""
    chapter = one.chapter
    picture = first_picture(page)
    image = f"<img src='../{picture}' alt='' loading='lazy'>" if picture else ""
    return (
        f"<li data-chapter='{chapter.number}'><a href='{chapter.name}.html'><span class='thumb'>{image}</span>"
        f"<strong>{chapter.number} · {escape(chapter.title)}</strong></a><p>{escape(promise(one))}</p>"
        f"<small>{str(chapter.sittings).capitalize()}</small></li>"
    )


def course_facts(chapters: Sequence[Stored], description: str) -> str:
    """The course in the words of schema.org, as search engines read it."""
    hours = round(sum(one.chapter.everything for one in chapters) / 60)
    facts: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Course",
        "name": "Build BERT yourself",
        "description": description,
        "url": SITE,
        "inLanguage": "en",
        "isAccessibleForFree": True,
        "license": "https://creativecommons.org/licenses/by/4.0/",
        "provider": {"@type": "Organization", "name": "The bertedu authors", "url": SITE},
        "educationalLevel": "Intermediate",
        "teaches": [one.chapter.title for one in chapters],
        "offers": {"@type": "Offer", "price": 0, "priceCurrency": "USD", "category": "Free"},
        "hasCourseInstance": {"@type": "CourseInstance", "courseMode": "Online", "courseWorkload": f"PT{hours}H"},
        "hasPart": [
            {
                "@type": "LearningResource",
                "name": one.chapter.title,
                "position": number,
                "url": f"{SITE}{one.page}.html",
                "timeRequired": f"PT{one.chapter.core}M",
            }
            for number, one in enumerate(chapters)
        ],
    }
    return json.dumps(facts, ensure_ascii=False)
