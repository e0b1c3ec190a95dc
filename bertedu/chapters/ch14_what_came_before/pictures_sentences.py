"""The pictures of chapter 14 from ELMo on: models that read the sentence, and what became of them on a task."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet
from bertedu.course.pictures.places import Box


def one_vector() -> Figure:
    """Two senses share a row of the table; two orders are the same bag."""
    sheet = Sheet(366, "What can one vector for each word not tell?")
    sheet.words(14, 66, "which sense", bold=True)
    table = sheet.grid(540, 104, [[0.6, -0.3, 0.9]], "the vector of bank", cell=52, largest=1.6, digits=1)
    for y, words in ((86, ["the", "bank", "of", "the", "river"]), (134, ["the", "bank", "lends", "money"])):
        chips = sheet.chips(14, y, words, {1: "chosen"}, width=56)
        sheet.arrow((chips[-1].right, y + 17), (table.x, table.centre[1] + (y - 110) / 5))
    sheet.words(618, 160, "twice the same", align="center")
    sheet.line((14, 192), (706, 192))
    sheet.words(14, 214, "which order", bold=True)
    bag = sheet.box(540, 264, 156, 60, "cow, harps,", "near, the, the")
    for y, subject, words in (
        (256, 1, ["the", "harps", "near", "the", "cow"]),
        (300, 1, ["the", "cow", "near", "the", "harps"]),
    ):
        chips = sheet.chips(14, y, words, {subject: "chosen"}, width=56)
        sheet.arrow((chips[-1].right, y + 17), (bag.x, bag.centre[1] + (y - 278) / 5))
        sheet.words(
            chips[subject].centre[0],
            y + (-16 if y < 280 else 50),
            "needs are" if y < 280 else "needs is",
            align="center",
        )
    sheet.words(618, 346, "the same bag", align="center")
    return sheet.figure()


def step_of_an_lstm() -> Figure:
    """One step of an LSTM with one number in each vector: what is kept, what enters, what leaves."""
    keep, enter, leave, new, before = 0.9, 0.2, 0.8, -0.5, 2.0
    cell = keep * before + enter * new
    sheet = Sheet(
        350, "What does an LSTM carry along the sentence?", "A cell c, and a hidden state h. Here each is one number."
    )
    old = sheet.grid(40, 120, [before], "c before", cell=64, digits=1, largest=4)
    after = sheet.grid(420, 120, [cell], "c after", cell=64, digits=1, largest=4)
    hidden = sheet.grid(610, 120, [leave * math.tanh(cell)], "h after", cell=64, digits=2, largest=4)
    sheet.arrow(old, after, f"keep: f · c = {keep * before:.1f}")
    sheet.arrow(after, hidden, "o · tanh c")
    gates = sheet.box(
        40, 250, 262, 62, "gates and candidate", f"f {keep}  i {enter}  o {leave}  g \u2212{-new}", new=True
    )
    sheet.arrow((gates.right, gates.centre[1]), (452, 158))
    sheet.words(410, 240, f"add: i · g = \u2212{-enter * new:.1f}")
    sheet.words(452, 300, f"{keep} · {before:.0f} \u2212 {-enter * new:.1f} = {cell:.1f}", bold=True)
    return sheet.figure()


def words_seen() -> Figure:
    """Which words each model has read when it fills a gap: the left, the right, or both at once."""
    tokens = ["the", "[MASK]", "are", "wet", "."]
    sheet = Sheet(366, "Which words does each model read for the gap?", "Hatched: it can't see them.")
    for y, name, seen in (
        (88, "ELMo, from the left", {0}),
        (138, "ELMo, from the right", {2, 3, 4}),
        (216, "GPT", {0}),
        (286, "BERT", {0, 2, 3, 4}),
    ):
        sheet.words(14, y + 17, name, bold=True)
        states = {i: "hidden" if i == 1 else "chosen" if i in seen else "padding" for i in range(len(tokens))}
        sheet.chips(240, y, tokens, states, width=56)
    sheet.line((568, 105), (580, 105), (580, 155), (568, 155))
    sheet.words(590, 120, "put together")
    sheet.words(590, 142, "at the end")
    sheet.words(590, 233, "one side")
    sheet.words(590, 292, "both sides,")
    sheet.words(590, 314, "in each layer")
    return sheet.figure()


def two_sides() -> Figure:
    """p(w | left) times p(w | right) over p(w), normalized, for two words."""
    left, right, prior = (torch.tensor(pair) for pair in ((0.8, 0.2), (0.6, 0.4), (0.5, 0.5)))
    product = left * right / prior
    both = product / product.sum()
    sheet = Sheet(264, "How do two sides become one answer?", "Two words, p(w) = 0.5 each")
    words = ["dog", "dogs"]
    places = (
        (74, "p(w | left)", left, 0),
        (250, "p(w | right)", right, 0),
        (426, "/ p(w)", product, 0),
        (602, "both", both, 0),
    )
    for x, name, values, _ in places:
        sheet.grid(x, 130, values[:, None], name, cell=86, largest=1.8, rows=words if x < 100 else ())
    for x, sign in ((205, "×"), (381, "=")):
        sheet.words(x, 164, sign, align="center")
    sheet.arrow((512, 164), (602, 164))
    sheet.words(557, 216, "÷ sum", align="center", faint=True)
    sheet.words(645, 230, "surer", align="center", bold=True)
    return sheet.figure()


def causal_mask() -> Figure:
    """Who attends to whom in BERT and in GPT: the causal mask takes the upper right half."""
    tokens = ["the", "dogs", "are", "wet"]
    sheet = Sheet(330, "What is new in GPT's attention?", "Rows: the query. Columns: the keys it may attend to.")
    everyone = torch.ones(4, 4)
    for x, name, table in ((70, "BERT", everyone), (430, "GPT: causal mask", everyone.tril())):
        grid = _allowed(sheet, x, tokens, table)
        sheet.words(grid.centre[0], 96, name, align="center", bold=True)
    return sheet.figure()


def her_mask() -> Figure:
    """Without the causal mask each position sees the token that it should predict."""
    tokens = ["the", "dogs", "are", "wet"]
    sheet = Sheet(370, "Why is her loss almost 0?", "Each row predicts the next token: the cell with the thick edge.")
    for x, name, table in ((70, "hers", torch.ones(4, 4)), (430, "ours", torch.ones(4, 4).tril())):
        grid = _allowed(sheet, x, tokens, table)
        sheet.words(grid.centre[0], 96, name, align="center", bold=True)
        for i in range(3):
            _frame(sheet, grid.cell(i, i + 1))
    sheet.words(190, 340, "the answer is seen, and copied", align="center", bold=True)
    sheet.words(550, 340, "the answer is hidden", align="center", bold=True)
    return sheet.figure()


def _allowed(sheet: Sheet, x: float, tokens: Sequence[str], table: Tensor) -> Any:
    """A grid of who may attend to whom, with yes and dashes."""
    grid = sheet.grid(x, 150, table, rows=tokens, columns=tokens, numbers=False, cell=60, largest=1.6, row=38)
    for i in range(len(tokens)):
        for j in range(len(tokens)):
            sheet.words(*grid.cell(i, j).centre, "yes" if table[i, j] else "–", align="center", faint=not table[i, j])
    return grid


def _frame(sheet: Sheet, box: Box) -> None:
    """A thick edge around a cell."""
    left, top, right, bottom = box.x, box.y, box.right, box.bottom
    sheet.line((left, top), (right, top), (right, bottom), (left, bottom), (left, top), thick=True, ink="#222222")


def noun_in_the_gap(answers: Mapping[str, Tensor], plural: Tensor) -> Figure:
    """The probability of all plurals before "is" and before "are", by model."""
    sheet = Sheet(
        380, "How likely is a plural in the gap?", "0.5: it doesn't know. Right is 0 before is, 1 before are."
    )
    for x, verb, row in ((200, "is", 0), (470, "are", 1)):
        shares = [scores.softmax(dim=-1)[row, plural].sum().item() for scores in answers.values()]
        sheet.chips(x, 80, ["the", "[MASK]", verb], {1: "hidden"}, width=44)
        for i, share in enumerate(shares):
            sheet.bars(x, 140 + 44 * i, [share], longest=160, thick=[0] if i == len(shares) - 1 else [])
    for i, name in enumerate(answers):
        sheet.words(14, 157 + 44 * i, name)
    return sheet.figure()


def features_or_fine_tuning() -> Figure:
    """Frozen features under a network of the task, beside a model that is trained on as a whole."""
    sheet = Sheet(330, "What changed in 2018?", "Dotted: frozen. Thick edge: trained on the task.")
    for x, name, model, frozen, top, answer in (
        (40, "features: ELMo", "pre-trained model", True, "a network of the task", "from random weights"),
        (400, "fine-tuning: GPT, BERT", "pre-trained model", False, "one small layer", "from random weights"),
    ):
        sheet.words(x + 140, 92, name, align="center", bold=True)
        upper = sheet.box(x, 116, 280, 70 if frozen else 46, top, *([answer] if frozen else []), new=True)
        lower = sheet.box(
            x, 232, 280, 60, model, "as it is" if frozen else "all weights move", new=not frozen, frozen=frozen
        )
        sheet.arrow(lower, upper)
        sheet.words(x + 150, 209, "vectors")
    return sheet.figure()


def after_fine_tuning(tuned: Mapping[str, float]) -> Figure:
    """Accuracy after 200 labels, with random weights and pre-trained."""
    sheet = Sheet(
        266, "What are 6,000 sentences without labels worth?", "Accuracy after 240 steps on 200 labels, in percent"
    )
    sheet.bars(250, 84, [100 * share for share in tuned.values()], longest=340, full=100, digits=0, thick=[2, 3])
    for i, name in enumerate(tuned):
        sheet.words(14, 101 + 34 * i, name)
    sheet.line((420, 80), (420, 226), dashed=True)
    sheet.words(420, 244, "guessing: 50", align="center", faint=True)
    return sheet.figure()


def all_answers(found: Callable[[str, str], list[float]], recorded: Mapping[str, Any], MODELS: Sequence[str]) -> Figure:
    """Six questions, the best baseline and six models: means of three runs in percent."""
    questions = {
        "neighbours": "neighbours",
        "senses by the word": "senses",
        "agreement, 2 between": "agreement",
        "words, gap before the end": "gap inside",
        "words, gap at the end": "gap at end",
        "topics": "topics",
    }
    table = []
    for question in questions:
        simple = [line[question] for line in recorded["baselines"].values() if question in line]
        means = [sum(runs) / len(runs) for runs in (found(name, question) for name in MODELS)]
        table.append([100 * max(simple, default=0.5), *means])
    sheet = Sheet(370, "Which model is best at what?", "Percent, means of three runs. Thick edge: the best in its row.")
    grid = sheet.grid(140, 124, table, cell=81, largest=200, digits=0, row=37)
    for i, name in enumerate(questions.values()):
        sheet.words(14, grid.row(i).centre[1], name)
        models = table[i][1:]
        for j, mean in enumerate(models):
            if round(mean) == round(max(models)):
                _frame(sheet, grid.cell(i, 1 + j))
    for j, name in enumerate(("simple", *MODELS)):
        sheet.words(grid.column(j).centre[0], 104, name, align="center", bold=name == "BERT", faint=not j)
    return sheet.figure()
