"""Other right repairs of the lab `serving`, and wrong ones: changes of the repaired program."""

MASK = "scores.masked_fill(mask.unsqueeze(1) == 0, -torch.inf)"
MEAN = "(hidden * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True)"
BACK = """    scores = [0.0] * len(texts)
    for index, one in zip(by_length, found, strict=True):
        scores[index] = one
    return scores
"""

ACCEPTED = {
    "added mask, einsum, unsorted": [
        (MASK, "(scores + (1 - mask[:, None, :]) * -1e9)"),
        (MEAN, 'torch.einsum("btd,bt->bd", hidden, mask / mask.sum(dim=1, keepdim=True))'),
        ("    model.eval()\n", "    model.train(False)\n"),
        (BACK, "    return [one for _, one in sorted(zip(by_length, found, strict=True))]\n"),
    ],
    "no sorting": [
        ("sorted(range(len(texts)), key=lambda index: len(texts[index].split()))", "list(range(len(texts)))"),
        (BACK, "    return found\n"),
    ],
}
WRONG = {
    "queries masked": ([("mask.unsqueeze(1) == 0", "mask.unsqueeze(2) == 0")], "takes over from its context"),
    "scores set to 0": ([("-torch.inf", "0.0")], "takes over from its context"),
    "divided by the longest": ([("mask.sum(dim=1, keepdim=True)", "mask.shape[1]")], "beside a longer one"),
    "padding divided out only": ([("(hidden * mask.unsqueeze(-1)).sum", "hidden.sum")], "takes over from its context"),
    "one text a batch": ([("BATCH = 4", "BATCH = 1"), (MEAN, "hidden.mean(dim=1)")], "beside a longer one"),
    "a seed in index of eval": ([("    model.eval()\n", "    torch.manual_seed(0)\n")], "two scores"),
    "no dropout at all": ([("Dropout(0.1)", "Dropout(0.0)")], "nothing is dropped out"),
    "scores sorted": ([(BACK, "    return sorted(found)\n")], "came back with the score"),
    "order applied twice": ([(BACK, "    return [found[n] for n in by_length]\n")], "came back with the score"),
    "the first token": ([(MEAN, "hidden[:, 0]")], "no longer that of the mean"),
}
