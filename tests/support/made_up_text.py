"""A corpus of forty made-up documents, and the plan of a pre-training run of four steps on it."""

import random

from bertedu.corpora.documents import Corpus, Document
from bertedu.pretraining.plan import Plan

TOPICS = ["cats like warm milk and long quiet naps", "ships cross the wide cold sea by night with salt"]


def made_up_corpus(seed: int = 0) -> Corpus:
    rng = random.Random(seed)

    def document(i: int) -> Document:
        words = TOPICS[i % 2].split()
        sentences = tuple(" ".join(rng.sample(words, rng.randint(3, 6))) + " ." for _ in range(rng.randint(2, 6)))
        return Document(sentences, "made up")

    documents = [document(i) for i in range(40)]
    return Corpus("made-up", documents[:30], documents[30:34], {"held-out documents": documents[34:]})


def plan(folder, **options) -> Plan:
    given = {"steps": 4, "vocab_size": 120, "max_length": 24, "batch_size": 8, "device": "cpu", "precision": "fp32"}
    return Plan.from_options(**{**given, **options, "output": folder})
