"""The pictures of chapter 06: how a text becomes questions, and what the answers cost."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet, map_of_bert
from bertedu.course.pictures.sheet import CHIP_GAP, width_of_chip
from bertedu.pretraining.masking import choose_tokens

MASK = "[MASK]"


def where() -> Figure:
    """The map of BERT with the heads lit; masking and loss, which are new, below it."""
    sheet = Sheet(270, "Where do questions and answers come from?")
    parts = map_of_bert(sheet, 46, {"heads"})
    masking = sheet.box(70, 200, 150, 50, "mask 15 %", "of the tokens", new=True)
    loss = sheet.box(620, 200, 90, 50, "loss", new=True)
    sheet.arrow((parts["tokenizer"].centre[0] + 25, 152), (145 - 40, 196))
    sheet.arrow((190, 196), (parts["embeddings"].centre[0] + 8, 152))
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
    sheet = Sheet(350, "To which tokens may each token attend?", "A row is a token that attends, filled where it may.")
    words = ["Lisbon", "is", "the", "capital", "of", "Portugal"]
    everything = torch.ones(6, 6)
    for x, name, table, labels in (
        (110, "from left to right", everything.tril(), words),
        (420, "both sides: BERT", everything, ()),
    ):
        box = sheet.grid(x, 120, table, name, rows=labels, cell=34, row=30, numbers=False)
        sheet.words(box.centre[0], 322, "asked: each next word" if labels else "asked: hidden words", align="center")
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


def head(candidates: list[str], dots: Tensor, biases: Tensor, chances: Tensor) -> Figure:
    """The way of one vector through the head: transformed, compared with rows of the table, biases added."""
    sheet = Sheet(380, "How does the head score the words?", "The capital of Portugal is [MASK].")
    vector = sheet.chip(14, 92, MASK, "hidden")
    sheet.words(vector.centre[0], 142, "[D]", align="center", faint=True)
    transform = sheet.box(150, 82, 250, 54, "transform", "linear, GELU, LayerNorm", new=True)
    compare = sheet.box(450, 82, 256, 54, "compare", "with each row of the table", new=True)
    sheet.arrow(vector, transform)
    sheet.arrow(transform, compare)
    sheet.words(578, 154, "the input embeddings [V, D]", align="center", faint=True)
    dot = sheet.grid(130, 230, dots[:, None], "dot product", rows=candidates, digits=1, cell=90, largest=32)
    bias = sheet.grid(290, 230, biases[:, None], "bias", digits=1, cell=90, largest=32)
    scores = sheet.grid(450, 230, (dots + biases)[:, None], "score", digits=1, cell=90, largest=32)
    sheet.words((dot.right + bias.x) / 2, dot.centre[1], "+", align="center")
    sheet.words((bias.right + scores.x) / 2, dot.centre[1], "=", align="center")
    sheet.words(646, 215, "p", align="center", bold=True)
    for i, p in enumerate(chances.tolist()):
        sheet.words(646, scores.row(i).centre[1], f"{p:.3f}", align="center", bold=not i)
    sheet.arrow((scores.right, scores.centre[1]), (620, scores.centre[1]))
    return sheet.figure()


def cost() -> Figure:
    """Minus the logarithm of p."""
    sheet = Sheet(300, "What does an answer cost?", "\N{MINUS SIGN}ln p, for the probability p of the right word")
    plane = Plane(sheet, 80, 80, 540, 170, (0, 1), (0, 5))
    plane.ticks((0, 0.5, 1), (0, 5))
    plane.curve(lambda p: -math.log(p), math.exp(-5), 1)
    for p in (0.01, 0.1, 0.5, 1.0):
        place = plane.point(p, -math.log(p))
        told = f"p = {p:g}: {abs(math.log(p)):.1f}"
        sheet.words(
            place[0] + (12 if p < 1 else -12),
            place[1] - (14 if p < 1 else 32),
            told,
            align="left" if p < 1 else "right",
        )
    return sheet.figure()


def loss(three_scores: Tensor, three_labels: Tensor) -> Figure:
    """Scores, probabilities and costs of three tokens, of which two have a label."""
    sheet = Sheet(300, "How do three rows of scores become one loss?", "V = 3: cat, sat, mat")
    probabilities = three_scores.softmax(dim=-1)
    names = [f"token {i}" for i in range(3)]
    scores = sheet.grid(100, 130, three_scores, "scores", "[T, V]", rows=names, cell=44, row=40)
    chances = sheet.grid(320, 130, probabilities, "p", "[T, V]", digits=2, cell=58, row=40, largest=1.6)
    sheet.arrow(scores, chances, "softmax")
    sheet.words(540, 93, "label", align="center", bold=True)
    sheet.words(650, 93, "\N{MINUS SIGN}ln p", align="center", bold=True)
    costs = []
    for i, label in enumerate(three_labels.tolist()):
        y = scores.row(i).centre[1]
        if label < 0:
            sheet.words(540, y, "\N{MINUS SIGN}100", align="center", faint=True)
            sheet.words(650, y, "not asked", align="center", faint=True)
            continue
        costs.append(-math.log(float(probabilities[i, label])))
        sheet.words(540, y, ("cat", "sat", "mat")[label], align="center", mono=True)
        sheet.words(650, y, f"{costs[-1]:.2f}", align="center", bold=True)
    mean = sum(costs) / len(costs)
    sheet.line((610, 258), (690, 258))
    sheet.words(690, 276, f"loss: the mean of {len(costs)} numbers, {mean:.2f}", align="right", bold=True)
    return sheet.figure()


def one_text(tokens: list[str], sees: list[str], asked_at: Tensor, right_p: Tensor) -> Figure:
    """The labels of a whole text, what the model saw there, and what each costs."""
    others = len(tokens) - len(asked_at)
    sheet = Sheet(270, "What does a whole text cost?", f"Its {len(asked_at)} labels; {others} tokens have none")
    for x, name in ((70, "label"), (230, "seen"), (390, "p of the label")):
        sheet.words(x, 86, name, align="center", faint=True)
    sheet.words(660, 86, "\N{MINUS SIGN}ln p", align="center", faint=True)
    for i, (place, p) in enumerate(zip(asked_at.tolist(), right_p.tolist(), strict=True)):
        y, seen = 104 + 42 * i, sees[place]
        state = "hidden" if seen == MASK else "chosen" if seen == tokens[place] else "random"
        sheet.chip(20, y, tokens[place], width=100)
        sheet.chip(180, y, seen, state, 100)
        sheet.bars(340, y, [p], longest=190)
        sheet.words(660, y + 17, f"{-math.log(p):.2f}", align="center")
    sheet.words(690, 248, f"loss, their mean: {-float(right_p.log().mean()):.2f}", align="right", bold=True)
    return sheet.figure()


def only_labels() -> Figure:
    """Score all tokens, or those with a label only: the memory of the scores."""
    sheet = Sheet(290, "Which vectors need scores?", "256 texts of 128 tokens, V = 30,522, 4 bytes a number")
    tokens, words = 256 * 128, 30522
    for y, count, kept in ((80, tokens, False), (190, round(0.15 * tokens), True)):
        vectors = sheet.box(14, y, 130, 60, f"{tokens:,}", "vectors")
        if kept:
            chosen = sheet.box(200, y, 130, 60, f"{count:,}", "with a label", new=True)
            sheet.arrow(vectors, chosen)
            vectors = chosen
        one = sheet.box(390, y, 90, 60, "head")
        sheet.arrow(vectors, one)
        scores = sheet.box(540, y, 166, 60, f"{count * words * 4 / 1e9:.1f} GB", "of scores", new=kept)
        sheet.arrow(one, scores)
    sheet.words(360, 274, "the same loss, and the same gradient", align="center")
    return sheet.figure()


def passes(tokens: list[str], words: Tensor) -> Figure:
    """The same mask in each pass, or another one."""
    sheet = Sheet(300, "What is hidden in each pass?", "The first words of a text, whenever one of them is chosen")
    shown = tokens[1:6]
    drawn = [_first_of(words, seed) for seed in range(60)]
    masks = [mask for mask in drawn if any(mask)][:4]
    for x, name, dynamic in ((40, "static", False), (380, "dynamic", True)):
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
    sheet = Sheet(
        300, "What is asked when a word has several pieces?", f"3 of {len(pieces)} tokens are chosen each time."
    )
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
    for x, name, table in (
        (150, "in the texts", [[50, 0], [0, 50]]),
        (480, "two masks, at best", [[25, 25], [25, 25]]),
    ):
        box = sheet.grid(
            x, 130, table, name, rows=["New", "San"], columns=["York", "Francisco"], cell=110, row=48, largest=80
        )
        sheet.words(box.centre[0], 252, "percent of each pair", align="center", faint=True)
    return sheet.figure()


def batches(
    small_tokenizer: Any,
    test_ids: Tensor,
    draw: Callable[..., Any],
    make_batch: Callable[..., Any],
    right_batch: Callable[..., Any],
    broken_report: float,
    broken_masked: float,
    right_report: float,
    right_masked: float,
) -> Figure:
    """One text as the broken function and the repaired one give it to the model, with both accuracies."""
    sheet = Sheet(300, "What did the colleague's model see?")
    chosen, special = draw(test_ids, torch.Generator().manual_seed(1))
    row = 0
    first = int(chosen[row].nonzero()[0])
    start = max(1, min(first - 2, int((test_ids[row] != 0).sum()) - 6))
    for y, name, function, report, masked in (
        (70, "broken", make_batch, broken_report, broken_masked),
        (186, "repaired", right_batch, right_report, right_masked),
    ):
        batch = function(test_ids, chosen, special)
        seen = small_tokenizer.convert_ids_to_tokens(batch["input_ids"][row, start : start + 6].tolist())
        asked = batch["labels"][row, start : start + 6] != -100
        state = {"broken": "chosen", "repaired": "hidden"}[name]
        sheet.words(14, y + 17, name, bold=True)
        row_of_chips = sheet.chips(110, y, seen, {i: state for i, yes in enumerate(asked.tolist()) if yes})
        labels = small_tokenizer.convert_ids_to_tokens(test_ids[row, start : start + 6][asked].tolist())
        sheet.words(max(row_of_chips[-1].right + 20, 540), y + 17, "labels: " + ", ".join(labels))
        told = f"right: {float(report):.0%} of its own labels, {float(masked):.0%} of masked tokens"
        sheet.words(110, y + 56, told)
    return sheet.figure()
