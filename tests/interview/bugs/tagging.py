"""Other right repairs of the lab `tagging`, and wrong ones: changes of the repaired program."""

FRAME = "return ids, [IGNORE, *labels, IGNORE]"
PAD = (
    "batch_first=True)\n    labels = nn.utils.rnn.pad_sequence([torch.tensor(one) for _, one in encoded], True, IGNORE)"
)
RIGHT = """    right = (model(ids).argmax(dim=-1) == labels)[labels != IGNORE]
    return right.float().mean().item()
"""

ACCEPTED = {
    "begun with [CLS], padding overwritten, a weighted mean": [
        ("tokens: list[str] = []", 'tokens: list[str] = ["[CLS]"]'),
        ("labels: list[int] = []", "labels: list[int] = [IGNORE]"),
        ('["[CLS]", *tokens, "[SEP]"]', '[*tokens, "[SEP]"]'),
        (FRAME, "return ids, [*labels, IGNORE]"),
        ("], True, IGNORE)", "], True)\n    labels[ids == 0] = IGNORE"),
        (
            RIGHT,
            "    words = (labels != IGNORE).float()\n"
            "    right = (model(ids).argmax(dim=-1) == labels).float()\n"
            "    return ((right * words).sum() / words.sum()).item()\n",
        ),
    ],
}
WRONG = {
    "two in front": ([(FRAME, "return ids, [IGNORE, IGNORE, *labels]")], "is labelled PER is ##ika"),
    "cut to the length": ([(FRAME, "return ids, [*labels, IGNORE, IGNORE]")], "is labelled PER is [CLS]"),
    "a label for each piece": (
        [("[TAGS.index(tag)] + [IGNORE] * (len(cut) - 1)", "[TAGS.index(tag)] * len(cut)")],
        "exactly one label for each word",
    ),
    "padding of -1": ([("], True, IGNORE)", "], True, -1)")], "Target -1 is out of bounds"),
    "O left out of the loss": ([("ignore_index=IGNORE)", "ignore_index=0)")], "out of bounds"),
    "ignored tokens count as wrong": ([("[labels != IGNORE]", "")], "5 of 7 words O"),
    "names only": ([("[labels != IGNORE]", "[labels > 0]")], "5 of 7 words O"),
    "ids padded with -100": ([(PAD, PAD.replace("batch_first=True)", "True, -100)", 1))], "stopped with IndexError"),
}
