"""Exercise 5.5: Repair the loader."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "5.5",
    "Repair the loader",
    difficulty=3,
    minutes=8,
    hints=(
        "Which entries of the file does TensorFlow store as [in, out] and PyTorch as [out, in]? Look at the names.",
        "The last part of the name tells which tensors to transpose, and nothing else does: a square matrix has the "
        "same shape both ways, and an embedding table can be square too.",
    ),
)
def as_torch(case: Case) -> None:
    """Kernels wide and square, tables, vectors, and a head that has two axes and is no kernel."""
    wide, square = case.randn(4, 16), case.randn(4, 4)
    layer = "bert/encoder/layer_0"
    rule = "TensorFlow stores a kernel as [in, out], PyTorch as [out, in]. Which kernels need to be transposed?"
    result = case.call(f"{layer}/intermediate/dense/kernel", wide, tried="a kernel [4, 16] of the feed-forward network")
    case.same_shape("the tensor", result, wide.T, rule)
    reshaped = "You changed the shape without moving the numbers (reshape or view). Swap the two axes instead."
    case.close("the tensor", result, wide.T, rule, mistakes={reshaped: wide.reshape(16, 4)})
    for name in ("attention/self/query", "attention/self/key", "attention/self/value", "attention/output/dense"):
        result = case.call(f"{layer}/{name}/kernel", square, tried=f"the kernel [4, 4] of {name}")
        words = "You returned it unchanged. A square matrix fits both ways, so its shape cannot tell you. What can?"
        case.close("the tensor", result, square.T, rule, mistakes={words: square})
    result = case.call("bert/pooler/dense/kernel", square, tried="the pooler's kernel [4, 4]")
    words = "You returned the pooler's kernel unchanged. It is a kernel like those of attention."
    case.close("the tensor", result, square.T, rule, mistakes={words: square})
    for name, table in (("word_embeddings", case.randn(9, 4)), ("position_embeddings", square)):
        result = case.call(f"bert/embeddings/{name}", table, tried=f"{name}, a table {list(table.shape)}")
        words = "An embedding table has a row for each id in both libraries. Not everything with two axes is a kernel."
        case.same_shape("the tensor", result, table, words)
        case.close("the tensor", result, table, words)
    for name in ("attention/self/query/bias", "output/LayerNorm/gamma", "output/LayerNorm/beta"):
        vector = case.randn(4)
        result = case.call(f"{layer}/{name}", vector, tried=f"a vector, {name}")
        case.close("the tensor", result, vector, "A vector cannot be transposed: return it as it is.")
    _check_the_heads(case, rule)
    case.close_with("With it, the suspect becomes the model that it was made from.")


def _check_the_heads(case: Case, rule: str) -> None:
    """Google's classifiers are called output_weights, and are [out, in] already: `matmul(…, transpose_b=True)`."""
    for head in ("cls/seq_relationship", "cls/squad"):
        weights = case.randn(2, 4)
        result = case.call(f"{head}/output_weights", weights, tried=f"{head}/output_weights, [2, 4]")
        words = "The output_weights of a head are no kernel: Google stores them as [out, in] already."
        case.same_shape("the tensor", result, weights, words)
        case.close("the tensor", result, weights, words)
    square = case.randn(4, 4)
    result = case.call("cls/predictions/transform/dense/kernel", square, tried="the kernel [4, 4] of the MLM head")
    case.close("the tensor", result, square.T, rule)
