"""The pictures of chapter 22 for one processor: the limits of a step, 16 bits, and what fills the memory.

Shapes: B sequences, T tokens, D hidden size, L layers.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log2, log10

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet
from bertedu.course.pictures.sheet import number


def training_step() -> Figure:
    """A training step, and the four limits below its parts."""
    sheet = Sheet(300, "What limits a training step?", "How long it takes, and whether it fits")
    boxes, x = [], 14.0
    for name, width in (("batch", 90), ("forward", 110), ("backward", 120), ("sum gradients", 150), ("update", 110)):
        boxes.append(sheet.box(x, 84, width, 46, name))
        x += width + 28
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    left, right = boxes[1].x, boxes[2].right
    for row, name in enumerate(("1  arithmetic", "2  memory traffic", "3  size of the memory")):
        sheet.box(left, 154 + 46 * row, right - left, 38, name, new=True)
    below = sheet.box(boxes[3].x - 6, 154, 190, 38, "4  communication", new=True)
    sheet.words(below.centre[0], 214, "only with", align="center")
    sheet.words(below.centre[0], 236, "several workers", align="center")
    return sheet.figure()


def operations_and_time() -> Figure:
    """Matrix products and the rest in a layer of BERT on a V100: of the operations, and of the time."""
    sheet = Sheet(
        190, "Where are the operations, and where the time?", "A layer of BERT on a V100 (Ivanov et al. 2021)"
    )
    names = ["matrix products", "the rest"]
    sheet.words(190, 88, "share of operations", bold=True)
    sheet.bars(190, 102, [0.998, 0.002], names, longest=170, digits=3)
    sheet.words(470, 88, "share of the time", bold=True)
    sheet.bars(470, 102, [0.61, 0.39], longest=170, thick=[1])
    return sheet.figure()


def intensity_by_hand() -> Figure:
    """What an addition and a matrix product read, compute and write."""
    sheet = Sheet(300, "How much is computed for each byte?", "Numbers of 4 bytes")
    rows = (
        (82, "x + y", ("read 2 numbers", "1 operation", "write 1"), "1 for 12 bytes"),
        (192, "X · Y, 1024 × 1024", ("read 2 · 1024²", "2 · 1024³", "write 1024²"), "171 for 1 byte"),
    )
    for y, name, parts, told in rows:
        sheet.words(14, y, name, bold=True)
        memory = sheet.box(14, y + 20, 170, 42, parts[0])
        work = sheet.box(232, y + 20, 150, 42, parts[1], new=True)
        out = sheet.box(430, y + 20, 130, 42, parts[2])
        sheet.arrow(memory, work)
        sheet.arrow(work, out)
        sheet.words(706, y + 41, told, align="right", bold=True)
    return sheet.figure()


def roof(operations: Mapping[str, float], ridges: Mapping[str, float]) -> Figure:
    """The roofline of an H100 in 16 bits, with the operations of BERT-Base on it."""
    sheet = Sheet(
        440, "Which operations reach the flat roof?", "TFLOPS by operations for each byte, on an H100 in 16 bits"
    )
    peak, bandwidth = 989e12, 3.35e12
    plane = Plane(sheet, 70, 84, 400, 290, (-1, 3.3), (11, 15.4))
    ridge = log10(ridges["H100"])
    roofline = [plane.at(-1, log10(0.1 * bandwidth)), plane.at(ridge, log10(peak)), plane.at(3.3, log10(peak))]
    sheet.line(*roofline, thick=True, ink="#222222")
    for n, (name, value) in enumerate(operations.items(), start=1):
        a, b = log10(value), log10(min(peak, value * bandwidth))
        place = plane.point(a, b, 6)
        sheet.words(place[0] + 12, place[1] + 14, str(n), bold=True)
        short = (
            name.replace("feed-forward, ", "feed-fwd, ")
            .replace(" (about 10 operations)", "")
            .replace("scores of a head", "scores")
        )
        sheet.words(486, 110 + 28 * n, f"{n} {short}".replace(" tokens", ""))
    for power in (0, 1, 2, 3):
        sheet.words(plane.at(power, 11)[0], 392, f"{10**power:,}", align="center")
    sheet.words(270, 420, "operations for each byte; both axes logarithmic", align="center", faint=True)
    sheet.words(60, plane.at(-1, log10(peak))[1], "989", align="right")
    sheet.words(486, 292, f"ridge point {ridges['H100']:.0f}", bold=True)
    return sheet.figure()


def fusion() -> Figure:
    """How often the scores of attention go through memory, without and with a fused kernel."""
    sheet = Sheet(330, "How often do the scores go through memory?", "One forward pass of attention")
    names = ("QKᵀ", "mask", "softmax", "dropout", "times V")
    sheet.words(14, 86, "not fused: 8 times", bold=True)
    for i, name in enumerate(names):
        box = sheet.box(14 + 140 * i, 102, 104, 42, name)
        if i:
            sheet.arrow((box.x + 24, 196), (box.x + 24, box.bottom))
        if i < 4:
            sheet.arrow((box.right - 24, box.bottom), (box.right - 24, 196))
    sheet.box(14, 196, 664, 32, "memory: scores [B, H, T, T]")
    sheet.words(14, 258, "fused: never", bold=True)
    sheet.box(14, 274, 664, 42, "one kernel, block by block in the processor's own memory", new=True)
    return sheet.figure()


def formats() -> Figure:
    """The bits of float32, bf16 and fp16: sign, exponent, fraction."""
    sheet = Sheet(280, "What do 16 bits pay for?", "A cell for each bit: sign, exponent (range), fraction (digits)")
    for row, (name, exponent, fraction) in enumerate((("float32", 8, 23), ("bf16", 8, 7), ("fp16", 5, 10))):
        y, x = 88 + 62 * row, 106.0
        sheet.words(14, y + 17, name, bold=True)
        for kind, bits in (("", 1), ("exponent", exponent), ("fraction", fraction)):
            if kind == "exponent":
                sheet.grid(x, y, [[1.0] * bits], cell=18, largest=1.3, numbers=False)
            else:
                sheet.grid(x, y, [[0.0] * bits], cell=18, largest=1.0, numbers=False)
            if kind:
                sheet.words(x + 9 * bits, y + 17, str(bits), align="center", bold=True)
            x += 18 * bits + 4
    return sheet.figure()


def small_update() -> Figure:
    """The numbers below 1 in bf16 and fp16, and where 1 − 0.0001 lies."""
    sheet = Sheet(290, "Where does 1 − 0.0001 land?", "The numbers below 1 that 16 bits can write")
    for y, name, gap in ((120, "fp16", 2.0**-11), (210, "bf16", 2.0**-8)):
        sheet.words(14, y, name, bold=True)
        plane = Plane(sheet, 90, y - 30, 560, 30, (1 - 2.0**-8, 1), (0, 1))
        steps = round(2.0**-8 / gap)
        for n in range(steps + 1):
            place = plane.at(1 - n * gap, 0)
            sheet.line(place, (place[0], place[1] - 16), thick=True, ink="#222222")
        sheet.words(plane.at(1, 0)[0] + 14, y, "1")
        sheet.words(plane.at(1 - gap, 0)[0], y + 22, number(1 - gap, 4), align="center")
        target = plane.at(1 - 0.0001, 0)
        sheet.dot((target[0], y - 24), 6)
    sheet.words(14, 266, "dot: 1 − 0.0001. The nearest number that can be written is 1.", bold=True)
    return sheet.figure()


def gradient_range(small: Tensor) -> Figure:
    """How large the gradients of the checkpoint are, in powers of two, beside the range of fp16."""
    sheet = Sheet(400, "Do these gradients fit into fp16?", "Share of the gradients, by power of two")
    powers = small.abs().log2().clamp(-40, 4)
    low, high = -40, 4
    counts = powers.histc(bins=44, min=low, max=high)
    shares = (counts / counts.sum()).tolist()
    plane = Plane(sheet, 40, 100, 640, 210, (low, high), (0, 1.1 * max(shares)))
    for n, share in enumerate(shares):
        x, base = plane.at(low + n, 0)
        sheet.column(x, base, 210 * share / (1.1 * max(shares)), 13)
    for edge in (-25, -14):
        x = plane.at(edge, 0)[0]
        sheet.line((x, 92), (x, 310), ink="#222222")
    for x, told in (
        (plane.at(-32.5, 0)[0], "become 0"),
        (plane.at(-19.5, 0)[0], "subnormal"),
        (plane.at(-5, 0)[0], "as they should be"),
    ):
        sheet.words(x, 84, told, align="center", bold=True)
    plane.ticks((-40, -25, -14, 0))
    sheet.words(360, 354, "power of two; a scale of 2¹⁶ moves all of them 16 to the right", align="center")
    return sheet.figure()


def scale_over_steps(scales: Sequence[int]) -> Figure:
    """The scale S after each step of the proof."""
    sheet = Sheet(
        300, "How does S find its place?", "A step with an infinite gradient halves it, three clean ones double it"
    )
    for n, scale in enumerate(scales):
        height = 34 * (log2(scale) - 6)
        bad = n + 1 in (2, 7, 8)
        box = sheet.column(30 + 56 * n, 250, height, 40, thick=bad)
        sheet.words(box.centre[0], box.y - 14, str(scale), align="center", bold=bad)
        sheet.words(box.centre[0], 270, "inf" if bad else str(n + 1), align="center", bold=bad)
    return sheet.figure()


def kept_for_backward() -> Figure:
    """What twelve layers keep for the backward pass, with and without checkpointing."""
    sheet = Sheet(330, "What is kept until the backward pass?", "12 layers, bytes for each number of a layer's input")
    sheet.words(14, 88, "all of it: 12 · 34 = 408", bold=True)
    sheet.words(14, 212, "checkpointing: 11 · 2 + 34 = 56", bold=True)
    for layer in range(12):
        x = 14 + 58 * layer
        sheet.box(x, 104, 52, 64, "34")
        running = layer == 11
        sheet.box(x, 228, 52, 64, "34" if running else "2", new=running)
    sheet.words(704, 312, "runs again now", align="right")
    return sheet.figure()


def memory_of_a_gpu(needs: Mapping[str, tuple[float, float]]) -> Figure:
    """Gigabytes of weights and of activations for a batch, beside the sizes of cards."""
    sheet = Sheet(
        120 + 48 * len(needs) + 66, "What fills the memory of a GPU?", "32 sequences of 512 tokens, bf16, gigabytes"
    )
    left, wide, most = 190.0, 480.0, 24.0
    bottom = 100 + 48 * len(needs)
    for card in (8, 16, 24):
        x = left + wide * card / most
        sheet.line((x, 84), (x, bottom), dashed=True)
        sheet.words(x, bottom + 18, f"{card} GB", align="center", bold=True)
    for row, (name, (weights, activations)) in enumerate(needs.items()):
        y = 96 + 48 * row
        sheet.words(left - 10, y + 17, name, align="right")
        first = sheet.box(left, y, wide * weights / most, 34, new=True)
        rest = sheet.box(first.right, y, wide * activations / most, 34)
        sheet.words(rest.right + 8, y + 17, f"{weights + activations:.1f}", bold=True)
    sheet.words(14, bottom + 46, "Thick edge: 16 bytes for each weight. The rest: activations.", faint=True)
    sheet.words(14, bottom + 70, "Again: with checkpointing, each layer computes a second time.", faint=True)
    return sheet.figure()
