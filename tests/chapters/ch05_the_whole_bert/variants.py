"""Answers to the variants of chapter 5: see test_classroom_variants.py."""

from support.variant_facts import found

COUNT = """
def count_parameters(config):
    D, inner, V = config.hidden_size, config.intermediate_size, config.vocab_size
    L = 1 if shared else config.num_hidden_layers
    E = rows or D
    tables = V + config.max_position_embeddings + (0 if no_types else config.type_vocab_size)

    def linear(n, m, biased=True):
        return n * m + m * (biased and biases)

    def norm(n):
        return n if no_shifts else 2 * n

    total = tables * E + norm(E) + (linear(E, D) if rows else 0)
    attention = 2 * linear(D, D, query) + linear(D, D) + linear(D, D)
    feed_forward = (2 if gated else 1) * linear(D, inner) + linear(inner, D)
    total += L * (attention + feed_forward + 2 * norm(D))
    if pooler:
        total += linear(D, D)
    if head:
        total += linear(D, E) + norm(E) + V
    return total
"""
SHAPES = """
def count_parameters(config):
    D, inner, V, E = config.hidden_size, config.intermediate_size, config.vocab_size, rows or config.hidden_size
    shapes = [(V, E), (config.max_position_embeddings, E)]
    if not no_types:
        shapes.append((config.type_vocab_size, E))
    norms, linears = [E], [(E, D)] if rows else []
    for _ in range(1 if shared else config.num_hidden_layers):
        norms += [D, D]
        linears += [(D, D)] * 4 + [(D, inner)] * (2 if gated else 1) + [(inner, D)]
        if not query:
            shapes += [(-1, D), (-1, D)]  # their biases, counted with the linear layers below
    linears += [(D, D)] if pooler else []
    if head:
        linears, norms, shapes = [*linears, (D, E)], [*norms, E], [*shapes, (V,)]
    shapes += linears
    if biases:
        shapes += [(m,) for _, m in linears]
    shapes += [(n,) for n in norms] * (1 if no_shifts else 2)
    return sum(int(torch.tensor(shape).prod()) for shape in shapes)
"""
ENTRIES = """
def entries(name, tensor):
    if not name.startswith("block"):
        return {name: tensor}
    block, part, kind = name.split(".")
    stem = "encoder.layer." + str(int(block[len("block"):]) - first) + ".attention."
    kind = kind.replace("kernel", "weight")
    if kind == "weight" and inputs_first:
        tensor = tensor.T
    if part == "out":
        return {stem + "output.dense." + kind: tensor}
    pieces = [tensor[i::3] for i in range(3)] if in_turn else tensor.chunk(3)
    return {stem + "self." + one + "." + kind: piece for one, piece in zip(order, pieces)}
"""
ENTRIES_EINOPS = """
def entries(name, tensor):
    import re
    match = re.fullmatch(r"block(\\d+)\\.(qkv|out)\\.(kernel|bias)", name)
    if match is None:
        return {name: tensor}
    stem, kind = f"encoder.layer.{int(match[1]) - first}.attention", {"kernel": "weight", "bias": "bias"}[match[3]]
    axis = 1 if inputs_first and kind == "weight" else 0
    size = tensor.shape[axis]
    if match[2] == "out":
        return {f"{stem}.output.dense.{kind}": tensor.movedim(axis, 0)}
    made = {}
    for at, one in enumerate(order):
        wanted = range(at, size, 3) if in_turn else range(at * size // 3, (at + 1) * size // 3)
        made[f"{stem}.self.{one}.{kind}"] = tensor.index_select(axis, torch.tensor(wanted)).movedim(axis, 0)
    return made
"""
PUBLIC_COUNT = """
def count_parameters(config):
    D, inner = config.hidden_size, config.intermediate_size
    tables = config.vocab_size + config.max_position_embeddings + config.type_vocab_size
    layer = 4 * (D * D + D) + 2 * D + D * inner + inner + inner * D + D + 2 * D
    return tables * D + 2 * D + config.num_hidden_layers * layer + D * D + D
"""
AS_IN_BERT = "biases, query, no_shifts = True, True, False"

RIGHT = {
    "5.11": [COUNT, SHAPES],
    "5.12": [ENTRIES, ENTRIES_EINOPS],
}
WRONG = {
    "5.11": {
        PUBLIC_COUNT: r"chapter's exercise 5\.2",
        f"{AS_IN_BERT}\n{COUNT}": r"one thing as in BERT. Here: (No linear|The projections|LayerNorm has)",
        f"gated, rows, shared = False, 0, False\n{COUNT}": r"one thing as in BERT. Here: (The feed|All)",
        f"pooler, no_types, head = True, False, False\n{COUNT}": r"one thing as in BERT. Here: (There|The masked)",
        f"{AS_IN_BERT}\ngated, rows, shared = False, 0, False\n{COUNT}": r"two things as in BERT",
        COUNT.replace("+ norm(E) + (", "+ ("): r"missing: .*the LayerNorm of the embeddings",
        COUNT.replace("linear(D, D, query) + linear(D, D) + linear(D, D)", "linear(D, D, query) + linear(D, D)"): (
            r"missing: .*attention's output projection"
        ),
        COUNT.replace("+ 2 * norm(D)", ""): r"missing: .*the two LayerNorms of each layer",
        COUNT.replace("config.max_position_embeddings", "0"): r"missing: .*the position embeddings",
        COUNT.replace("(attention", "config.num_attention_heads * (attention"): r"There should be less",
    },
    "5.12": {
        "def entries(name, tensor):\n    return tensor.T if name.endswith('/kernel') else tensor": r"exercise 5\.5",
        ENTRIES.replace("zip(order", "zip(('query', 'key', 'value')"): r"The order in the file is",
        ENTRIES.replace("if in_turn", "if not in_turn"): r"The 3·D outputs come",
        ENTRIES.replace("- first", "- first + 1"): r"Is the number of the block|no entry",
        ENTRIES.replace('int(block[len("block"):])', "int(block[5])"): r"read as a whole",
        ENTRIES.replace(
            'return {stem + "output',
            'tensor = tensor.T if tensor.ndim == 2 else tensor\n        return {stem + "output',
        ): r"kernels of the file are \[",
        ENTRIES.replace(": piece for", ": (piece.T if piece.ndim == 2 else piece) for"): r"kernels of the file are \[",
        ENTRIES.replace("return {name: tensor}", "return {name: tensor.T if tensor.ndim == 2 else tensor}"): (
            r"comes back as it is"
        ),
        ENTRIES.replace("return {name: tensor}", "return {}"): r"under their own name",
        ENTRIES.replace("tensor[i::3]", "tensor[..., i::3]").replace("chunk(3)", "chunk(3, dim=-1)"): (
            r"outputs lie along axis \d|come in turn"
        ),
        ENTRIES.replace(
            'if kind == "weight" and inputs_first:\n        tensor = tensor.T',
            (
                "if kind == 'weight' and inputs_first:\n        tensor = tensor.reshape(tensor.shape[::-1])\n"
                "    elif kind == 'weight':\n        tensor = tensor.T"
            ),
        ): r"reshape keeps the numbers|outputs lie along axis|divisible",
    },
}
PUBLIC = {"5.11": "5.2", "5.12": "5.5"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "biases": "No linear layer has a bias" not in text,
        "query": "query and key have no bias" not in text,
        "no_shifts": "no shift" in text,
        "gated": "**three** linear layers" in text,
        "rows": int(found(r"\*\*E = (\d+)\*\*", text) or 0),
        "shared": "share **one** set" in text,
        "pooler": "There is no pooler" not in text,
        "no_types": "no token types" in text,
        "head": "The masked-word head counts" in text,
        "order": order(text),
        "in_turn": "come **in turn**" in text,
        "inputs_first": "[D, 3·D]" in text,
        "first": int(found(r"numbered from \*\*(\d)\*\*", text) or 0),
    }


def order(text):
    """The three projections as they stand in the file."""
    in_turn = [found(r"the first of (\w+)", text), found(r"the first of \w+, the first of (\w+)", text)]
    blocks = [found(r"the first D belong to \*\*(\w+)", text), found(r"the next D to \*\*(\w+)", text)]
    two = in_turn if in_turn[0] else blocks
    return [*two, *({"query", "key", "value"} - set(two))]
