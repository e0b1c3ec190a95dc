"""The pictures of chapter 08: the loop around BERT, and what keeps it going."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet, map_of_bert

IGNORED = -100


def where() -> Figure:
    """The map of BERT, and below it the way of the gradients back into it."""
    sheet = Sheet(300, "What turns random weights into a BERT?", "Thick: new in this chapter")
    boxes = map_of_bert(sheet, 70, set())
    losses = sheet.box(592, 224, 114, 44, "two losses")
    optimizer = sheet.box(366, 224, 96, 44, "AdamW", new=True)
    weights = sheet.box(120, 224, 150, 44, "new weights", new=True)
    answers = boxes["heads"].centre[0]
    sheet.arrow((answers, 172), (answers, 224))
    sheet.arrow(losses, optimizer, "gradients")
    sheet.arrow(optimizer, weights)
    sheet.arrow((195, 224), (195, 174))
    sheet.words(210, 200, "thousands of times")
    return sheet.figure()


def batches(corpus: Any, task: Any, batches: Any, shortest: Any, example_batch: Any) -> Figure:
    """From documents to batches, and one pair of a batch before and after masking, with its labels."""
    sheet = Sheet(470, "How does text become batches?")
    counts = (
        (f"{len(corpus.train):,}", "documents"),
        (f"{len(task.train_text.tokens):,}", "tokens"),
        (f"{sum(len(one['input_ids']) for one in batches):,}", "pairs"),
        (f"{len(batches):,}", "batches"),
    )
    boxes = [sheet.box(14 + 182 * i, 58, 136, 58, *lines) for i, lines in enumerate(counts)]
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    ids, shown, labels = (
        row[0].tolist() for row in (shortest["input_ids"], example_batch["input_ids"], example_batch["labels"])
    )
    names = [task.tokenizer.convert_ids_to_tokens(row) for row in (ids, shown)]
    width = names[0].index("[PAD]") if "[PAD]" in names[0] else len(ids)
    half = names[0].index("[SEP]") + 1
    sheet.words(14, 152, "a pair", bold=True)
    sheet.words(14, 262, "masked", bold=True)
    sheet.words(104, 262, "anew each time; the labels below, all others −100", faint=True)
    for y, tokens, masked in ((170, names[0], False), (280, names[1], True)):
        for start, stop, top in ((0, half, y), (half, width, y + (84 if masked else 40))):
            states = {}
            for i in range(start, stop):
                if masked and labels[i] != IGNORED:
                    states[i - start] = (
                        "hidden" if tokens[i] == "[MASK]" else "chosen" if shown[i] == ids[i] else "random"
                    )
            row = sheet.chips(14, top, tokens[start:stop], states)
            for i, chip in enumerate(row, start):
                if masked and labels[i] != IGNORED:
                    sheet.words(chip.centre[0], top + 52, names[0][i], align="center", mono=True)
    return sheet.figure()


def frequencies(task: Any, unigram_loss: float, first_losses: Sequence[float]) -> Figure:
    """The loss of the first try beside that of a model that only knows frequencies."""
    sheet = Sheet(220, "What has the first try learned?", "Loss of the masked words; shorter is better")
    tried = sum(first_losses[-20:]) / 20 - math.log(2)
    names = ["ln V: nothing known", "frequencies alone", "the first try"]
    sheet.bars(240, 84, [math.log(len(task.tokenizer)), unigram_loss, tried], names, 380, 7.7, digits=1, thick=[2])
    return sheet.figure()


def padding(some_pairs: Sequence[Any]) -> Figure:
    """A batch in the order of the text and one of pairs of about one length."""
    sheet = Sheet(300, "Who waits for the longest pair?", "A batch of 16 pairs: tokens grey, padding white")
    ordered = sorted(some_pairs, key=len)
    for x, name, some in ((14, "in order of the text", some_pairs[:16]), (372, "sorted by length", ordered[160:176])):
        sheet.words(x, 86, name, bold=True)
        longest = max(map(len, some)) + 3
        for i, pair in enumerate(some):
            y = 116 + 10.5 * i
            sheet.column(x, y, 8, 330 * (len(pair) + 3) / longest)
        sheet.line((x, 104), (x + 331, 104), (x + 331, 277), (x, 277), (x, 104))
    return sheet.figure()


def adam(adam_paths: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Two weights, three steps each: what Adam keeps of their gradients, and how far it goes."""
    sheet = Sheet(330, "How far does Adam go where gradients flip?", "Each row is a step; the learning rate is 0.01")
    columns = ["g", "mean", "square", "100 · move"]
    for x, (name, path) in zip((60, 408), adam_paths.items(), strict=True):
        sheet.words(x, 96, {"steady": "steady gradients", "flips": "gradients that flip"}[name], bold=True)
        for i, (column, width) in enumerate(zip(columns, (48, 64, 74, 112), strict=True)):
            left = x + (0, 48, 112, 186)[i]
            factor = 100 if i == 3 else 1
            values = [[factor * row[i]] for row in path]
            sheet.words(left + width / 2, 132, column, align="center", faint=i < 3, bold=i == 3)
            sheet.grid(left, 150, values, digits=(0, 2, 1, 2)[i], cell=width, largest=(4, 4, 9, 2)[i], row=40)
        if x < 100:
            for i in range(3):
                sheet.words(46, 170 + 40 * i, f"{i + 1}", align="right", mono=True)
        told = sum(row[3] for row in path)
        sheet.words(x, 300, f"together {told:.3f}", bold=True)
    return sheet.figure()


def decay(after_decay: Any) -> Figure:
    """What is left of two weights under two kinds of decay."""
    sheet = Sheet(300, "What is left of a weight of 1.0?", "300 steps of AdamW or Adam on gradients of pure noise")
    for y, name, decoupled in ((84, "decay in the gradient", False), (186, "decoupled decay", True)):
        sheet.words(14, y + 8, name, bold=True)
        left = [after_decay(scale, decoupled) for scale in (0.01, 10)]
        sheet.bars(200, y + 22, left, ["small noise", "large noise"], longest=420, full=1.0)
    return sheet.figure()


def schedule(rate_factor: Any) -> Figure:
    """The learning rate over a run."""
    sheet = Sheet(290, "How does the learning rate move through a run?")
    plane = Plane(sheet, 90, 70, 590, 160, (0, 1), (0, 1.1))
    plane.curve(rate_factor, 0.0, 0.06)
    plane.curve(rate_factor, 0.06, 1.0)
    plane.ticks(up=(0, 0.5, 1))
    for share, text in ((0.06, "6 %"), (1.0, "100 %")):
        sheet.words(plane.at(share, 0)[0], 250, text, align="center")
    for share in (0.03, 0.53):
        plane.point(share, rate_factor(share))
    left, right = plane.at(0.03, 0.5), plane.at(0.53, 0.5)
    sheet.line(left, right, dashed=True)
    sheet.words(left[0] + 14, left[1] + 16, "at 3 %")
    sheet.words(right[0] + 14, right[1] - 8, "at 53 %")
    sheet.words(plane.at(0.1, 1)[0], 66, "peak", bold=True)
    sheet.words(plane.at(0.32, 0)[0], left[1] + 16, "half of the peak", align="center")
    return sheet.figure()


def clipping() -> Figure:
    """A gradient of two numbers before and after clipping to norm 1."""
    sheet = Sheet(360, "What does clipping keep?", "The direction; only the length becomes 1")
    plane = Plane(sheet, 120, 80, 300, 240, (0, 5), (0, 4.4))
    plane.curve(lambda a: math.sqrt(max(0.0, 1 - a * a)), 0.0, 1.0)
    sheet.line(plane.at(0, 0), plane.at(3, 4), dashed=True, ink="#222222")
    plane.point(3, 4)
    plane.point(0.6, 0.8)
    plane.ticks(across=(1, 3), up=(1, 4))
    sheet.words(plane.at(3, 4)[0] + 14, plane.at(3, 4)[1], "(3, 4): norm 5")
    sheet.words(plane.at(0.6, 0.8)[0] + 24, plane.at(0.6, 0.8)[1], "(0.6, 0.8): norm 1", bold=True)
    return sheet.figure()


def step(seen: Mapping[str, float], step_loss: Tensor, step_norm: float) -> Figure:
    """One training step from left to right, and what it does to one weight."""
    sheet = Sheet(270, "What happens to one weight in a training step?", "Thick: new against the first try")
    names = ("forward", "backward", "clip", "step", "zero_grad")
    told = (
        (f"loss {step_loss.item():.2f}", ""),
        ("gradient", f"{seen['gradient']:.5f}"),
        (f"norm {step_norm:.1f} → 1" if step_norm > 1 else f"norm {step_norm:.2f}", f"{seen['clipped']:.5f}"),
        ("by AdamW", ""),
        ("gradient", "gone"),
    )
    boxes = []
    for i, (name, lines) in enumerate(zip(names, told, strict=True)):
        boxes.append(sheet.box(14 + 142 * i, 84, 118, 46, name, new=name in ("clip", "step")))
        for j, line in enumerate(lines):
            if line:
                sheet.words(73 + 142 * i, 152 + 24 * j, line.replace("-", "−"), align="center", faint=not j)
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    before, after = (f"{seen[name]:.5f}".replace("-", "−") for name in ("before", "after"))
    moved = f"{seen['after'] - seen['before']:+.4f}".replace("-", "−")
    sheet.words(14, 236, f"the weight: {before} before, {after} after, moved by {moved}", bold=True)
    return sheet.figure()


def start(start_tokens: Sequence[str], first_layer: Mapping[str, Tensor]) -> Figure:
    """The first layer's attention before any training, with two initializations."""
    sheet = Sheet(
        440, "Where does the first layer attend before training?", "A row attends to a column; mean over heads"
    )
    for x, (name, table) in zip((104, 440), first_layer.items(), strict=True):
        sheet.words(x, 92, {"published": "as published", "matching": "matching"}[name], bold=True)
        rows = start_tokens if x < 200 else ()
        sheet.grid(x, 116, table, rows=rows, numbers=False, cell=26, row=29, largest=0.5)
    return sheet.figure()


def muon(stretches: Mapping[str, Tensor]) -> Figure:
    """The largest singular values of one gradient before and after Muon."""
    sheet = Sheet(290, "What does Muon do to a gradient?", "Its 20 largest singular values")
    for x, name, title in ((40, "gradient", "the gradient, norm 1"), (400, "Muon", "after Muon")):
        sheet.words(x, 90, title, bold=True)
        sheet.line((x, 262), (x + 290, 262))
        for i, value in enumerate(stretches[name][:20].tolist()):
            sheet.column(x + 14 * i, 262, 110 * value, 10)
        sheet.words(x - 6, 152, "1", align="right")
        sheet.line((x, 152), (x + 290, 152), dashed=True)
    return sheet.figure()


def folder(run_files: Mapping[str, int]) -> Figure:
    """The files of a run, and what each is for."""
    sheet = Sheet(300, "What is in a run's folder, and for what?")
    parts = {
        "metrics.jsonl": "the curves: a line every 20 steps",
        "resume.safetensors": "to go on: weights, averages, progress",
        "checkpoint": "the last weights: from_pretrained",
        "checkpoint-best": "the weights with the best validation loss",
    }
    for i, (name, what) in enumerate(parts.items()):
        size = sum(size for path, size in run_files.items() if path.split("/")[0] == name)
        y = 56 + 60 * i
        box = sheet.box(14, y, 210, 44, name)
        sheet.words(300, y + 22, f"{size / 1e6:.2f} MB", align="right", faint=True)
        sheet.arrow((306, y + 22), (336, y + 22))
        sheet.words(342, y + 22, what)
        assert box.right < 240
    return sheet.figure()


def ladder(task: Any, unigram_loss: float, copying: float, yours: Mapping[str, Sequence[float]]) -> Figure:
    """A scale of losses with what each height means."""
    sheet = Sheet(420, "What does a loss mean?", "Loss of the masked words")
    plane = Plane(sheet, 70, 76, 90, 320, (0, 1), (0, 8))
    plane.ticks(up=(0, 2, 4, 6, 8))
    end = sum(yours["mlm_loss"][-5:]) / 5
    marks = (
        (math.log(len(task.tokenizer)), 0, "ln V: nothing is known", False),
        (unigram_loss, -14, "unigram loss: frequencies", False),
        (math.log(copying), 4, "… and copying what is visible", False),
        (unigram_loss - 0.5, 30, "below: the other words are used", False),
        (end, 0, "the end of this run", True),
    )
    for value, shift, text, bold in marks:
        y = plane.at(0, value)[1]
        sheet.line((70, y), (160, y), (190, y + shift), thick=bold, ink="#222222")
        sheet.words(198, y + shift, f"{value:.1f}", bold=bold, mono=True)
        sheet.words(250, y + shift, text, bold=bold)
    return sheet.figure()


def resume() -> Figure:
    """What a run saves, and what it computes again."""
    sheet = Sheet(320, "What must a run keep to go on?", "Left it is saved; right it follows from that")
    saved = [
        sheet.box(14, 82 + 78 * i, 250, 54, *lines, new=True)
        for i, lines in enumerate(
            (("weights", "one for each"), ("averages", "Adam 2, Muon 1"), ("progress", "step, epoch, batch"))
        )
    ]
    computed = [
        sheet.box(440, 82 + 78 * i, 266, 54, *lines)
        for i, lines in enumerate((("next learning rate",), ("next batch, its masks",), ("next dropout",)))
    ]
    for one in computed:
        sheet.arrow(saved[2], one)
    sheet.words(352, 300, "with the seed", align="center", faint=True)
    return sheet.figure()


def six() -> Figure:
    """The three products that one weight takes part in."""
    sheet = Sheet(290, "Why six operations for each weight?", "One weight w, one token: y gets x · w")
    for y, name, products in (
        (84, "forward", (("x · w", "added into y", "2"),)),
        (150, "backward", (("∂y · w", "added into ∂x, for the layer below", "2"), ("∂y · x", "added into ∂w", "2"))),
    ):
        sheet.words(14, y + 20, name, bold=True)
        for i, (product, into, count) in enumerate(products):
            box = sheet.box(130, y + 54 * i, 110, 40, product)
            sheet.arrow((box.right, box.centre[1]), (290, box.centre[1]))
            sheet.words(296, box.centre[1], into)
            sheet.words(690, box.centre[1], count, align="right", bold=True)
    sheet.line((650, 250), (700, 250))
    sheet.words(690, 268, "6", align="right", bold=True)
    sheet.words(14, 268, "multiplications and additions", faint=True)
    return sheet.figure()


def shares(operations: Mapping[int, Mapping[str, float]]) -> Figure:
    """Where the operations of BERT-Base go, for two lengths."""
    sheet = Sheet(440, "Where do the operations of BERT-Base go?", "Shares of the operations for one token")
    for y, (length, parts) in zip((90, 266), operations.items(), strict=True):
        sheet.words(14, y, f"sequences of {length} tokens", bold=True)
        whole = sum(parts.values())
        sheet.bars(290, y + 12, [part / whole for part in parts.values()], list(parts), longest=360, full=0.7)
    return sheet.figure()


def memory(memory: Mapping[str, tuple[float, float]]) -> Figure:
    """Memory for weights and averages, and for activations."""
    sheet = Sheet(260, "How much memory does a batch of 256 take?", "In GB; the line is a card with 24 GB")
    for i, (name, (fixed, moving)) in enumerate(memory.items()):
        y = 100 + 36 * i
        sheet.words(206, y, name, align="right", mono=True)
        first = sheet.column(216, y + 9, 18, 3.4 * fixed, thick=True)
        sheet.column(first.right, y + 9, 18, 3.4 * moving)
        sheet.words(704, y, f"{fixed:.0f} + {moving:.0f}", align="right", bold=fixed + moving < 24)
    sheet.line((216 + 3.4 * 24, 80), (216 + 3.4 * 24, 226), dashed=True, ink="#222222")
    sheet.words(14, 242, "thick edge: weights, gradients and averages; then activations", faint=True)
    return sheet.figure()


def parts() -> Figure:
    """A batch in four parts, one step."""
    sheet = Sheet(270, "How does a batch fit that is too large?", "16 pairs, 4 at a time; one step at the end")
    for i in range(4):
        x = 14 + 128 * i
        part = sheet.box(x, 80, 104, 44, "4 pairs")
        total = sheet.box(x, 176, 104, 56, ".grad", "g1" if not i else f"… + g{i + 1}")
        sheet.arrow(part, total)
        sheet.words(x + 60, 150, f"g{i + 1}")
        if i:
            sheet.arrow((x - 24, 204), (x, 204))
    optimizer = sheet.box(560, 176, 146, 56, "one step", "AdamW", new=True)
    sheet.arrow((14 + 128 * 3 + 104, 204), (optimizer.x, 204))
    return sheet.figure()


def weights(label_counts: Mapping[str, Sequence[int]]) -> Figure:
    """What one label weighs in each part, broken and right."""
    sheet = Sheet(360, "What does one label weigh?", "In thousandths of the whole batch")
    counts = label_counts["short first"]
    names = [f"{count} labels" for count in counts]
    whole = sum(counts)
    for x, title, values in (
        (180, "mean of means", [1000 / len(counts) / count for count in counts]),
        (500, "sum over count", [1000 / whole for _ in counts]),
    ):
        sheet.words(x, 96, title, bold=True)
        sheet.bars(x, 112, values, names if x < 200 else (), longest=170, full=max(1000 / 4 / min(counts), 1), digits=1)
    sheet.words(14, 280, f"mean of means: 1 / (4 · {counts[0]}) and 1 / (4 · {counts[1]})")
    sheet.words(14, 312, f"right: 1 / {whole} for every label", bold=True)
    return sheet.figure()
