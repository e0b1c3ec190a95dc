"""A small world of true facts: countries, animals, elements, trades, and words with two senses."""

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeVar

from bertedu.corpora.documents import Corpus, Document
from bertedu.corpora.world.documents import (
    entities,
    entity_document,
    list_document,
    list_length,
    lists,
    theme_document,
    themes,
)
from bertedu.corpora.world.probes import fact_probes
from bertedu.corpora.world.senses import scene, sense_examples, senses
from bertedu.corpora.world.sentences import Part, random_for

__all__ = ["world_corpus"]

T = TypeVar("T")
# With 0.9 million a run of 7 M tokens learned templates by heart, and knew fewer facts in unseen ones.
TRAIN_CHARACTERS = 2_000_000
HELD_OUT_SENTENCES = 2_000
VALIDATION_SENTENCES = 500
# The share of the text (not of the documents) that each shape of document gets.
SHARES = {"entity": 0.26, "list": 0.24, "theme": 0.39, "scene": 0.11}

NOTES = [
    "The sentences are made from tables of facts and templates, both written for this course.",
    "held-out documents: templates and facts of training, but no sentence of training.",
    "unseen templates: facts of training, in templates that training never shows.",
    "Unseen templates are drawn at random; each is three words or more from every training template of its relation.",
    "Their words are known: each stands in two training templates of the relation, or in those of eight relations.",
    "Fact probes use unseen templates; an answer is right if it is the one in the tables of this world.",
    "Validation and held-out documents are drawn from the same held-out sentences and share some.",
]


def rounds(things: Sequence[T], random: Random) -> Iterator[T]:
    """All things again and again, each round in another order, so that none comes up much more than another."""
    while True:
        yield from random.sample(things, len(things))


def document_makers(part: Part, random: Random) -> dict[str, Iterator[Document | None]]:
    """For each shape of document an endless row of documents, None where nothing fits."""
    # A list comes up so often that each of its rows is told equally often, and twice as often where there are no
    # documents about single things; a theme as often as it has relations, so that small tables are learned too.
    described = {kind.name for kind, _ in entities()}
    all_lists = [
        (kind, relation, rows)
        for kind, relation, rows in lists()
        for _ in range(math.ceil(len(rows) / list_length(rows)) * (1 if kind.name in described else 2))
    ]
    all_themes = [relations for relations in themes() for _ in relations]
    return {
        "entity": (entity_document(kind, row, part, random) for kind, row in rounds(entities(), random)),
        "list": (list_document(*entry, part, random) for entry in rounds(all_lists, random)),
        "theme": (theme_document(relations, part, random) for relations in rounds(all_themes, random)),
        "scene": (scene(sense, part, random) for sense in rounds(senses(), random)),
    }


def make_documents(part: Part, random: Random, size: int, measure: Callable[[Document], int]) -> list[Document]:
    """Different documents of all shapes, shuffled, until their measures add up to `size`."""
    documents: dict[Document, None] = {}
    for shape, made_documents in document_makers(part, random).items():
        made = 0
        for document in made_documents:
            if document is not None and document not in documents:
                documents[document] = None
                made += measure(document)
            if made >= SHARES[shape] * size:
                break
    shuffled = list(documents)
    random.shuffle(shuffled)
    return shuffled


def characters(document: Document) -> int:
    """How long a document is, with a space or line end after each sentence."""
    return sum(len(sentence) + 1 for sentence in document.sentences)


def sentence_count(document: Document) -> int:
    """How many sentences a document has."""
    return len(document.sentences)


def world_corpus(seed: int = 0) -> Corpus:
    """The small world, the same for the same seed everywhere: about 2 MB of training text."""
    train = make_documents(Part.TRAIN, random_for(seed, "train"), TRAIN_CHARACTERS, characters)
    standing = {sentence for document in train for sentence in document.sentences}

    def made(part: Part, purpose: str, sentences: int) -> list[Document]:
        return make_documents(part, random_for(seed, purpose), sentences, sentence_count)

    return Corpus(
        name="world",
        train=train,
        validation=made(Part.HELD_OUT, "validation", VALIDATION_SENTENCES),
        heldout={
            "held-out documents": made(Part.HELD_OUT, "held-out documents", HELD_OUT_SENTENCES),
            "unseen templates": made(Part.UNSEEN, "unseen templates", HELD_OUT_SENTENCES),
        },
        fact_probes=fact_probes(20, random_for(seed, "probes")),
        sense_reference=sense_examples(Part.TRAIN, 60, random_for(seed, "reference"), standing),
        sense_heldout=sense_examples(Part.UNSEEN, 25, random_for(seed, "senses")),
        notes=list(NOTES),
    )
