"""Exercise 5.3: Translate the names."""

import re

import torch

from bertedu.checkpoints.names import to_transformers
from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.model import BertModel


def explained(theirs: str, got: str) -> str:
    """What a wrong name looks like."""
    if got == theirs:
        return "You returned it unchanged. Which part of it has another name here?"
    if "feed_forward" in got and "attention.output" in theirs:
        return (
            "`output.dense` and `output.LayerNorm` each occur twice in a layer. This one belongs to attention. "
            "Which of the two replacements has to come first?"
        )
    if "output.norm" in got or "attention.norm" in got or (".norm" in got and "encoder" in theirs):
        return "`LayerNorm` has three names here: norm, attention_norm and feed_forward_norm. What comes before it?"
    if "encoder.layer." in got:
        return "The layers are called `encoder.layers` here, with an s."
    if theirs.startswith("pooler"):
        return "The pooler has the same names on both sides. Which replacement changes it?"
    if "intermediate" in got:
        return "`intermediate.dense` is the first feed-forward layer. What is it called in the left column?"
    if "_embeddings" in theirs:
        return "The embedding tables are called token, position and token_type here."
    if "self" in got.split("."):
        return "There is no `self` level here: the projections are in `attention` itself."
    if got.endswith(".dense.weight") or got.endswith(".dense.bias"):
        return "There is no `dense` level here, except in the pooler."
    return "Compare it part by part with the two columns above."


@exercise(
    "5.3",
    "Translate the names",
    difficulty=2,
    minutes=15,
    without=("from_transformers",),
    hints=(
        "Make a list of pairs (their part, our part) and replace one after another. Which parts contain others?",
        "The order matters: attention.output.LayerNorm and attention.output.dense come before output.LayerNorm and "
        "output.dense. A name that is already attention.output must not be changed again.",
    ),
)
def our_name(case: Case) -> None:
    """All names of twelve layers, so that two digits are among them."""
    config = BertConfig(vocab_size=3, hidden_size=2, num_hidden_layers=12, num_attention_heads=1, intermediate_size=2)
    with torch.device("meta"):
        ours = list(BertModel(config).state_dict())
    for expected in sorted(ours, key=lambda name: [int(n) for n in re.findall(r"\d+", name)]):
        theirs = to_transformers(expected)
        got = case.call(theirs, tried=repr(theirs))
        case.is_a("the name", got, str, "a text")
        if got != expected:
            if re.search(r"\.[1-9]\d*\.", expected):
                case.fail(
                    f"But you returned {said(got)}, and it should be {said(expected)}.",
                    "Layer 0 is right. Did you fix the number of the layer somewhere, or read it as one digit only?",
                )
            case.fail(f"But you returned {said(got)}, and it should be {said(expected)}.", explained(theirs, got))
    case.tried = [f"all {len(ours)} names of a BERT with 12 layers"]
