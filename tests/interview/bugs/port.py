"""Other right repairs of the lab `port`, and wrong ones: changes of the repaired program."""

SPLIT = "x.reshape(x.shape[0], x.shape[1], HEADS, SIZE // HEADS).transpose(1, 2)"
JOIN = "x.transpose(1, 2).flatten(2)"
SCALE = "(SIZE // HEADS) ** 0.5"
MASKED = "    return scores.masked_fill(~mask[:, None, None, :], -1e9).softmax(dim=-1) @ value"
NORM = """        scale = (centred.pow(2).mean(dim=-1, keepdim=True) + 1e-5).sqrt()
        return centred / scale * self.weight + self.bias
"""

ACCEPTED = {
    "torch's own functions": [
        (SPLIT, "x.unflatten(-1, (HEADS, -1)).movedim(2, 1)"),
        (MASKED, "    return F.scaled_dot_product_attention(query, key, value, mask[:, None, None, :])"),
        (NORM, "        return F.layer_norm(hidden, (SIZE,), self.weight, self.bias)\n"),
    ],
    "chunks": [(SPLIT, "torch.stack(x.chunk(HEADS, dim=-1), dim=1)"), (SCALE, "query.shape[-1] ** 0.5")],
}
WRONG = {
    "joined as it was split": (
        [(SPLIT, "x.reshape(x.shape[0], HEADS, x.shape[1], SIZE // HEADS)"), (JOIN, "x.reshape(x.shape[0], -1, SIZE)")],
        "after the split other tokens have changed",
    ),
    "no transpose": ([(SPLIT, SPLIT.removesuffix(".transpose(1, 2)"))], "`split_heads` gives [2, 5, 4, 8]"),
    "the number of heads": ([(SCALE, "HEADS ** 0.5")], "largest attention weight"),
    "no root": ([(SCALE, "(SIZE // HEADS)")], "largest attention weight"),
    "all dimensions": ([("pow(2).mean(dim=-1, keepdim=True)", "pow(2).mean(dim=(1, 2), keepdim=True)")], "left out"),
    "both over tokens": ([("dim=-1, keepdim=True", "dim=1, keepdim=True")], "left out the last two tokens"),
    "divided by n - 1": (
        [("(centred.pow(2).mean(dim=-1, keepdim=True) + 1e-5).sqrt()", "hidden.std(-1, keepdim=True)")],
        "after the norm, not 1",
    ),
    "queries masked": ([("~mask[:, None, None, :]", "~mask[:, None, :, None]")], "padding has attention weights"),
    "no activation": ([("F.gelu(self.up(hidden))", "self.up(hidden)")], "the layers still differ"),
}
