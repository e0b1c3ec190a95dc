"""The pictures of chapter 09, drawn from its model and its sentences."""

from collections.abc import Callable
from typing import Any

import torch
from matplotlib.figure import Figure
from torch.nn.functional import normalize

from bertedu.course.pictures import Plane, Sheet, map_of_bert
from bertedu.inference import run
from bertedu.interpretation import contexts, probing
from bertedu.interpretation.rollout import attention_rollout


def four_things() -> Figure:
    """The map of BERT, and the four things in it that this chapter looks at."""
    sheet = Sheet(280, "What can we look at in a trained BERT?")
    boxes = map_of_bert(sheet, 50, {"embeddings", "attention", "heads"})
    for part, name, shape, how in (
        ("embeddings", "gradient", "[B, T, D]", "backward pass"),
        ("attention", "weights", "L · [B, H, T, T]", "forward pass"),
        ("feed-forward", "hidden states", "(L + 1) · [B, T, D]", ""),
        ("heads", "answer", "[B, T, V]", ""),
    ):
        x = boxes[part].centre[0] - (8 if part == "heads" else 14 if part == "feed-forward" else 0)
        sheet.line((boxes[part].centre[0], 160), (boxes[part].centre[0], 182))
        sheet.words(x, 198, name, align="center", bold=True)
        sheet.words(x, 224, shape, align="center", faint=True)
        sheet.words(x, 250, how or "forward", align="center", faint=True)
    return sheet.figure()


def occluding(question: Callable, occlusion: Callable, model: Any, tokenizer: Any, PAIR: str) -> Figure:
    """One word replaced by [MASK], and what that does to the answer."""
    verb, _, _, _ = PAIR.split()
    text = f"He {verb} the [MASK] and sat down ."
    encoding, position, guess = question(text)
    with torch.no_grad():
        log_p = run(model, encoding).prediction_logits[0, position].log_softmax(dim=-1)[guess].item()
    effect = occlusion(encoding, position, guess)[2].item()
    answer = tokenizer.decode([guess])
    sheet = Sheet(240, f"How much does {verb} matter for the answer?", "Replace it by [MASK] and ask again.")
    tokens = text.split()
    for y, words, states, value in (
        (84, tokens, {1: "chosen", 3: "hidden"}, log_p),
        (142, [*tokens[:1], "[MASK]", *tokens[2:]], {1: "hidden", 3: "hidden"}, log_p - effect),
    ):
        row = sheet.chips(14, y, words, states)
        sheet.words(row[-1].right + 16, y + 17, f"ln p({answer}) = {value:.2f}".replace("-", "\N{MINUS SIGN}"))
    sheet.words(706, 208, f"occlusion of {verb}: {effect:.2f} nats", align="right", bold=True)
    return sheet.figure()


def bits() -> Figure:
    """Three rows of attention weights and their entropy."""
    sheet = Sheet(250, "How many tokens does a head choose between?", "The weights of one token for four others")
    for i, weights in enumerate(([1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.25] * 4)):
        row = sheet.grid(150, 84 + 50 * i, weights, digits=2, largest=1.2, cell=72)
        sheet.words(136, row.centre[1], ("all to one", "two halves", "all alike")[i], align="right")
        entropy = -sum(w * torch.tensor(w).log2().item() for w in weights if w)
        sheet.words(row.right + 20, row.centre[1], f"{abs(entropy):.0f} bits", bold=True)
        sheet.words(row.right + 96, row.centre[1], "2^bits = " + f"{2**entropy:.0f}", faint=True)
    return sheet.figure()


def patterns() -> Figure:
    """Four patterns of attention weights, as they would look if a head did nothing else."""
    sheet = Sheet(270, "Which patterns do we look for?", "A row attends, a column is attended to; five tokens")
    last = torch.zeros(5, 5)
    last[:, 4] = 1
    tables = {
        "previous token": torch.ones(4).diag(-1),
        "next token": torch.ones(4).diag(1),
        "itself": torch.eye(5),
        "[SEP]": last,
    }
    for i, (name, table) in enumerate(tables.items()):
        sheet.grid(28 + 174 * i, 116, table, name, numbers=False, largest=1.2, cell=26, row=26)
    return sheet.figure()


def sharp_heads(model: Any, tokenizer: Any, TEXT: str) -> Figure:
    """All the weights of two heads of layer 1 for the first sentence."""
    encoding = tokenizer(TEXT)
    with torch.no_grad():
        weights = run(model, encoding, output_attentions=True).attentions[0][0]
    tokens = encoding.tokens[0]
    sheet = Sheet(430, "What do the two sharpest heads of layer 1 do?", "A row attends, a column is attended to")
    for x, head, rows in ((110, 0, tokens), (430, 1, ())):
        grid = sheet.grid(
            x, 112, weights[head], f"head {head + 1}", numbers=False, largest=1.1, cell=28, row=28, rows=rows
        )
        for column in (0, len(tokens) - 1):
            sheet.words(grid.column(column).centre[0], grid.bottom + 14, tokens[column], align="center", faint=True)
    return sheet.figure()


def two_layers() -> Figure:
    """Rollout for two tokens and two layers, as products of matrices."""
    swap, same = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.eye(2)
    sheet = Sheet(350, "How much of each word arrives after two layers?", "W = ½ A + ½ I, for two tokens a and b")
    mixed = []
    for i, (weights, y) in enumerate(((swap, 118), (same, 248)), start=1):
        given = sheet.grid(50, y, weights, f"A of layer {i}", rows="ab", cell=52, digits=1, largest=1.4)
        factor = sheet.grid(260, y, (weights + same) / 2, f"W of layer {i}", cell=52, digits=1, largest=1.4)
        sheet.arrow(given, factor, "½A + ½I")
        mixed.append(factor)
    result = attention_rollout([swap[None, None], same[None, None]])[-1, 0]
    end = sheet.grid(540, 183, result, "W₂ · W₁", "rollout", rows="ab", cell=52, digits=1, largest=1.4)
    for factor in mixed:
        sheet.arrow(factor, (end.x - 30, end.centre[1]))
    return sheet.figure()


def slopes() -> Figure:
    """The slope of y² at 2, and its mean slope from 0 to 2."""
    sheet = Sheet(330, "Which slope explains y² at y = 2?")
    plane = Plane(sheet, 60, 62, 300, 224, (0, 2.5), (0, 6.5))
    plane.ticks((1, 2), (2, 4, 6))
    plane.curve(lambda y: y * y, 0, 2.5)
    sheet.line(plane.at(1, 0), plane.at(2.5, 6), dashed=True, ink="#6b6b6b")
    sheet.line(plane.at(0, 0), plane.at(2, 4), ink="#6b6b6b")
    plane.point(2, 4)
    sheet.words(400, 92, "gradient × input (dashed)", bold=True)
    sheet.words(400, 118, "slope here 4, times 2 = 8")
    sheet.words(400, 170, "integrated gradients (line)", bold=True)
    sheet.words(400, 196, "mean slope 2, times 2 = 4")
    sheet.words(400, 248, "what there is to explain: 4", faint=True)
    return sheet.figure()


def two_orders(model: Any, question: Callable, occlusion: Callable, rank_correlation: Callable, TEXT: str) -> Figure:
    """The words of the first sentence in two orders: by occlusion and by attention."""
    encoding, position, guess = question(TEXT)
    with torch.no_grad():
        weights = run(model, encoding, output_attentions=True).attentions[-1][0, :, position].mean(dim=0)
    tokens = encoding.tokens[0]
    content = [i for i in range(1, len(tokens) - 1) if i != position]
    truth, shares = occlusion(encoding, position, guess).abs()[content], weights[content]
    sheet = Sheet(
        280, "How is an explanation tested?", "Two orders of the words of one sentence, 1 is the most important"
    )
    row = sheet.chips(118, 84, [tokens[i] for i in content], width=76)
    for y, name, numbers in ((136, "occlusion", truth), (184, "attention", shares)):
        ranks = numbers.argsort(descending=True).argsort() + 1
        sheet.words(108, y + 17, name, align="right", bold=True)
        for chip, rank in zip(row, ranks.tolist(), strict=True):
            sheet.words(chip.centre[0], y + 17, f"{rank}", align="center", bold=rank < 3)
    told = f"rank correlation {rank_correlation(shares, truth):.2f}".replace("-", "\N{MINUS SIGN}")
    sheet.words(row[-1].right, 250, told, align="right", bold=True)
    return sheet.figure()


def one_head_out(model: Any) -> Figure:
    """The outputs of four heads side by side, one of them zeros, before the output projection."""
    D, H = model.config.hidden_size, model.config.num_attention_heads
    sheet = Sheet(230, "Where does a head enter the rest of the model?")
    names = [f"head {i + 1}" if i != 1 else "zeros" for i in range(H)]
    row = sheet.chips(14, 78, names, {1: "hidden"}, width=98)
    for chip in row:
        sheet.words(chip.centre[0], 134, f"d = {D // H}", align="center", faint=True)
    sheet.words((row[0].x + row[-1].right) / 2, 168, f"side by side: D = {D} numbers for each token", align="center")
    projection = sheet.box(452, 67, 112, 56, "output", f"{D} × {D}", new=True)
    sheet.arrow(row[-1], projection)
    added = sheet.box(596, 67, 110, 56, "add to", "the token")
    sheet.arrow(projection, added)
    sheet.words(14, 204, "Ablating head 2: its numbers become zeros, all others stay.", bold=True)
    return sheet.figure()


def three_runs(preferences: Callable, PAIR: str) -> Figure:
    """Clean, corrupted and patched: one vector is taken from the clean run."""
    clean, corrupted, one, other = PAIR.split()
    values = preferences(PAIR)
    sheet = Sheet(310, f"Which vector carries {clean}?", f"Right: score of {one} minus score of {other}")
    rows = []
    for i, (name, verb) in enumerate((("clean", clean), ("patched", corrupted), ("corrupted", corrupted))):
        y = 90 + 74 * i
        sheet.words(106, y + 17, name, align="right", bold=True)
        tokens = f"He {verb} the [MASK] and sat down .".split()
        rows.append(sheet.chips(118, y, tokens, {1: "chosen", 3: "hidden", **({2: "chosen"} if i == 1 else {})}))
        told = "between?" if i == 1 else f"{values[i and 1]:+.1f}".replace("-", "\N{MINUS SIGN}")
        sheet.words(706, y + 17, told, align="right", bold=True)
    start, end = rows[0][2], rows[1][2]
    sheet.arrow(start, end)
    sheet.words(118, 290, "One vector, after layer 1, comes from the clean run.", faint=True)
    return sheet.figure()


def bank_parts(model: Any, tokenizer: Any, four_banks: list[str]) -> Figure:
    """The cosines of bank in four sentences: at the input, in the middle, at the end."""
    vectors = normalize(contexts.word_vectors(model, tokenizer, four_banks, "bank").float(), dim=-1)  # [4, L + 1, D]
    sheet = Sheet(300, "When do two kinds of bank part?", "Cosines of the vectors of bank in four sentences")
    senses = ["river", "river", "money", "money"]
    for x, layer, name in ((80, 0, "input"), (294, 1, "layer 1"), (508, 4, "layer 4")):
        table = vectors[:, layer] @ vectors[:, layer].T
        rows = senses if not layer else ()
        sheet.grid(x, 120, table, name, digits=2, largest=1.3, cell=49, row=38, rows=rows)
    return sheet.figure()


def left_out() -> Figure:
    """Leave one sentence of each sense out, and compare it with the two means of nine."""
    sheet = Sheet(260, "How is a sense read from a vector?", "Ten sentences for each sense; dark: left out")
    means = []
    for y, sense in ((84, "river"), (150, "money")):
        sheet.words(80, y + 17, sense, align="right", bold=True)
        row = sheet.chips(94, y, [str(i) for i in range(10)], {3: "hidden"}, width=32)
        means.append(sheet.box(510, y - 4, 150, 42, "mean of 9"))
        sheet.arrow(row[-1], means[-1])
    sheet.words(94, 222, "Left-out sentence 3: which mean is nearer?", bold=True)
    return sheet.figure()


def memory() -> Figure:
    """Words in context with their part of speech, and with the label of the control task."""
    sheet = Sheet(
        300, "Which labels can a probe learn by heart?", "Random: one label for each word, wherever it stands"
    )
    rows = (("a long walk", "walk", "NOUN"), ("they walk home", "walk", "VERB"), ("the old table", "table", "NOUN"),
            ("a wide river", "river", "NOUN"))  # fmt: skip
    labels = probing.control_labels([word for _, word, _ in rows], 4, 0)
    for x, name in ((14, "the word in its sentence"), (330, "part of speech"), (540, "random label")):
        sheet.words(x, 92, name, bold=True)
    for i, ((phrase, word, tag), label) in enumerate(zip(rows, labels, strict=True)):
        y = 112 + 42 * i
        sheet.chips(14, y, phrase.split(), {phrase.split().index(word): "chosen"})
        sheet.words(330, y + 17, tag)
        sheet.words(540, y + 17, f"{label}")
    return sheet.figure()


def tired_or_wide() -> Figure:
    """What the word it stands for, with one word that decides."""
    sheet = Sheet(290, "What is it? One word decides")
    first = sheet.chips(60, 90, ["The", "animal", "didn't", "cross", "the", "street"], {1: "chosen", 5: "chosen"})
    second = sheet.chips(60, 190, ["because", "it", "was", "too"], {1: "chosen"})
    tired = sheet.chip(second[-1].right + 24, 172, "tired", "chosen")
    wide = sheet.chip(second[-1].right + 24, 226, "wide", "chosen")
    for noun in (first[1], first[5]):
        sheet.line((second[1].centre[0], second[1].y - 3), (noun.centre[0], noun.bottom + 3), dashed=True)
    sheet.words(tired.right + 18, tired.centre[1], "it is the animal")
    sheet.words(wide.right + 18, wide.centre[1], "it is the street")
    return sheet.figure()


def two_means(model: Any, tokenizer: Any) -> Figure:
    """One number of each token's vector, and its mean with padding and without."""
    short, long = "He was tired .", "He was tired and went to bed ."
    encoding = tokenizer([short, long])
    with torch.no_grad():
        states = run(model, encoding).bert.last_hidden_state[0]  # [T, D]
    real = encoding.attention_mask[0].bool()
    entry = int((states[real].mean(dim=0) - states.mean(dim=0)).abs().argmax())
    values = states[:, entry]
    tokens = encoding.tokens[0]
    sheet = Sheet(280, "Whose numbers go into the mean?", "One entry of the vectors of a short text in a batch")
    states_of = {i: "padding" for i, token in enumerate(tokens) if token == "[PAD]"}
    row = sheet.chips(14, 84, [token if token != "[PAD]" else "pad" for token in tokens], states_of, width=62)
    for chip, value in zip(row, values.tolist(), strict=True):
        sheet.grid(chip.x, 126, [value], digits=1, largest=1.6 * values.abs().max().item(), cell=chip.width)
    for y, name, mean in ((192, "mean of all", values.mean()), (240, "mean of real tokens", values[real].mean())):
        sheet.words(220, y + 17, name, align="right", bold=y > 200)
        sheet.grid(236, y, [mean.item()], digits=2, largest=1.6 * values.abs().max().item(), cell=70)
    return sheet.figure()


def controls() -> Figure:
    """Each claim of the chapter with the control that it needs."""
    sheet = Sheet(360, "Which control belongs to which claim?")
    for i, (claim, control) in enumerate(
        (
            ("this head attends to X", "untrained, same initialization"),
            ("this word explains the answer", "remove it, remove others"),
            ("this head is needed", "other half of the sentences"),
            ("this vector carries the verb", "other pairs, other vectors"),
            ("the senses are apart", "shuffled labels, other words"),
            ("this layer knows nouns", "random labels, new words"),
        )
    ):
        y = 54 + 50 * i
        one = sheet.box(14, y, 300, 40, claim)
        sheet.arrow(one, sheet.box(376, y, 330, 40, control, new=True))
    return sheet.figure()
