"""What a model can be pre-trained for, and which member of the family for what.

The command line reads this for its help, so nothing here needs torch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bertedu.errors import UserError

# The module of each objective's task and its class, imported by `objectives/__init__.py`.
OBJECTIVES = {
    "pairs": "bertedu.pretraining.objectives.sentence_pairs.MaskedWordsAndPairs",
    "words": "bertedu.pretraining.objectives.masked_words.MaskedWords",
    "spans": "bertedu.pretraining.objectives.spans.Spans",
    "replaced-tokens": "bertedu.pretraining.objectives.replaced_tokens.ReplacedTokens",
    "permutation": "bertedu.pretraining.objectives.permutation.PermutationLanguageModel",
    "distillation": "bertedu.pretraining.objectives.distillation.Distillation",  # every member that learns masked words
}
# Why an objective is for one member alone.
FOR_ONE_ALONE = {
    "permutation": "it takes a second stream of vectors, which know where a word stands and not which, and XLNet alone "
    "has that",
}
INITIALIZATIONS = ("published", "matching", "neighbors", "counted")


@dataclass(frozen=True)
class Member:
    """How a member of the family is pre-trained.

    name is how its authors write it; about says what changes against BERT, for the help. objectives are those that it
    can be trained for, its own first; refused says why another one would be wrong. initializations are those that fit,
    the default of the small sizes first. pairs is the kind of sentence pairs that it was published with. published
    holds the settings of base and large in which it differs from BERT.
    """

    name: str
    about: str
    objectives: tuple[str, ...]
    initializations: tuple[str, ...] = ("published",)
    pairs: str = "next"
    published: Mapping[str, Any] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


# "matching" needs positions that are part of a token's vector, and a first layer with weights of its own: DeBERTa,
# ModernBERT and XLNet have relative positions, and ALBERT's first layer is its last one, too. "neighbors" was measured
# with BERT alone, and "counted" also gives the segments and the next sentence a job, which BERT alone has.
MATCHING = ("matching", "published")
MEMBERS: dict[str, Member] = {
    "bert": Member(
        "BERT",
        "attention in both directions; WordPiece",
        ("pairs", "words", "spans"),
        ("neighbors", "matching", "counted", "published"),
    ),
    "roberta": Member(
        "RoBERTa",
        "the same layers, a better recipe: no pairs; byte-level BPE",
        ("words", "spans"),
        MATCHING,
        published={"vocab_size": 50265},
    ),
    "xlm-roberta": Member(
        "XLM-R",
        "RoBERTa for many languages: one vocabulary of Unigram pieces",
        ("words", "spans"),
        MATCHING,
        published={"vocab_size": 250002},
    ),
    "albert": Member(
        "ALBERT",
        "one layer, run L times, small embeddings: fewer weights, no less work",
        ("pairs", "words", "spans"),
        pairs="order",
        published={"vocab_size": 30000, "dropout": 0.0},
    ),
    "distilbert": Member("DistilBERT", "half of the layers, no segments: twice as fast", ("words", "spans"), MATCHING),
    "electra": Member(
        "ELECTRA",
        "learns from every token, not from the masked ones alone",
        ("replaced-tokens", "words", "spans"),
        MATCHING,
    ),
    "deberta": Member(
        "DeBERTa",
        "attention scores what a token is and how far away it is, each apart",
        ("words", "spans"),
    ),
    "deberta-v2": Member(
        "DeBERTa v2",
        "the same for far more tokens: far distances share a vector",
        ("words", "spans"),
        published={"vocab_size": 128100},
    ),
    "modernbert": Member(
        "ModernBERT",
        "rotary positions, gates, norms before the layers, local attention",
        ("words", "spans"),
        published={"vocab_size": 50368, "dropout": 0.0, "mask_rates": (0.3, 0.3)},
    ),
    "xlnet": Member(
        "XLNet",
        "words in a random order, each from those before it; relative positions",
        ("permutation",),
        published={"vocab_size": 32000},
        refused=dict.fromkeys(
            ("pairs", "words", "spans"),
            "masked words train its content stream, and it predicts words with its query stream",
        ),
    ),
}

# Those whose vocabulary is learned with or without capitals.
WORDPIECE = ("bert", "distilbert", "electra", "deberta")


def member(architecture: str) -> Member:
    """How a member is pre-trained, by its model_type. Raises UserError for one that is not there."""
    if architecture not in MEMBERS:
        raise UserError(f"there is no architecture {architecture!r}: choose one of {', '.join(MEMBERS)}.")
    return MEMBERS[architecture]


def trained_for(objective: str) -> list[str]:
    """The members that can be trained for an objective: first those whose own it is."""
    found = [name for name, one in MEMBERS.items() if objective in one.objectives]
    return sorted(found, key=lambda name: MEMBERS[name].objectives[0] != objective)


def default_architecture(objective: str) -> str:
    """BERT, where it can be trained for an objective, and else the member whose own it is."""
    return "bert" if not objective or objective in MEMBERS["bert"].objectives else trained_for(objective)[0]


def options(architecture: str, objective: str) -> str:
    """The options of `bertedu pretrain` that choose a member and its objective, each with a space after it; those that
    are the defaults are left out.
    """
    chosen = "" if architecture == "bert" else f"--architecture {architecture} "
    return chosen if objective in ("", *member(architecture).objectives[:1]) else f"{chosen}--objective {objective} "


def check_objective(architecture: str, objective: str) -> None:
    """Raise UserError where a member cannot be trained for an objective; "" stands for the member's own."""
    of = member(architecture)
    if objective in ("", *of.objectives):
        return
    why = of.refused.get(objective) or FOR_ONE_ALONE.get(objective)
    raise UserError(
        f"{article(of.name)} cannot be trained for {objective!r}{f' ({why})' if why else ''}: choose the objective "
        f"{one_of(of.objectives)}, or for {objective!r} the architecture {one_of(trained_for(objective))}."
    )


def article(name: str) -> str:
    """A name with the article that it is spoken with: "a BERT", "an ALBERT", "an XLNet"."""
    return f"{'an' if name[0] in 'AEX' else 'a'} {name}"


def one_of(names: Iterable[str]) -> str:
    """Names as a choice: "pairs or words"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def members_table() -> str:
    """A line for each member, for the help: model_type, its objectives, and what changes against BERT."""
    rows = [("MODEL_TYPE", "objectives", "what changes")]
    rows += [(name, ", ".join(one.objectives), one.about) for name, one in MEMBERS.items()]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(f"  {name:{first}}  {objectives:{second}}  {about}" for name, objectives, about in rows)
