"""Answers to the variants of chapter 16: see test_classroom_variants.py."""

from support.variant_facts import found

COUNT = """
def albert_parameters(V, D, E, L, G):
    attention = 4 * (D * D + D) + 2 * D
    feed_forward = D * wider * D + wider * D + wider * D * D + D + 2 * D
    embeddings = (V + known + 2) * E + 2 * E
    mapping = E * D + D
    layers = G * attention + L * feed_forward if shared == "attention" else L * attention + G * feed_forward
    return embeddings + mapping + layers
"""
COUNT_MODULES = """
from torch import nn

def albert_parameters(V, D, E, L, G):
    with torch.device("meta"):
        attention = [nn.Linear(D, D) for _ in range(4)] + [nn.LayerNorm(D)]
        feed_forward = [nn.Linear(D, wider * D), nn.Linear(wider * D, D), nn.LayerNorm(D)]
        rest = [nn.Embedding(V, E), nn.Embedding(known, E), nn.Embedding(2, E), nn.LayerNorm(E), nn.Linear(E, D)]
    size = lambda modules: sum(one.numel() for module in modules for one in module.parameters())
    of_attention, of_network = (G, L) if shared == "attention" else (L, G)
    return size(rest) + of_attention * size(attention) + of_network * size(feed_forward)
"""
PUBLIC_COUNT = """
def layer_parameters(D):
    attention = 4 * (D * D + D)
    feed_forward = (D * 4 * D + 4 * D) + (4 * D * D + D)
    return attention + feed_forward + 2 * 2 * D

def albert_parameters(V, D, E, L, G):
    embeddings = (V + 512 + 2) * E + 2 * E
    mapping = E * D + D
    return embeddings + mapping + G * layer_parameters(D)
"""
LOSS = """
def soft_loss(student, teacher, mask, T):
    s, t = (student / T).log_softmax(-1), (teacher / T).log_softmax(-1)
    p, q = t.exp(), s.exp()
    m = ((p + q) / 2).log()
    kinds = {
        "KL(teacher ‖ student)": (p * (t - s)).sum(-1),
        "KL(student ‖ teacher)": (q * (s - t)).sum(-1),
        "Jensen-Shannon divergence": ((p * (t - m)).sum(-1) + (q * (s - m)).sum(-1)) / 2,
    }
    kept = mask == real
    each = (kinds[name] * kept).sum(1)
    return T**2 * (each / kept.sum(1) if mean else each).mean()
"""
LOSS_LOOP = """
from torch.nn.functional import kl_div

def soft_loss(student, teacher, mask, T):
    losses = []
    for ours, theirs, row in zip(student, teacher, mask):
        q = torch.softmax(ours[row == real] / T, -1)
        p = torch.softmax(theirs[row == real] / T, -1)
        if name.startswith("KL(teacher"):
            loss = kl_div(q.log(), p, reduction="sum")
        elif name.startswith("KL(student"):
            loss = kl_div(p.log(), q, reduction="sum")
        else:
            middle = ((p + q) / 2).log()
            loss = (kl_div(middle, p, reduction="sum") + kl_div(middle, q, reduction="sum")) / 2
        losses.append(loss / len(q) if mean else loss)
    return torch.stack(losses).mean() * T * T
"""
PUBLIC_LOSS = """
def soft_loss(student, teacher, mask, T):
    s = (student[mask == 1] / T).log_softmax(dim=-1)
    t = (teacher[mask == 1] / T).log_softmax(dim=-1)
    return (t.exp() * (t - s)).sum(dim=-1).mean()
"""
AVERAGE = "(each / kept.sum(1) if mean else each).mean()"

RIGHT = {
    "16.11": [COUNT, COUNT_MODULES],
    "16.12": [LOSS, LOSS_LOOP],
}
WRONG = {
    "16.11": {
        PUBLIC_COUNT: r"the chapter's exercise 16\.1",
        COUNT.replace("L * feed", "G * feed").replace("L * attention", "G * attention"): r"Only the .* is shared",
        COUNT.replace("G * feed", "L * feed").replace("G * attention", "L * attention"): r"Nothing is shared",
        COUNT.replace('== "attention"', '!= "attention"'): r"You share the",
        COUNT.replace("known", "512"): r"512 positions",
        COUNT.replace("wider", "4"): r"inner size is 4",
        COUNT.replace("(D * D + D)", "D * D").replace("+ wider * D + wider * D * D + D", "+ wider * D * D"): r"biases",
        COUNT.replace("(D * D + D) + 2 * D", "(D * D + D)").replace("D * D + D + 2 * D", "D * D + D"): (
            r"LayerNorms of the layers are missing"
        ),
        COUNT.replace("E + 2 * E", "E"): r"LayerNorm of the embeddings",
        COUNT.replace("mapping + ", ""): r"mapping from E to D is missing",
        COUNT.replace("E * D + D", "E * D"): r"has a bias",
        COUNT.replace("+ 2) * E + 2 * E", "+ 2) * D + 2 * D"): r"embeddings are of size D",
    },
    "16.12": {
        PUBLIC_LOSS: r"the chapter's exercise 16\.3",
        LOSS.replace("T**2 * ", ""): r"factor T² is missing",
        LOSS.replace("T**2", "T"): r"You multiplied by T",
        LOSS.replace(" / T)", ")"): r"temperature is missing",
        LOSS.replace(" / T)", ")").replace("T**2 * ", ""): r"Temperature and factor",
        LOSS.replace("teacher / T", "teacher"): r"Only the student",
        LOSS.replace("student / T", "student"): r"Only the teacher",
        LOSS.replace("== real", "!= real"): r"took padding",
        LOSS.replace("log_softmax(-1)", "log_softmax(1)"): r"runs over the tokens",
        LOSS.replace(AVERAGE, "kinds[name][kept].mean()"): r"batch at once",
        LOSS.replace("kept = mask == real", "kept = torch.ones_like(mask)"): r"Padding counts",
        LOSS.replace("if mean", "if not mean"): r"You take",
        LOSS.replace("mean else each).mean()", "mean else each).sum()"): r"mean at the end|should be",
        LOSS.replace("kinds[name]", "kinds[other]"): r"Compute",
        LOSS.replace("return T**2 * ", "return T**2 * 1.0 * ").replace(".mean()\n", ".mean().detach()\n"): r"cut off",
    },
}
PUBLIC = {"16.12": "16.3"}


def facts(text):
    """The numbers that a variant's text names."""
    names = ["KL(teacher ‖ student)", "KL(student ‖ teacher)", "Jensen-Shannon divergence"]
    name = found(r"loss of a token is \*\*(.*?)\*\*", text)
    return {
        "known": int(found(r"\*\*(\d+)\*\* positions", text) or 0),
        "wider": int(found(r"\*\*(\d)·D\*\*", text) or 0),
        "shared": found(r"share the \*\*([\w-]+)", text),
        "name": name,
        "other": next(one for one in names if one != name),
        "real": int(found(r"\*\*(\d) for real tokens", text) or 0),
        "mean": "**the mean over the real tokens" in text,
    }
