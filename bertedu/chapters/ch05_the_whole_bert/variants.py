"""Variants of chapter 5: the parameters of another encoder, and a file that stores query, key and value together."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations

from torch import Tensor

from bertedu.config import BertConfig
from bertedu.course.case import Case, plain
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

# What differs from BERT, and what is said to somebody who counts it as in BERT.
BIASES = {
    "no biases": "No linear layer has a bias.",
    "no query biases": "The projections to query and key have no bias (all other linear layers have one).",
    "no shifts": "LayerNorm has a scale, and no shift (no bias).",
}
BODIES = {
    "gated": "The feed-forward network has **three** linear layers: two from D to the inner size, whose outputs are "
    "multiplied, and one back to D.",
    "factorized": "All three embedding tables have rows of **E = {E}** numbers, and so has their LayerNorm. A linear "
    "layer from E to D follows it.",
    "shared": "All layers of the encoder share **one** set of parameters.",
}
ENDS = {
    "no pooler": "There is no pooler.",
    "no token types": "There are no token types, whatever `type_vocab_size` is.",
    "a head": "The masked-word head counts too: a linear layer from D to {width}, a LayerNorm of {width} numbers, and "
    "one number for each word of the vocabulary. Its matrix of words is that of the embeddings.",
}
CONFIGS = {
    "7 layers, D = 12, inner size 29, V = 223, 19 positions, 5 token types": BertConfig(
        vocab_size=223,
        hidden_size=12,
        num_hidden_layers=7,
        num_attention_heads=3,
        intermediate_size=29,
        max_position_embeddings=19,
        type_vocab_size=5,
    ),
    "BERT-Base": BertConfig(),
}


def pieces(config: BertConfig, changes: Collection[str], rows: int) -> dict[str, int]:
    """The parameters of each part of the whole model, E = rows where the embeddings are factorized."""
    D, inner, V = config.hidden_size, config.intermediate_size, config.vocab_size
    layers = 1 if "shared" in changes else config.num_hidden_layers
    width = rows if "factorized" in changes else D
    norm = 1 if "no shifts" in changes else 2
    bias = "no biases" not in changes
    query_bias = bias and "no query biases" not in changes
    up = 2 if "gated" in changes else 1
    parts = {
        "the token embeddings": V * width,
        "the position embeddings": config.max_position_embeddings * width,
        "the token type embeddings": ("no token types" not in changes) * config.type_vocab_size * width,
        "the LayerNorm of the embeddings": norm * width,
        "the linear layer from E to D": ("factorized" in changes) * (width * D + bias * D),
        "the weights of query, key and value": layers * 3 * D * D,
        "the biases of query and key": layers * query_bias * 2 * D,
        "the biases of value": layers * bias * D,
        "attention's output projection": layers * (D * D + bias * D),
        "the weights of the feed-forward networks": layers * (up + 1) * D * inner,
        "the biases of the feed-forward networks": layers * bias * (up * inner + D),
        "the two LayerNorms of each layer": layers * 2 * norm * D,
        "the pooler": ("no pooler" not in changes) * (D * D + bias * D),
    }
    if "a head" in changes:
        parts["the linear layer of the head"] = D * width + bias * width
        parts["the LayerNorm of the head"] = norm * width
        parts["the number for each word in the head"] = V
    return {name: count for name, count in parts.items() if count}


def counting(draws: Draws) -> Variant:
    """The number of parameters of an encoder that differs from BERT in three ways."""
    rows = draws.pick((48, 64, 128))
    changes = {name: said for group in (BIASES, BODIES, ENDS) for name, said in [draws.pick(list(group.items()))]}
    width = "E" if "factorized" in changes else "D"
    told = {name: said.format(E=rows, width=width) for name, said in changes.items()}

    def total(config: BertConfig, kept: Collection[str]) -> int:
        return sum(pieces(config, kept, rows).values())

    def examine(case: Case) -> None:
        for tried, config in CONFIGS.items():
            got = case.call(config, tried=tried)
            case.is_a("the count", got, int | float | Tensor, "a number")
            wanted, parts = total(config, changes), pieces(config, changes, rows)
            mistakes = [(total(config, ()), COPIED.format(number="5.2"))]
            for pair in combinations(changes, 2):
                (left,) = set(changes) - set(pair)
                mistakes.append((total(config, pair), f"You counted one thing as in BERT. Here: {told[left]}"))
            for kept in changes:
                both = " ".join(said for name, said in told.items() if name != kept)
                mistakes.append((total(config, {kept}), f"You counted two things as in BERT. Here: {both}"))
            for count in parts.values():
                name = " or ".join(one for one, size in parts.items() if size == count)
                mistakes.append((wanted - count, f"Exactly {count} parameters are missing: {name}."))
                mistakes.append((wanted + count, f"Exactly {count} are too many: did you count {name} twice?"))
            more = "less" if isinstance(plain(got), int | float) and plain(got) > wanted else "more"
            advice = f"There should be {more}. Print your parts, and compare each with its layer."
            case.equal("the count", got, wanted, advice, mistakes=mistakes)

    listed = "\n".join(f"- {said}" for said in told.values())
    text = (
        "Write `count_parameters(config)`: the number of parameters of an encoder that is built like BERT with its "
        f"pooler and without heads, except for this:\n\n{listed}\n\n"
        "The config has the fields `vocab_size`, `max_position_embeddings`, `type_vocab_size`, `hidden_size` (D), "
        "`intermediate_size` (the inner size) and `num_hidden_layers`. Compute from its numbers alone."
    )
    hints = (
        "Write BERT's parts as a sum of named lines first. Which lines does each point of the list change?",
        "A linear layer from n to m has n · m weights and m biases, a LayerNorm of n numbers n scales and n shifts.",
    )
    exercise = Exercise("5.11", "The parameters of another encoder", 2, 15, hints, examine)
    return Variant(exercise, text, "def count_parameters(config):")


PARTS = ("query", "key", "value")
ORDERS = tuple(
    (one, other, last) for one in PARTS for other in PARTS for last in PARTS if len({one, other, last}) == 3
)[1:]  # without query, key, value


@dataclass(frozen=True)
class Layout:
    """How a file stores the three projections of a layer: their order, whether their outputs come in turn (q, k, v,
    q, k, v, …) or one projection after the other, whether kernels are [in, out], and the number of the first block."""

    order: tuple[str, ...]
    in_turn: bool
    inputs_first: bool
    first: int

    def thirds(self, outputs: Tensor) -> dict[str, Tensor]:
        """The rows of each projection from [3D, …]."""
        size = len(outputs) // 3
        found = [outputs[at::3] if self.in_turn else outputs[at * size :][:size] for at in range(3)]
        return dict(zip(self.order, found, strict=True))

    def entries(self, name: str, tensor: Tensor) -> dict[str, Tensor]:
        """One entry of the file as entries of a BERT in transformers."""
        block, _, rest = name.partition(".")
        if not block.startswith("block"):
            return {name: tensor}
        kind = "bias" if rest.endswith("bias") else "weight"
        oriented = tensor.T if self.inputs_first and kind == "weight" else tensor
        stem = f"encoder.layer.{int(block.removeprefix('block')) - self.first}.attention"
        if rest.startswith("out"):
            return {f"{stem}.output.dense.{kind}": oriented}
        return {f"{stem}.self.{part}.{kind}": some for part, some in self.thirds(oriented).items()}

    def wrong(self, name: str, tensor: Tensor) -> dict[str, dict[str, Tensor]]:
        """What known mistakes give, by the sentence about each."""
        arrangement = "in turn" if self.in_turn else "one projection after the other"
        found = {
            f"The order in the file is {', '.join(self.order)}.": replace(self, order=PARTS).entries(name, tensor),
            f"The 3·D outputs come {arrangement}.": replace(self, in_turn=not self.in_turn).entries(name, tensor),
        }
        if ".qkv.kernel" in name and self.inputs_first:
            reshaped = replace(self, inputs_first=False).entries(name, tensor.reshape(tensor.T.shape))
            found["reshape keeps the numbers in their order. Swap the two axes instead."] = reshaped
        right = self.entries(name, tensor)
        if tensor.ndim == 2:
            orientation = (
                "[in, out]: transpose them" if self.inputs_first else "[out, in] already: don't transpose them"
            )
            found[f"The kernels of the file are {orientation}."] = {key: one.T for key, one in right.items()}
        return found


def examine_entry(case: Case, layout: Layout, name: str, tensor: Tensor) -> None:
    """One entry of the file: the names first, then each tensor."""
    got = case.call(name, tensor, tried=f"{name}, {list(tensor.shape)}")
    if isinstance(got, Tensor):
        case.fail("But a tensor came back.", COPIED.format(number="5.5"), "A dictionary from name to tensor is asked.")
    case.is_a("the result", got, dict, "a dictionary from name to tensor")
    wanted = layout.entries(name, tensor)
    if got.keys() != wanted.keys():
        examine_names(case, layout, name, tensor, list(got))
    if name in wanted:
        advice = "An entry that doesn't belong to a block comes back as it is. Its shape can't tell you, its name can."
        case.same_shape(name, got[name], tensor, advice)
        case.close(name, got[name], tensor, advice)
        return
    axis = 1 if layout.inputs_first and tensor.ndim == 2 else 0
    advice = f"The outputs lie along axis {axis} of the tensor in the file."
    for key, right in wanted.items():
        case.same_shape(key, got[key], right, advice)
        mistakes = {said: wrong[key] for said, wrong in layout.wrong(name, tensor).items()}
        case.close(key, got[key], right, advice, mistakes=mistakes)


def examine_names(case: Case, layout: Layout, name: str, tensor: Tensor, got: list) -> None:
    """Say what is wrong with the names."""
    wanted = layout.entries(name, tensor)
    missing = next((one for one in wanted if one not in got), None)
    if missing is None:
        case.fail(f"But there are {len(got)} entries, and {len(wanted)} are expected: {', '.join(wanted)}.")
    came = f"But there is no entry {missing!r}. Yours: {', '.join(map(repr, got))[:160] or 'none'}."
    if name in wanted:
        case.fail(came, "Entries that don't belong to a block come back unchanged, under their own name.")
    if layout.first and any(replace(layout, first=0).entries(name, tensor).keys() & {one} for one in got):
        case.fail(came, "Blocks are numbered from 1 in this file, layers from 0.")
    case.fail(came, "Is the number of the block read as a whole, and is each part of the name right?")


def splitting(draws: Draws) -> Variant:
    """Entries of a file that stores query, key and value of a layer in one matrix."""
    layout = Layout(draws.pick(ORDERS), draws.pick((True, False)), draws.pick((True, False)), draws.pick((0, 1)))

    def examine(case: Case) -> None:
        for number in (layout.first, 11):
            wide = case.randn(6, 18) if layout.inputs_first else case.randn(18, 6)
            examine_entry(case, layout, f"block{number}.qkv.kernel", wide)
            examine_entry(case, layout, f"block{number}.qkv.bias", case.randn(18))
            examine_entry(case, layout, f"block{number}.out.kernel", case.randn(6, 6))
            examine_entry(case, layout, f"block{number}.out.bias", case.randn(6))
        for name, size in (("embeddings.token", (18, 6)), ("pooler.weight", (6, 6)), ("embeddings.scale", (18,))):
            examine_entry(case, layout, name, case.randn(*size))

    shape = "[D, 3·D] ([in, out])" if layout.inputs_first else "[3·D, D] ([out, in])"
    orientation = "[in, out] too" if layout.inputs_first else "[out, in] too"
    initials = ", ".join(part[0] for part in layout.order)
    arranged = (
        f"The 3·D outputs come **in turn**: the first of {', the first of '.join(layout.order)}, then the second of "
        f"each, and so on ({initials}, {initials}, …)"
        if layout.in_turn
        else f"Of the 3·D outputs, the first D belong to **{layout.order[0]}**, the next D to **{layout.order[1]}**, "
        f"and the last D to **{layout.order[2]}**"
    )
    text = (
        "A file stores the query, key and value projection of a layer as one. Its entries are "
        f"`block{layout.first}.qkv.kernel` of shape {shape}, `block{layout.first}.qkv.bias` [3·D], "
        f"`block{layout.first}.out.kernel` [D, D] ({orientation}) and `block{layout.first}.out.bias` [D], and so on: "
        f"the blocks are numbered from **{layout.first}**. {arranged}; the same holds for the bias.\n\n"
        "Write `entries(name, tensor)`. It gets one entry of the file and returns a dictionary from name to tensor, "
        "as `transformers` needs them. A `qkv` gives three: `encoder.layer.0.attention.self.query.weight`, and so on "
        "for `key` and `value`, or with `bias`. An `out` gives one: `encoder.layer.0.attention.output.dense.weight` "
        "or `….bias`. Layers are numbered from 0, and weights are [out, in]. Any other entry of the file comes back "
        "as it is, under its own name."
    )
    hints = (
        "Bring the kernel into [out, in] first. Then its rows are the outputs, as the numbers of the bias are.",
        "With the outputs on axis 0: tensor[i::3] takes every third row, tensor.chunk(3) makes three blocks of rows.",
    )
    exercise = Exercise("5.12", "Three projections in one matrix", 3, 15, hints, examine)
    return Variant(exercise, text, "def entries(name, tensor):")


MAKERS = {"5.11": counting, "5.12": splitting}
