"""The pictures of chapter 17 up to the loss: samples in the text, and a question at every token."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet
from bertedu.course.pictures.sheet import number
from bertedu.tokenization import BertTokenizer


def electra() -> Figure:
    """Text, masked text, samples, labels, and the two models between them."""
    sheet = Sheet(400, "What stands around BERT's encoder in ELECTRA?")
    text = ["the", "capital", "of", "norway", "is", "oslo"]
    rows: tuple[tuple[int, str, list[str], dict[int, str]], ...] = (
        (56, "text", text, {}),
        (112, "masked", [*text[:3], "[MASK]", "is", "[MASK]"], {3: "hidden", 5: "hidden"}),
        (226, "sampled", [*text[:3], "sweden", "is", "rome"], {3: "chosen", 5: "chosen"}),
    )
    for y, name, tokens, states in rows:
        sheet.words(14, y + 17, name, bold=True)
        chips = sheet.chips(112, y, tokens, states, width=94)
    generator = sheet.box(112, 166, chips[-1].right - 112, 40, "generator: small, thrown away in the end", new=True)
    sheet.box(112, 280, chips[-1].right - 112, 40, "discriminator: this one is ELECTRA", new=True)
    sheet.words(14, 352, "replaced?", bold=True)
    for i, chip in enumerate(chips):
        sheet.words(chip.centre[0], 352, "yes" if i in (3, 5) else "no", align="center", bold=i in (3, 5))
    sheet.words(generator.centre[0], 382, "a label at every token", align="center")
    return sheet.figure()


def too_easy(easy: Mapping[str, float]) -> Figure:
    """How many of the wrong words a list of neighbor pairs finds, by where the words come from."""
    sheet = Sheet(250, "Which wrong words does a list of pairs find?", "Share of words in a pair that is new")
    names = {"random": "random words", "by frequency": "by frequency", "BERT's": "BERT's words"}
    values = [*(easy[name] for name in names), easy["original"]]
    sheet.bars(200, 84, values, [*names.values(), "the right words"], longest=400, thick=[2])
    return sheet.figure()


def samples(tokenizer: BertTokenizer, by_hand: Sequence[tuple], word_shares: Tensor) -> Figure:
    """The generator's distribution at each [MASK], the sample, and the label."""
    sheet = Sheet(470, "How does a wrong word get into the text?")
    read, shown = ([row[i] for row in by_hand] for i in (1, 2))
    places = [i for i, word in enumerate(read) if word == "[MASK]"]
    sheet.words(14, 68, "generator reads", faint=True)
    above = sheet.chips(14, 84, read, dict.fromkeys(places, "hidden"))
    below_y = 356
    sheet.words(14, 340, "discriminator reads", faint=True)
    marks = {i: "chosen" for i, row in enumerate(by_hand) if row[3]}
    below = sheet.chips(14, below_y, shown, marks)
    for i, (_, _, _, label) in enumerate(by_hand):
        sheet.words(below[i].centre[0], below_y + 54, str(label), align="center", bold=bool(label))
    sheet.words(14, below_y + 88, "label: 1 = replaced. A lucky guess is 0.", faint=True)
    for n, place in enumerate(places):
        x = 150.0 + 370 * n
        ids = word_shares[n].topk(4).indices.tolist()
        drawn = tokenizer.vocab[shown[place]]
        ids = ids if drawn in ids else [*ids[:3], drawn]
        words = tokenizer.convert_ids_to_tokens(ids)
        values = word_shares[n][ids].tolist()
        bars = sheet.bars(x, 160, values, words, longest=130, thick=[ids.index(drawn)])
        sheet.arrow((above[place].centre[0], above[place].bottom), (x + 30, 162))
        sheet.arrow((x + 30, bars[-1].bottom), (below[place].centre[0], below[place].y))
    return sheet.figure()


def gumbel(three: Tensor, noise: Tensor) -> Figure:
    """Scores plus noise, and the largest sum wins."""
    sheet = Sheet(260, "How can noise and argmax sample a word?", "Three words, and noise −ln(−ln u) for each")
    total = three + noise
    grids = []
    for x, name, values in ((40, "scores", three), (280, "noise", noise), (520, "sum", total)):
        grids.append(sheet.grid(x, 126, values[:, None], name, cell=90, digits=2, largest=5))
    for i, word in enumerate(("first", "second", "third")):
        sheet.words(620, grids[2].row(i).centre[1], word, bold=i == int(total.argmax()))
    sheet.words(205, grids[0].centre[1], "+", align="center")
    sheet.words(445, grids[0].centre[1], "=", align="center")
    best = grids[2].row(int(total.argmax()))
    edge = ((best.x, best.y), (best.right, best.y), (best.right, best.bottom), (best.x, best.bottom), (best.x, best.y))
    sheet.line(*edge, thick=True, ink="#222222")
    return sheet.figure()


def intervals(three: Tensor) -> Figure:
    """One random number for each token: in whose interval does it lie?"""
    sheet = Sheet(210, "And with a single random number?", "The probabilities laid end to end, from 0 to 1")
    left, wide, at = 30.0, 660.0, 0.0
    u = 0.8
    for word, share in zip(("first", "second", "third"), three.softmax(-1).tolist(), strict=True):
        words = (word, number(share, 2))
        sheet.box(left + at * wide, 92, share * wide, 56, *words, new=at <= u < at + share)
        at += share
    sheet.arrow((left + u * wide, 196), (left + u * wide, 148))
    sheet.words(left + u * wide - 12, 184, "u = 0.8 gives the second word", align="right")
    return sheet.figure()


def no_gradient() -> Figure:
    """Forward from scores to the loss, and where the gradient stops on its way back."""
    sheet = Sheet(250, "How far does the discriminator's gradient get?")
    names = ("scores", "[N, V]"), ("sampled ids", "integers [N]"), ("embeddings", "[N, E]"), ("discriminator", "loss")
    boxes, x = [], 14.0
    for lines, width in zip(names, (110, 140, 140, 170), strict=True):
        boxes.append(sheet.box(x, 90, width, 60, *lines))
        x += width + 42
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    sheet.words(145, 72, "argmax", align="center")
    sheet.arrow((boxes[3].centre[0], 190), (boxes[2].centre[0], 190))
    sheet.line((boxes[3].centre[0], 156), (boxes[3].centre[0], 190))
    sheet.words((boxes[2].centre[0] + boxes[3].centre[0]) / 2, 214, "gradient", align="center", bold=True)
    middle = boxes[1].right + 21
    sheet.line((middle, 166), (middle, 214), thick=True, ink="#222222")
    sheet.words(middle - 12, 190, "stops: an id has no derivative", align="right")
    return sheet.figure()


def two_tasks(by_hand: Sequence[tuple]) -> Figure:
    """The same text, and what each of the two tasks asks at its tokens."""
    sheet = Sheet(350, "What is asked at each token?")
    words = [row[0] for row in by_hand]
    chosen = [row[1] == "[MASK]" for row in by_hand]
    for y, name, read, labels in (
        (84, "BERT: which word?", [row[1] for row in by_hand], words),
        (238, "ELECTRA: replaced?", [row[2] for row in by_hand], [str(row[3]) for row in by_hand]),
    ):
        sheet.words(14, y - 22, name, bold=True)
        asked = [hidden or "ELECTRA" in name for hidden in chosen]
        states = {i: "hidden" for i, word in enumerate(read) if word == "[MASK]"}
        for chip, label, is_asked in zip(sheet.chips(14, y, read, states), labels, asked, strict=True):
            sheet.words(chip.centre[0], y + 54, label if is_asked else "–", align="center", faint=not is_asked)
        told = f"{sum(asked)} of {len(asked)} tokens have a label"
        sheet.words(14, y + 84, told, faint=True)
    return sheet.figure()


def loss_by_hand(z: Tensor) -> Figure:
    """Three logits, the probabilities of "replaced", and what each token costs under two sets of labels."""
    sheet = Sheet(370, "Which token costs most?", "The loss of a token: −ln of the right answer's probability")
    names = ["token 1", "token 2", "token 3"]
    logit = sheet.grid(130, 130, z[:, None], "logit z", cell=86, digits=0, largest=5, rows=names)
    chance = z.sigmoid()
    sigma = sheet.grid(290, 130, chance[:, None], "σ(z)", cell=86, digits=2, largest=1.6)
    sheet.arrow(logit, sigma)
    for x, labels in ((460, (0, 1, 0)), (610, (0, 1, 1))):
        right = [p if y else 1 - p for p, y in zip(chance.tolist(), labels, strict=True)]
        costs = -Tensor(right).log()
        sheet.words(x - 22, 110, "y", align="center", faint=True)
        for i, y in enumerate(labels):
            sheet.words(x - 22, logit.row(i).centre[1], str(y), align="center")
        grid = sheet.grid(x, 130, costs[:, None], "loss", cell=80, digits=2, largest=5)
        sheet.words(grid.centre[0], grid.bottom + 24, f"mean {number(costs.mean().item(), 2)}", align="center")
    sheet.words(130, 300, "y = 1: replaced, −ln σ(z).  y = 0: original, −ln (1 − σ(z)).", faint=True)
    sheet.words(130, 334, "Sure and wrong is expensive: token 3 on the right.", bold=True)
    return sheet.figure()
