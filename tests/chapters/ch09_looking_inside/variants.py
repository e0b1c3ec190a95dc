"""Answers to the variants of chapter 9: see test_classroom_variants.py."""

from support.variant_facts import found

ROLLOUT = """
def rollout(attentions):
    layers = attentions[::-1] if last_first else attentions
    T = layers[0].shape[-1]
    shares = torch.eye(T)
    for weights in layers:
        joined = {"mean": weights.mean(1), "largest": weights.max(1).values, "smallest": weights.min(1).values}[join]
        joined = joined / joined.sum(-1, keepdim=True)
        shares = ((1 - keep) * joined + keep * torch.eye(T)) @ shares
    return shares
"""
ROLLOUT_EINSUM = """
def rollout(attentions):
    stacked = torch.stack(list(attentions))  # [L, B, H, T, T]
    joined = stacked.mean(2) if join == "mean" else stacked.amax(2) if join == "largest" else stacked.amin(2)
    mixed = torch.nn.functional.normalize(joined, p=1, dim=-1) * (1 - keep)
    mixed.diagonal(dim1=-2, dim2=-1).add_(keep)
    rows = mixed[0] if last_first else mixed[-1]
    for layer in mixed[1:] if last_first else mixed[:-1].flip(0):
        rows = torch.einsum("bij,bjk->bik", rows, layer)
    return rows
"""
PUBLIC_ROLLOUT = """
def rollout(attentions):
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        shares = (0.5 * weights.mean(dim=1) + 0.5 * torch.eye(len(shares[-1]))) @ shares
    return shares
"""
ENTROPY = """
def head_entropies(weights, mask):
    words = mask.bool().clone()
    if no_first:
        words[:, 0] = False
    if no_last:
        words[torch.arange(len(mask)), mask.sum(1) - 1] = False
    queries, keys = words, words
    kept = weights * keys[:, None, None]
    kept = kept / kept.sum(-1, keepdim=True).clamp_min(1e-20)
    entropy = torch.special.entr(kept).sum(-1)
    if unit == "bits":
        entropy = entropy / torch.log(torch.tensor(2.0))
    if unit == "share":
        entropy = entropy / keys.sum(1)[:, None, None].float().log()
    sums = (entropy * queries[:, None]).sum(-1)
    return (sums / queries.sum(1)[:, None]).mean(0) if by_text else sums.sum(0) / queries.sum()
"""
ENTROPY_LOOP = """
def head_entropies(weights, mask):
    heads = []
    for head in range(weights.shape[1]):
        texts = []
        for one, length in zip(weights[:, head], mask.sum(1).tolist()):
            inside = slice(1 if no_first else 0, length - 1 if no_last else length)
            p = one[inside, inside]
            p = p / p.sum(-1, keepdim=True)
            logs = torch.where(p > 0, p.clamp_min(1e-30), 1.0).log2()
            bits = -(p * logs).sum(-1)
            if unit == "nats":
                bits = bits * 0.6931471805599453
            if unit == "share":
                bits = bits / torch.tensor(float(len(p))).log2()
            texts.append(bits)
        heads.append(torch.stack([one.mean() for one in texts]).mean() if by_text else torch.cat(texts).mean())
    return torch.stack(heads)
"""

RIGHT = {
    "9.11": [ROLLOUT, ROLLOUT_EINSUM],
    "9.12": [ENTROPY, ENTROPY_LOOP],
}
WRONG = {
    "9.11": {
        PUBLIC_ROLLOUT: r"chapter's exercise 9\.2",
        f"keep = 0.4999999 + 1e-7\n{ROLLOUT}": r"not one half|exercise 9\.2",
        ROLLOUT.replace("(1 - keep) * joined + keep", "keep * joined + (1 - keep)"): r"shares are swapped",
        ROLLOUT.replace("(1 - keep) * joined + keep * torch.eye(T)", "joined"): r"Where is the residual",
        ROLLOUT.replace("if last_first", "if not last_first"): r"layer stands first|multiplied in reverse",
        ROLLOUT.replace("shares = ((1", "shares = shares @ ((1").replace("torch.eye(T)) @ shares", "torch.eye(T))"): (
            r"multiplied in reverse|layer stands first"
        ),
        ROLLOUT.replace("return shares", "return shares.mT"): r"Rows and columns",
        ROLLOUT.replace("[join]", '["smallest" if join == "mean" else "mean"]'): r"weight of the heads|exercise 9\.2",
        ROLLOUT.replace("return shares", "return shares[0]"): r"One matrix for each text",
    },
    "9.12": {
        ENTROPY.replace("kept = kept /", "unused = kept /"): r"don't sum to 1",
        ENTROPY.replace("no_first", "False").replace("no_last", "False"): r"Special tokens are still in it",
        ENTROPY.replace("queries, keys = words", "queries, keys = mask"): r"own weights is in your mean",
        ENTROPY.replace("queries, keys = words, words", "queries, keys = words, mask"): r"special tokens as keys",
        ENTROPY.replace("if by_text", "if not by_text"): r"Take the mean",
        ENTROPY.replace("words = mask.bool().clone()", "words = torch.ones_like(mask).bool()"): r"Padding counts too",
        ENTROPY.replace('unit == "bits"', 'unit != "bits"').replace('unit == "share"', "False"): r"Give the entropy",
        ENTROPY.replace("torch.special.entr(kept)", "(-kept * kept.log())"): r"0 · log 0 is nan",
        ENTROPY.replace("torch.special.entr(kept)", "(kept * kept.clamp_min(1e-20).log())"): r"where is the minus",
        ENTROPY.replace("mask.sum(1) - 1", "-1").replace(
            "no_first", "not no_first"
        ): r"doesn't count is|Compute one|tokens are still",
    },
}
PUBLIC = {"9.11": "9.2"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "last_first": "the **last** layer" in text,
        "join": found(r"take the \*\*(\w+)\*\* weight", text) or "mean",
        "keep": float(found(r"passes on \*\*([\d.]+)\*\*", text) or 0),
        "no_first": "[CLS]" in text,
        "no_last": "[SEP]" in text,
        "unit": found(r"in \*\*(bits|nats)\*\*", text) or "share",
        "by_text": "of each text, then over the texts" in text,
    }
