"""Answers to the drill masked-attention: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def plainly(x, w_q, w_k, w_v, w_o, num_heads, mask, axis=-1, hidden=None, scale=None, split=None, join=None):
    B, T, D = x.shape
    split = split or (lambda y: y.view(B, T, num_heads, D // num_heads).transpose(1, 2))
    join = join or (lambda y: y.transpose(1, 2).reshape(B, T, D))
    query, key, value = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    scores = query @ key.transpose(-2, -1) / (scale or (D // num_heads) ** 0.5)
    if hidden is None:
        hidden = mask[:, None, None, :] == 0
    scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    return join(scores.softmax(axis) @ value) @ w_o


def head_by_head(x, w_q, w_k, w_v, w_o, heads, mask):
    d = x.shape[-1] // heads
    outputs = []
    for text, keep in zip(x, mask.bool(), strict=True):
        parts = []
        for h in range(heads):
            own = slice(h * d, (h + 1) * d)
            keys, values = (text @ w_k)[keep][:, own], (text @ w_v)[keep][:, own]
            weights = torch.softmax((text @ w_q)[:, own] @ keys.T / d**0.5, dim=1)
            parts.append(weights @ values)
        outputs.append(torch.cat(parts, dim=1) @ w_o)
    return torch.stack(outputs)


def with_einsum(x, w_q, w_k, w_v, w_o, H, mask):
    D = x.shape[-1]
    q, k, v = (torch.einsum("btd,dhe->bhte", x, w.reshape(D, H, D // H)) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bhqe,bhke->bhqk", q, k) * (D // H) ** -0.5
    bias = torch.zeros_like(mask, dtype=x.dtype).masked_fill(mask == 0, float("-inf"))
    weights = (scores + bias[:, None, None]).softmax(-1)
    return torch.einsum("bhqk,bhke,hed->bqd", weights, v, w_o.reshape(H, D // H, D))


def undivided(*inputs):
    return plainly(*inputs, scale=1)


def divided_by_the_whole_size(*inputs):
    return plainly(*inputs, scale=inputs[0].shape[-1] ** 0.5)


def over_the_queries(*inputs):
    return plainly(*inputs, axis=-2)


def view_alone(x, w_q, w_k, w_v, w_o, H, mask):
    B, T, D = x.shape
    return plainly(x, w_q, w_k, w_v, w_o, H, mask, split=lambda y: y.view(B, H, T, D // H))


def reshaped_back(*inputs):
    return plainly(*inputs, join=lambda y: y.reshape(inputs[0].shape))


def view_after_the_swap(*inputs):
    return plainly(*inputs, join=lambda y: y.transpose(1, 2).view(inputs[0].shape))


def no_last_projection(x, w_q, w_k, w_v, w_o, H, mask):
    return plainly(x, w_q, w_k, w_v, torch.eye(x.shape[-1], dtype=x.dtype), H, mask)


def unmasked(*inputs):
    return plainly(*inputs, hidden=torch.tensor(False))


def inverted(*inputs):
    return plainly(*inputs, hidden=inputs[-1][:, None, None, :] == 1) if (inputs[-1] == 0).any() else plainly(*inputs)


def hides_the_queries(*inputs):
    return plainly(*inputs, hidden=inputs[-1][:, None, :, None] == 0)


def hides_queries_and_keys(x, w_q, w_k, w_v, w_o, H, mask):
    B, T, D = x.shape
    q, k, v = ((x @ w).view(B, T, H, D // H).transpose(1, 2) for w in (w_q, w_k, w_v))
    both = mask[:, None, :, None] * mask[:, None, None, :]
    weights = (q @ k.mT / (D // H) ** 0.5).masked_fill(both == 0, float("-inf")).softmax(-1)
    return (weights @ v).transpose(1, 2).reshape(B, T, D) @ w_o


def causal(*inputs):
    length = inputs[0].shape[1]
    later = torch.ones(length, length).triu(1).bool() if (inputs[-1] == 0).any() else torch.tensor(False)
    return plainly(*inputs, hidden=later | (inputs[-1][:, None, None, :] == 0))


def minus_a_billion(x, w_q, w_k, w_v, w_o, H, mask):
    B, T, D = x.shape
    q, k, v = ((x @ w).view(B, T, H, D // H).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = (q @ k.mT / (D // H) ** 0.5).masked_fill(mask[:, None, None] == 0, -1e9)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ w_o


def bias_of_float32(x, w_q, w_k, w_v, w_o, H, mask):
    B, T, D = x.shape
    q, k, v = ((x @ w).view(B, T, H, D // H).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = q @ k.mT / (D // H) ** 0.5 + (1.0 - mask[:, None, None]) * -10000.0
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ w_o


def bias_as_google(x, w_q, w_k, w_v, w_o, H, mask):
    B, T, D = x.shape
    q, k, v = ((x @ w).view(B, T, H, D // H).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = q @ k.mT / (D // H) ** 0.5 + (1.0 - mask[:, None, None].to(x.dtype)) * -10000.0
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ w_o


def with_torch(x, w_q, w_k, w_v, w_o, H, mask):
    q, k, v = ((x @ w).unflatten(-1, (H, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    mixed = scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :].bool())
    return mixed.transpose(1, 2).flatten(-2) @ w_o


def with_the_weights(*inputs):
    return plainly(*inputs), None


ANSWERS = {
    "masked-attention": {
        "accepted": [plainly, head_by_head, with_einsum, bias_as_google],
        "wrong": [
            (undivided, "not divided by √d"),
            (divided_by_the_whole_size, "You divide by √D"),
            (over_the_queries, "runs over the queries"),
            (view_alone, "mixes the tokens"),
            (reshaped_back, "swap H and T back"),
            (view_after_the_swap, "use reshape"),
            (no_last_projection, "w_o is missing"),
            (unmasked, "Padding is attended to"),
            (inverted, "The mask is inverted"),
            (hides_the_queries, "hide the queries of padding"),
            (hides_queries_and_keys, "Hide the keys only"),
            (causal, "A causal mask"),
            (minus_a_billion, "does not fit into the dtype"),
            (bias_of_float32, "A part became float32"),
            (with_torch, "uses torch's `scaled_dot_product_attention`"),
            (with_the_weights, "the output only"),
        ],
    },
}
