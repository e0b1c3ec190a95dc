"""The pictures of chapter 06 that show how a text becomes questions."""

from collections.abc import Mapping

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.course.pictures.sheet import CHIP_GAP, width_of_chip
from bertedu.pretraining.masking import choose_tokens

MASK = "[MASK]"


def where() -> Figure:
    """The map of BERT with the heads lit; masking and loss, which are new, below it."""
    sheet = Sheet(270, "Where do questions and answers come from?")
    parts = map_of_bert(sheet, 46, {"heads"})
    masking = sheet.box(70, 200, 150, 50, "mask 15 %", "of the tokens", new=True)
    loss = sheet.box(620, 200, 90, 50, "loss", new=True)
    between = (parts["tokenizer"].right + parts["embeddings"].x) / 2
    sheet.arrow((between, 196), (between, parts["tokenizer"].centre[1] + 10))
    sheet.arrow((parts["heads"].centre[0], 152), (parts["heads"].centre[0], 196))
    sheet.arrow(masking, loss, "labels: the original words")
    return sheet.figure()


def gaps(filled: Mapping[str, tuple[str, float]]) -> Figure:
    """Four sentences with a gap each, and the word that the model puts there."""
    sheet = Sheet(250, "What does the model put into each gap?", "Its most probable word, with the probability")
    for i, (text, (word, p)) in enumerate(filled.items()):
        words = text.removesuffix(".").split()
        y = 80 + 41 * i
        row = sheet.chips(14, y, words, {words.index(MASK): "hidden"})
        answer = sheet.words(520, y + 17, word, bold=True, mono=True)
        sheet.arrow((row[-1].right, y + 17), (answer.x, y + 17))
        sheet.words(706, y + 17, f"{p:.2f}", align="right")
    return sheet.figure()


def sides() -> Figure:
    """Who may attend to whom: from left to right, and with both sides."""
    sheet = Sheet(370, "To which tokens may each token attend?", "Rows attend to columns; filled: allowed.")
    words = ["Lisbon", "is", "the", "capital", "of", "Portugal"]
    everything = torch.ones(6, 6)
    for x, name, table, labels in (
        (130, "from left to right", everything.tril(), [f"{i} {word}" for i, word in enumerate(words)]),
        (420, "both sides: BERT", everything, ()),
    ):
        numbers = [f"{i}" for i in range(6)]
        box = sheet.grid(x, 140, table, name, rows=labels, columns=numbers, cell=34, row=30, numbers=False)
        sheet.words(box.centre[0], 342, "asked: each next word" if labels else "asked: hidden words", align="center")
    return sheet.figure()


def neighbors(neighbor_shares: Mapping[str, float]) -> Figure:
    """How many tokens an n-gram model gets right, by what it knows."""
    sheet = Sheet(220, "How much do the neighbors tell?", "Tokens that the n-gram model predicts")
    kinds = {"left": ["of", "?", "   "], "right": ["   ", "?", "is"], "both": ["of", "?", "is"]}
    for i, (name, share) in enumerate(neighbor_shares.items()):
        y = 78 + 44 * i
        sheet.words(80, y + 17, name, align="right", bold=True)
        sheet.chips(100, y, kinds[name], {1: "hidden"}, width=50)
        sheet.bars(290, y, [float(share)], longest=330)
    return sheet.figure()


def leak() -> Figure:
    """Two layers in which no token attends to itself: the first token's word comes back by two ways."""
    sheet = Sheet(280, "How does the answer come back?", "No token attends to itself. The ways of token 0:")
    columns = [
        [sheet.box(x, 80 + 58 * i, 120, 42, f"token {i}", new=bool(i) == (layer == 1)) for i in range(3)]
        for layer, x in enumerate((40, 300, 560))
    ]
    for middle in columns[1][1:]:
        sheet.arrow(columns[0][0], middle)
        sheet.arrow(middle, columns[2][0])
    for x, name in ((100, "input"), (360, "after one layer"), (620, "after two")):
        sheet.words(x, 262, name, align="center", faint=True)
    return sheet.figure()


def strip(tokens: list[str], chosen: Tensor, only_masks: Tensor, labels: Tensor) -> Figure:
    """The first tokens of a text: chosen, hidden, labelled."""
    sheet = Sheet(270, "How does a text become a question?", f"The first 8 of {len(tokens)} tokens")
    picked = [bool(yes) for yes in chosen[0, :8]]
    words, targets = tokens[:8], labels[0, :8].tolist()
    inputs = [MASK if yes else word for word, yes in zip(words, picked, strict=True)]
    told = [str(target).replace("-", "\N{MINUS SIGN}") for target in targets]
    rows: tuple[tuple[str, list[str], dict[int, str]], ...] = (
        ("text", words, {}),
        ("choose", words, {i: "chosen" for i, yes in enumerate(picked) if yes}),
        ("input", inputs, {i: "hidden" for i, yes in enumerate(picked) if yes}),
    )
    widths = [max(width_of_chip(one) for one in column) for column in zip(words, inputs, told, strict=True)]
    starts = [92 + sum(widths[:i]) + CHIP_GAP * i for i in range(8)]
    for j, (name, row, states) in enumerate(rows):
        y = 76 + 44 * j
        sheet.words(14, y + 17, name, bold=True)
        for i, word in enumerate(row):
            sheet.chip(starts[i], y, word, states.get(i, "plain"), widths[i])
    sheet.words(14, 233, "label", bold=True)
    for i, label in enumerate(told):
        sheet.words(starts[i] + widths[i] / 2, 233, label, align="center", bold=picked[i], faint=not picked[i])
    return sheet.figure()


def fates() -> Figure:
    """What becomes of a chosen token: 80, 10 and 10 of a hundred."""
    sheet = Sheet(240, "What does the model see of a chosen token?")
    token = sheet.chip(20, 116, "norway", "chosen")
    rows = (
        (MASK, "hidden", 0.8, "predict from the context"),
        ("river", "random", 0.1, "doubt what you see"),
        ("norway", "chosen", 0.1, "don't ignore what you see"),
    )
    sheet.words(230, 50, "sees", align="center", faint=True)
    sheet.words(690, 50, "learns to", align="right", faint=True)
    for i, (seen, state, share, why) in enumerate(rows):
        y = 66 + 50 * i
        sheet.arrow(token, sheet.chip(190, y, seen, state, 80))
        sheet.bars(300, y, [share], longest=110)
        sheet.words(690, y + 17, why, align="right")
    sheet.words(360, 224, "the label is norway each time", align="center")
    return sheet.figure()


def gradient(sees: list[str], lengths: Tensor, targets: Tensor, tokens: list[str]) -> Figure:
    """At which tokens the last layer's vectors get a gradient: at those with a label, and nowhere else."""
    sheet = Sheet(330, "Which vectors learn from this text?", "Below each token: the length of its vector's gradient")
    states = {
        i: "hidden" if seen == MASK else "chosen" if seen == tokens[i] else "random"
        for i, seen in enumerate(sees)
        if targets[0, i] != -100
    }
    largest = 1.6 * float(lengths.max())
    for j in range(3):
        x, y = 14.0, 78 + 84 * j
        for i in range(7 * j, 7 * j + 7):
            chip = sheet.chip(x, y, sees[i], states.get(i, "plain"), 68)
            digits = 3 if lengths[i] else 0
            sheet.grid(x, y + 38, [float(lengths[i])], digits=digits, cell=chip.width, row=28, largest=largest)
            x = chip.right + CHIP_GAP
    return sheet.figure()


def passes(tokens: list[str], words: Tensor) -> Figure:
    """The same mask in each pass, or another one."""
    sheet = Sheet(
        300, "What is hidden in each pass?", "The first words of a text, in four passes that hide some of them"
    )
    shown = tokens[1:6]
    drawn = [_first_of(words, seed) for seed in range(60)]
    masks = [mask for mask in drawn if any(mask)][:4]
    for x, name, dynamic in ((40, "static, one mask", False), (380, "dynamic", True)):
        sheet.words(x, 88, name, bold=True)
        for i in range(4):
            mask = masks[i if dynamic else 0]
            y = 106 + 46 * i
            at = float(x)
            for token, hidden in zip(shown, mask, strict=True):
                state = "hidden" if hidden else "plain"
                chip = sheet.chip(at, y, "?" if hidden else token, state, max(44.0, width_of_chip(token)))
                at = chip.right + 4
            if not dynamic:
                sheet.words(30, y + 17, str(i + 1), align="right", faint=True)
    return sheet.figure()


def _first_of(words: Tensor, seed: int) -> list[bool]:
    """Which of the tokens 1 to 5 are among the three that a seed chooses."""
    chosen = choose_tokens(words, torch.tensor([3]), torch.Generator().manual_seed(seed))
    return [bool(yes) for yes in chosen[0, 1:6]]


def whole_words(pieces: list[str], is_word: Tensor, whole_words: Mapping[int, Tensor]) -> Figure:
    """A choice of single tokens that cuts a word in two, and three choices of whole words."""
    sheet = Sheet(300, "What is asked when a word has several pieces?", "Three tokens are chosen each time.")
    inside = pieces.index("##ven")
    seeds = (choose_tokens(is_word, torch.tensor([3]), torch.Generator().manual_seed(seed))[0] for seed in range(100))
    alone = next(row for row in seeds if row[inside] and not row[inside - 1] and not row[inside + 1])
    rows = {"single tokens": alone} | {f"whole words, seed {seed}": row for seed, row in whole_words.items()}
    for i, (name, row) in enumerate(rows.items()):
        y = 84 + 50 * i
        sheet.words(14, y + 17, name, bold=not i)
        sheet.chips(230, y, pieces[1:-1], {j: "hidden" for j, yes in enumerate(row[1:-1].tolist()) if yes})
    return sheet.figure()


def independent() -> Figure:
    """What the texts say about two words, and what two masks can say at best."""
    sheet = Sheet(290, "What can two masks say about a pair?")
    for x, name, table, told in (
        (150, "in the texts", [[50, 0], [0, 50]], "% of all texts"),
        (480, "two masks, at best", [[25, 25], [25, 25]], "% of the probability"),
    ):
        box = sheet.grid(
            x, 130, table, name, rows=["New", "San"], columns=["York", "Francisco"], cell=110, row=48, largest=80
        )
        sheet.words(box.centre[0], 252, told, align="center", faint=True)
    return sheet.figure()
