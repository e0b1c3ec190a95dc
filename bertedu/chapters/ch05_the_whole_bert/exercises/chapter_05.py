"""Exercises of chapter 5: the whole BERT."""

import re
from itertools import combinations

import torch
from torch import Tensor, nn

from bertedu.checkpoints.names import to_transformers
from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.model import BertModel


def google_checkpoint(model: BertModel) -> dict[str, Tensor]:
    """The weights of a model as Google's TensorFlow code stores them: its names, its kernels [in, out]."""
    kernels = {f"{name}.weight" for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    file = {}
    for name, tensor in model.state_dict().items():
        theirs = to_transformers(name).replace(".layer.", ".layer_").replace(".", "/")
        if name in kernels:
            file[f"bert/{theirs.removesuffix('weight')}kernel"] = tensor.T.clone()
        elif "LayerNorm" in theirs:
            file[f"bert/{theirs}".replace("/weight", "/gamma").replace("/bias", "/beta")] = tensor.clone()
        else:
            file[f"bert/{theirs.removesuffix('/weight')}"] = tensor.clone()
    return file


@exercise(
    "5.1",
    "More heads",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Which tensors in attention have H in their shape?",
        "The query projection is one linear layer from D to D. What do the heads do with its D outputs?",
    ),
)
def more_heads(case: Case) -> None:
    """288 again: the projections do not depend on the number of heads."""
    case.predicted(
        288,
        otherwise="Write down the shape of the query projection, once for 2 heads and once for 4. Do they differ?",
        mistakes=[
            (576, "That is twice as many, for twice the heads. But d = D / H: what is d with 4 heads?"),
            (568, "That keeps the size d of a head. But d = D / H: what is d with 4 heads?"),
            (144, "That is half as many. Each head is half as wide now, but there are twice as many of them."),
            (
                4 * 288,
                "You multiplied 288 by the number of heads. Does each head have its own projection, or a share of one?",
            ),
            (72, "That is one projection. Attention has four: query, key, value and output."),
            (1088, "That is four projections with D = 16. But D stays 8: what is d with 4 heads?"),
            (256, "That leaves out the biases. The 288 of the question include them."),
            (512, "That leaves out the biases and keeps the size of a head. But d = D / H: what is d with 4 heads?"),
        ],
    )


def pieces(config: BertConfig) -> dict[str, int]:
    """Every part of a BERT that a count can forget, by its name, with its number of parameters in the whole model."""
    D, inner, L = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    return {
        "the token embeddings": config.vocab_size * D,
        "the position embeddings": config.max_position_embeddings * D,
        "the token type embeddings": config.type_vocab_size * D,
        "the LayerNorm of the embeddings": 2 * D,
        "the weights of attention's four projections": L * 4 * D * D,
        "the biases of attention's four projections": L * 4 * D,
        "the two weights of the feed-forward networks": L * 2 * D * inner,
        "the two biases of the feed-forward networks": L * (inner + D),
        "the two LayerNorms of each layer": L * 4 * D,
        "the pooler's weight": D * D,
        "the pooler's bias": D,
    }


def suspects(config: BertConfig) -> list[tuple[int, str]]:
    """What known mistakes would count, and the sentence for each: one missing part, then two together."""
    part, D, L = pieces(config), config.hidden_size, config.num_hidden_layers
    whole, projection = sum(part.values()), D * D + D
    inner = config.intermediate_size
    layers = sum(count for name, count in part.items() if "attention" in name or "two" in name)
    norms = sum(count for name, count in part.items() if "LayerNorm" in name)
    gaps = {
        "the pooler": projection,
        "all biases": sum(count for name, count in part.items() if "bias" in name),
        "all LayerNorms": norms,
        "attention's output projection": L * projection,
        "one of the two LayerNorms in each layer": L * 2 * D,
        "half of every LayerNorm (it has a scale and a shift)": norms // 2,
        "all layers but one": layers - layers // L,
        **part,
    }
    names = {gap: " or ".join(name for name, count in gaps.items() if count == gap) for gap in gaps.values()}
    found = [(whole - gap, f"Exactly {gap} parameters are missing: {name}.") for gap, name in names.items()]
    heads = "You multiplied attention by the number of heads. But the heads share the D × D projections."
    found += [(whole + (config.num_attention_heads - 1) * n * L * projection, heads) for n in (3, 4)]
    as_4d = sum(pieces(BertConfig(**{**vars(config), "intermediate_size": 4 * D})).values())
    found += [
        (as_4d, "You used 4 · D as the inner size. The config has a field of its own for it: intermediate_size."),
        (whole + layers // L, "That is exactly one layer too many."),
        (whole + (L - 1) * projection, "You counted a pooler in each layer. There is one, after the last layer."),
        (
            whole + L * (inner - D),
            "Both biases of your feed-forward networks have the inner size. The second layer has D outputs.",
        ),
        (
            whole - L * (inner - D),
            "Both biases of your feed-forward networks have size D. The first layer has as many as the inner size.",
        ),
        (
            whole + config.vocab_size,
            "You counted a bias for each word. It belongs to a head, and this model has no heads.",
        ),
        (
            whole + config.vocab_size * D,
            "You counted the token embeddings twice. Did you include a decoder? This model has no heads.",
        ),
    ]
    return found + [
        (whole - one - two, f"{one + two} parameters are missing, as many as in two parts: {names[one]}; {names[two]}.")
        for one, two in combinations(names, 2)
    ]


@exercise(
    "5.2",
    "110 million by formula",
    difficulty=2,
    minutes=15,
    without=("BertModel",),
    runs="with package",
    hints=(
        "Go part by part: three embedding tables and a LayerNorm; in each layer four linear layers from D to D, two "
        "between D and the inner size, two LayerNorms; one linear layer in the pooler.",
        "A linear layer from n to m has n * m + m parameters, a LayerNorm 2 * D. Print your parts for `toy` and "
        "compare them with the cell above: 80, 80, 148, 16 (both LayerNorms) and 20.",
    ),
)
def count_parameters(case: Case) -> None:
    """The formula, on configs in which each forgotten part shows."""
    sizes = {"vocab_size": 223, "num_hidden_layers": 7, "intermediate_size": 29, "max_position_embeddings": 19}
    small = BertConfig.preset("tiny", hidden_size=12, **sizes)
    tried = {"7 layers, D = 12, inner size 29, V = 223, 19 positions": small, "BERT-Base": BertConfig()}
    for words, config in tried.items():
        got = case.call(config, tried=words)
        case.is_a("the count", got, (int, float, Tensor), "a number")
        expected = sum(pieces(config).values())
        advice = (
            "No single part explains the difference. Print your parts for `toy` and compare them with the cell above."
        )
        case.equal("the count", got, expected, advice, mistakes=suspects(config))
    more = BertConfig(vocab_size=11, hidden_size=4, num_hidden_layers=1, num_attention_heads=1, type_vocab_size=5)
    expected = sum(pieces(more).values())
    got = case.call(more, tried="1 layer with 5 token types")
    case.equal("the count", got, expected, "Do you read the number of token types from the config (type_vocab_size)?")
    case.close_with(f"BERT-Base: {sum(pieces(BertConfig()).values()):,}.")


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
