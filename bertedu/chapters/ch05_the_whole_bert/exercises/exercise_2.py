"""Exercise 5.2: 110 million by formula."""

from itertools import combinations

from torch import Tensor

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


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
        "half of every LayerNorm (it has a weight and a bias)": norms // 2,
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
        (
            whole - one - two,
            f"{one + two} parameters are missing, as many as in two parts together: {one} ({names[one]}) and {two} "
            f"({names[two]}).",
        )
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
