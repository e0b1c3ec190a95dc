"""Answers to the variants: right ones, and mistakes with words of what the check says. They use the numbers that the
text of a variant names (see `facts` in test_classroom_variants.py)."""

ATTENTION = """
def attend(query, key, value):
    axes = layout.split(", ")
    query, key, value = (x.permute([axes.index(a) for a in "BHTd"]) for x in (query, key, value))
    scores = query @ key.transpose(-2, -1) / (temperature * query.size(-1) ** 0.5)
    weights = scores.softmax(-1)
    return weights, (weights @ value).permute(["BHTd".index(a) for a in axes])
"""
EINSUM = """
def attend(query, key, value):
    a = layout.replace(", ", "")
    b = a.replace("T", "S")
    scores = torch.einsum(f"{a},{b}->BHTS", query, key) / temperature / query.shape[a.index("d")] ** 0.5
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = weights / weights.sum(-1, keepdim=True)
    return weights, torch.einsum(f"BHTS,{b}->{a}", weights, value)
"""
SOFTMAX = """
def hidden_softmax(scores, hidden):
    weights = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(axis)
    return weights if uniform else weights * ~hidden
"""
SOFTMAX_LONG = """
def hidden_softmax(scores, hidden):
    powers = torch.where(hidden, 0.0, torch.exp(scores - scores.amax(axis, keepdim=True)))
    total = powers.sum(axis, keepdim=True)
    other = torch.full_like(scores, 1 / scores.size(axis) if uniform else 0.0)
    return torch.where(total > 0, powers / total.clamp_min(1e-30), other)
"""
CORRUPT = """
def corrupt_tokens(input_ids, chosen, mask_token_id, vocab_size):
    draw = torch.rand(input_ids.shape)
    labels = input_ids.masked_fill(~chosen, none)
    seen = input_ids.masked_fill(chosen & (draw < shares[0]), mask_token_id)
    replace = chosen & (draw >= shares[0]) & (draw < shares[0] + shares[1])
    return labels, torch.where(replace, torch.randint(first, vocab_size, input_ids.shape), seen)
"""
CORRUPT_PLACES = """
def corrupt_tokens(input_ids, chosen, mask_token_id, vocab_size):
    seen, labels = input_ids.clone(), torch.full_like(input_ids, none)
    labels[chosen] = input_ids[chosen]
    kind = torch.multinomial(torch.tensor(shares), int(chosen.sum()), replacement=True)
    new = input_ids[chosen]
    new[kind == 0] = mask_token_id
    new[kind == 1] = torch.randint(first, vocab_size, (int((kind == 1).sum()),))
    seen[chosen] = new
    return labels, seen
"""
LOSS = """
def loss_by_text(scores, labels):
    each = torch.nn.functional.cross_entropy(scores.mT, labels, ignore_index=none, reduction="none")
    count = (labels != none).sum(1)
    means = each.sum(1) / count.clamp_min(1)
    return means.sum() if summed else means.sum() / (count > 0).sum().clamp_min(1)
"""
LOSS_LOOP = """
def loss_by_text(scores, labels):
    logs, losses = scores.log_softmax(-1), []
    for text, wanted in zip(logs, labels):
        asked = wanted != none
        if asked.any():
            losses.append(-text[asked, wanted[asked]].mean())
    if not losses:
        return scores.sum() * 0
    return torch.stack(losses).sum() if summed else torch.stack(losses).mean()
"""
THRESHOLD = """
def best_threshold(probabilities, right):
    def score(t):
        hits = sum(r for p, r in zip(probabilities, right) if p >= t)
        return (1 + beta**2) * hits / (sum(p >= t for p in probabilities) + beta**2 * sum(right))
    return min(probabilities, key=lambda t: (-round(score(t), 9), t))
"""
THRESHOLD_LONG = """
def best_threshold(probabilities, right):
    best, found = -1.0, None
    for t in sorted(probabilities):
        chosen = [r for p, r in zip(probabilities, right) if p >= t]
        precision, recall = sum(chosen) / len(chosen), sum(chosen) / sum(right)
        score = (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if sum(chosen) else 0.0
        if score > best + 1e-9:
            best, found = score, t
    return found
"""
RECALL = """
def threshold_for_recall(probabilities, right):
    def reached(t):
        return sum(r for p, r in zip(probabilities, right) if p >= t) >= recall * sum(right) - 1e-9
    return max(p for p in probabilities if reached(p))
"""
RECALL_SORTED = """
def threshold_for_recall(probabilities, right):
    hits = 0
    for p, r in sorted(zip(probabilities, right), reverse=True):
        hits += r
        if hits / sum(right) >= recall - 1e-9:
            return p
"""
TAGS = """
def read_tags(tags):
    found, kind, start = [], None, 0
    for at, tag in enumerate([*tags, "O"]):
        name, _, letter = tag.partition(sign)
        if letter == inside and name == kind:
            continue
        if kind is not None:
            found.append((start, at - 1, kind))
        kind, start = (name, at) if letter == begin else (None, at)
    return found
"""
TAGS_AHEAD = """
def read_tags(tags):
    found = []
    for start, tag in enumerate(tags):
        if tag.endswith(sign + begin):
            kind, end = tag[:-2], start
            while end + 1 < len(tags) and tags[end + 1] == kind + sign + inside:
                end += 1
            found.append([start, end, kind])
    return found
"""
SCORES = """
def entity_scores_repaired(gold, found):
    hits = sum(len(set(a) & set(b)) for a, b in zip(gold, found))
    wanted, given = sum(map(len, gold)), sum(map(len, found))
    return (hits / given if given else 0.0), (hits / wanted if wanted else 0.0)
"""
SCORES_LONG = """
def entity_scores_repaired(gold, found):
    mine = {(at, *span) for at, row in enumerate(found) for span in row}
    right = {(at, *span) for at, row in enumerate(gold) for span in row}
    return [len(mine & right) / max(1, len(some)) for some in (mine, right)]
"""
AS_GIVEN = "exec(given.replace('entity_scores', 'entity_scores_repaired'), globals())"

RIGHT = {
    "3.11": [ATTENTION, EINSUM],
    "3.12": [SOFTMAX, SOFTMAX_LONG],
    "6.11": [CORRUPT, CORRUPT_PLACES],
    "6.12": [LOSS, LOSS_LOOP],
    "10.11": [THRESHOLD, THRESHOLD_LONG],
    "10.12": [RECALL, RECALL_SORTED],
    "11.11": [TAGS, TAGS_AHEAD],
    "11.12": [SCORES, SCORES_LONG],
}
PUBLIC_ATTENTION = """
def attend(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(-1)
    return weights @ value, weights
"""
PUBLIC_THRESHOLD = """
def f1(probabilities, right, t):
    hits = sum(r for p, r in zip(probabilities, right) if p >= t)
    return 2 * hits / (sum(p >= t for p in probabilities) + sum(right))
def NAME(probabilities, right):
    return max(probabilities, key=lambda t: (f1(probabilities, right, t), t))
"""
WRONG = {
    "3.11": {
        PUBLIC_ATTENTION: r"the chapter's exercise 3\.2",
        ATTENTION.replace("temperature * ", ""): r"divided by √d only",
        ATTENTION.replace(" * query.size(-1) ** 0.5", ""): r"Divide by √d too",
        ATTENTION.replace("return weights, (weights @ value).permute(", "return (weights @ value).permute(").replace(
            "for a in axes])\n", "for a in axes]), weights\n"
        ): "wrong order|shape",
        ATTENTION.replace('.permute(["BHTd".index(a) for a in axes])', ""): r"shape|layout of the inputs",
    },
    "3.12": {
        SOFTMAX.replace("masked_fill(hidden", "masked_fill(~hidden"): r"only hidden keys get attention",
        SOFTMAX.replace("softmax(axis)", "softmax(3 - axis)"): r"Softmax runs over axis",
        "def hidden_softmax(scores, hidden):\n    return scores.softmax(axis)": r"without a mask",
        "def hidden_softmax(scores, hidden):\n    return (scores * ~hidden).softmax(axis)": r"A score of 0",
        "def hidden_softmax(scores, hidden):\n    return scores.softmax(axis) * ~hidden": r"removed after the softmax",
        SOFTMAX.replace("if uniform", "if not uniform"): r"Where all keys are hidden",
    },
    "6.11": {
        CORRUPT.replace("return labels, torch.where(", "return torch.where(").replace("seen)\n", "seen), labels\n"): (
            r"[Ll]abel"
        ),
        CORRUPT.replace("~chosen, none", "~chosen, -100"): r"-100, as in the chapter",
        CORRUPT.replace("labels = input_ids.masked_fill(~chosen, none)", "labels = input_ids"): r"Every token has a",
        CORRUPT.replace("shares[0]", "0.8"): r"chapter's 80 %",
        CORRUPT.replace("randint(first", "randint(0"): r"random ids begin at",
        CORRUPT.replace("draw = torch.rand(input_ids.shape)", "draw = torch.rand(1)"): r"Draw one number|80 %",
    },
    "6.12": {
        "def loss_by_text(scores, labels):\n    from torch.nn.functional import cross_entropy\n"
        "    return cross_entropy(scores.mT, labels, ignore_index=none)": (r"exercise 6\.3"),
        LOSS.replace("if summed", "if not summed"): r"is asked for",
        LOSS.replace("count.clamp_min(1)", "labels.size(1)"): r"divided by T",
        "def loss_by_text(scores, labels):\n    each = torch.nn.functional.cross_entropy(scores.mT, labels, "
        'ignore_index=none, reduction="none")\n    return (each.sum(1) / (labels != none).sum(1)).mean()': r"nan",
    },
    "10.11": {
        PUBLIC_THRESHOLD.replace("NAME", "best_threshold"): r"exercise 10\.4",
        THRESHOLD.replace(", t))", ", -t))"): r"Return the smallest",
        THRESHOLD.replace("beta**2", "beta**-2"): r"are swapped|F1|is better|10\.4|Return the smallest",
        THRESHOLD.replace("beta**2", "1"): r"F1|10\.4",
        THRESHOLD.replace("p >= t", "p > t").replace("+ beta**2", "+ 1e-9 + beta**2"): r"is better|F-beta|F1",
    },
    "10.12": {
        PUBLIC_THRESHOLD.replace("NAME", "threshold_for_recall"): r"exercise 10\.4|Return the largest",
        RECALL.replace("max(", "min("): r"Return the largest",
        "def threshold_for_recall(probabilities, right):\n    return max(probabilities)": r"is asked for",
        RECALL_SORTED.replace("sum(right)", "len(right)").replace("return p", "return p") + "    return p": (
            r"larger|chooses more|Return the largest"
        ),
    },
    "11.11": {
        TAGS.replace("(start, at - 1, kind)", "(kind, start, at)"): r"exercise 11\.2",
        TAGS.replace("at - 1", "at"): r"Give its last word",
        TAGS.replace("(start, at - 1, kind)", "(kind, start, at - 1)"): r"type comes last",
        TAGS.replace('[*tags, "O"]', "tags"): r"last word is lost",
        TAGS.replace("letter == begin", "letter"): r"continues no entity",
    },
    "11.12": {
        AS_GIVEN: r"as it was",
        SCORES.replace("set(a) & set(b)", "{x[1:] for x in a} & {x[1:] for x in b}"): r"wrong type counts|as it was",
        SCORES.replace("set(a) & set(b)", "{x[:2] for x in a} & {x[:2] for x in b}"): r"wrong end counts|as it was",
        SCORES.replace("hits / given if given", "hits / wanted if wanted"): r"share of what was found|as it was",
        SCORES.replace("hits / wanted if wanted", "hits / given if given"): r"share of the gold|as it was",
    },
}
