"""Answers to the variants of chapter 25: see test_classroom_variants.py."""

from support.variant_facts import found

COUNT = """
def parameters(V, P, D, F, L):
    norm = D + D * shift
    embeddings = V * D + P * D * table + norm
    attention = 4 * D * D + 4 * D * biases
    up = D * F + F * biases
    feed_forward = up + up * gated + F * D + D * biases
    layers = 1 if shared else L
    return embeddings + layers * (attention + feed_forward + 2 * norm)
"""
COUNT_SHAPES = """
def parameters(V, P, D, F, L):
    norm = [(D,), (D,)] if shift else [(D,)]
    def linear(inputs, outputs):
        return [(inputs, outputs), (outputs,)] if biases else [(inputs, outputs)]
    layer = [*linear(D, D) * 4, *linear(D, F) * (2 if gated else 1), *linear(F, D), *norm, *norm]
    weights = [(V, D), *([(P, D)] if table else []), *norm, *layer * (1 if shared else L)]
    return sum(torch.Size(one).numel() for one in weights)
"""
PUBLIC_COUNT = """
def parameters(V, P, D, F, L):
    norm = 2 * D
    embeddings = (V + P + 2) * D + norm
    attention = 4 * (D * D + D) + norm
    feed_forward = D * F + F + F * D + D + norm
    return embeddings + L * (attention + feed_forward) + D * D + D
"""
GRADIENT = """
def gradient(logits, labels):
    counts = labels != none
    targets = torch.full_like(logits, smoothing / logits.size(1))
    targets[torch.arange(len(labels))[counts], labels[counts]] += 1 - smoothing
    result = ((logits / temperature).softmax(-1) - targets) / temperature * counts[:, None]
    return result if summed else result / counts.sum()
"""
GRADIENT_LOOP = """
def gradient(logits, labels):
    result, K = torch.zeros_like(logits), logits.size(1)
    for row, (z, label) in enumerate(zip(logits / temperature, labels.tolist())):
        if label == none:
            continue
        powers = (z - z.max()).exp()
        for i in range(K):
            target = smoothing / K + (1 - smoothing if i == label else 0)
            result[row, i] = (powers[i] / powers.sum() - target) / temperature
    return result if summed else result / sum(label != none for label in labels.tolist())
"""
PUBLIC_GRADIENT = """
def gradient(logits, labels):
    counts = labels != -100
    one_hot = torch.zeros_like(logits)
    one_hot[counts, labels[counts]] = 1
    return (logits.softmax(dim=-1) - one_hot) * counts.unsqueeze(-1) / counts.sum()
"""

RIGHT = {
    "25.11": [COUNT, COUNT_SHAPES],
    "25.12": [GRADIENT, GRADIENT_LOOP],
}
WRONG = {
    "25.11": {
        PUBLIC_COUNT: r"the chapter's exercise 25\.1",
        COUNT.replace("up * gated", "up * (not gated)"): r"matrices in a feed-forward",
        COUNT.replace("biases", "(not biases)"): r"linear layer has",
        COUNT.replace("D * shift", "D * (not shift)"): r"A normalization has",
        COUNT.replace("D * table", "D * (not table)"): r"table of positions",
        COUNT.replace("if shared", "if not shared"): r"share their weights",
        COUNT.replace("feed_forward + 2 * norm)", "feed_forward + 2 * norm) + D * D + D"): r"no pooler",
        COUNT.replace("2 * norm", "norm"): r"two normalizations",
    },
    "25.12": {
        PUBLIC_GRADIENT: r"the chapter's exercise 25\.3",
        GRADIENT.replace(") / temperature * counts", ") * counts"): r"The factor 1/",
        GRADIENT.replace("(logits / temperature)", "logits"): r"lack the temperature",
        GRADIENT.replace("(logits / temperature)", "logits").replace(") / temperature", ")"): r"temperature is missing",
        GRADIENT.replace("smoothing / logits.size(1)", "0").replace("1 - smoothing", "1"): r"not smoothed",
        GRADIENT.replace("smoothing / logits.size(1)", "smoothing / (logits.size(1) - 1)").replace("+=", "="): (
            r"shared the rest"
        ),
        GRADIENT.replace("+=", "="): r"part of the equal shares",
        GRADIENT.replace("if summed", "if not summed"): r"losses of the rows",
        GRADIENT.replace(" * counts[:, None]", ""): r"all their entries are 0",
        GRADIENT.replace("- targets", "+ targets").replace("((logits", "(-(logits"): r"sign is wrong",
        "def gradient(logits, labels):\n    z = logits.clone().requires_grad_()\n    loss = torch.nn.functional."
        "cross_entropy(z, labels)\n    loss.backward()\n    return z.grad": r"autograd is switched off",
    },
}
PUBLIC = {"25.11": "25.1", "25.12": "25.3"}


def facts(text):
    """The conventions that a variant's text names."""
    return {
        "gated": "**gated**" in text,
        "biases": "**has a bias**" in text,
        "shift": "**a scale and a shift**" in text,
        "table": "**P positions**" in text,
        "shared": "**share one set" in text,
        "temperature": float(found(r"temperature \*\*([\d.]+)\*\*", text) or 1),
        "smoothing": float(found(r"smoothed by ([\d.]+)\*\*", text) or 0),
        "none": int(found(r"label \*\*(-\d+)\*\*", text) or 0),
        "summed": "**sum**" in text,
    }
