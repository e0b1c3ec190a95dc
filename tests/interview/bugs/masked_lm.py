"""Other right repairs of the lab `masked_lm`, and wrong ones: changes of the repaired program."""

LABELS = "return inputs, torch.where(chosen, ids, -100)"
ONCE = """    generator = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
"""

ACCEPTED = {
    "cloned labels, isin, a seed for each epoch": [
        (LABELS, "labels = ids.clone()\n    labels[~chosen] = -100\n    return inputs, labels"),
        ("(ids >= FIRST)", "~torch.isin(ids, torch.tensor([PAD, CLS, SEP]))"),
        (ONCE, "    for e in range(epochs):\n        generator = torch.Generator().manual_seed(1000 * seed + e)\n"),
    ],
    "the loss leaves out padding": [
        (LABELS, "return inputs, torch.where(chosen, ids, PAD)"),
        ("F.cross_entropy(model(inputs), labels)", "F.cross_entropy(model(inputs), labels, ignore_index=PAD)"),
    ],
}
WRONG = {
    "all positions": ([(LABELS, "return inputs, ids")], "no longer" if False else "words are predicted"),
    "the label of [MASK]": ([(", ids, -100)", ", ids, MASK)")], "has a training loss"),
    "only [CLS] spared": ([("(ids >= FIRST)", "(ids != PAD) & (ids != CLS)")], "same spot each time"),
    "padding chosen too": ([("& (ids >= FIRST)", "& (ids != CLS) & (ids != SEP)")], "a token changed"),
    "no seed": ([("torch.Generator().manual_seed(seed)", "torch.Generator()")], "the seed makes no difference"),
    "a seed of the clock": (
        [(ONCE, "    generator = torch.Generator()\n    generator.seed()\n    for _ in range(epochs):\n")],
        "no longer read the same",
    ),
    "all of them [MASK]": ([("(draw < 0.8)", "(draw < 2)"), ("(draw >= 0.9)", "(draw > 2)")], "100% are [MASK]"),
    "more words": ([("< 0.15)", "< 0.3)")], "should be 15%"),
}
