"""The family: BERT and its successors. A member is a file here, which says what it changes and reuses the rest of BERT,
and an entry below: this is where a member is registered.

The command line reads the entries for its help, so nothing here needs torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bertedu.registry import ARCHITECTURES


@dataclass(frozen=True)
class Member:
    """Where a member of the family is, and how it is pre-trained.

    module holds its ARCHITECTURE; name is how its authors write it; about says what changes against BERT, for the help.
    objective is its own; refused says why others would be wrong. initializations are those that fit, the default of the
    small sizes first. pairs is the kind of sentence pairs that it was published with. published holds the settings of
    base and large in which it differs from BERT. wordpiece: its vocabulary is learned with or without capitals.
    """

    module: str
    name: str
    about: str
    objective: str = "words"
    initializations: tuple[str, ...] = ("published",)
    pairs: str = "next"
    published: Mapping[str, Any] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    wordpiece: bool = False


# "matching" needs positions that are part of a token's vector, and a first layer with weights of its own: DeBERTa,
# ModernBERT and XLNet have relative positions, and ALBERT's first layer is its last one, too. "neighbors" was measured
# with BERT alone, and "counted" also gives the segments and the next sentence a job, which BERT alone has.
MATCHING = ("matching", "published")
MEMBERS = {
    "bert": Member(
        "bertedu.model.heads",
        "BERT",
        "attention in both directions; WordPiece",
        "pairs",
        ("neighbors", "matching", "counted", "published"),
        wordpiece=True,
    ),
    "roberta": Member(
        "bertedu.family.roberta",
        "RoBERTa",
        "the same layers, a better recipe: no pairs; byte-level BPE",
        initializations=MATCHING,
        published={"vocab_size": 50265},
    ),
    "xlm-roberta": Member(
        "bertedu.family.xlm_roberta",
        "XLM-R",
        "RoBERTa for many languages: one vocabulary of Unigram pieces",
        initializations=MATCHING,
        published={"vocab_size": 250002},
    ),
    "albert": Member(
        "bertedu.family.albert",
        "ALBERT",
        "one layer, run L times, small embeddings: fewer weights, no less work",
        "pairs",
        pairs="order",
        published={"vocab_size": 30000, "dropout": 0.0},
    ),
    "distilbert": Member(
        "bertedu.family.distilbert",
        "DistilBERT",
        "half of the layers, no segments: twice as fast",
        initializations=MATCHING,
        wordpiece=True,
    ),
    "electra": Member(
        "bertedu.family.electra",
        "ELECTRA",
        "learns from every token, not from the masked ones alone",
        "replaced-tokens",
        MATCHING,
        wordpiece=True,
    ),
    "deberta": Member(
        "bertedu.family.deberta.v1",
        "DeBERTa",
        "attention scores what a token is and how far away it is, each apart",
        wordpiece=True,
    ),
    "deberta-v2": Member(
        "bertedu.family.deberta.v2",
        "DeBERTa v2",
        "the same for far more tokens: far distances share a vector",
        published={"vocab_size": 128100},
    ),
    "modernbert": Member(
        "bertedu.family.modernbert.model",
        "ModernBERT",
        "rotary positions, gates, norms before the layers, local attention",
        published={"vocab_size": 50368, "dropout": 0.0, "mask_rates": (0.3, 0.3)},
    ),
    "xlnet": Member(
        "bertedu.family.xlnet",
        "XLNet",
        "words in a random order, each from those before it; relative positions",
        "permutation",
        published={"vocab_size": 32000},
        refused=dict.fromkeys(
            ("pairs", "words", "spans"),
            "masked words train its content stream, and it predicts words with its query stream",
        ),
    ),
}

for model_type, member in MEMBERS.items():
    ARCHITECTURES.add(model_type, member.module)
