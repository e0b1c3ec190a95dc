"""The pictures of chapter 16 for DistilBERT: what a teacher tells, and what the student makes of it."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet


def soft_targets(told: Mapping[str, Sequence[tuple[str, float]]]) -> Figure:
    """What the text says of a gap, and what the teacher says."""
    words = next(iter(told.values()))
    sheet = Sheet(350, "What does a teacher know that the text does not?", "It was nine o'clock in the [MASK].")
    sheet.words(190, 96, "the text", align="center", bold=True)
    sheet.words(500, 96, "the teacher", align="center", bold=True)
    for i, (word, share) in enumerate(words):
        y = 116 + 36 * i
        sheet.words(112, y + 17, word, align="right", mono=True)
        sheet.grid(160, y, [1.0 if not i else 0.0], digits=0, cell=60, largest=1.6, row=32)
        sheet.bars(420, y, [share], longest=1800)
    return sheet.figure()


def temperatures(logits: Tensor) -> Figure:
    """The probabilities of three logits at four temperatures."""
    sheet = Sheet(300, "What does a temperature do to probabilities?", "Logits 2.77, 1.39 and 0, divided by T")
    base = 240.0
    for panel, T in enumerate((1, 2, 4, 8)):
        x = 24 + 176 * panel
        sheet.line((x, base), (x + 150, base))
        for i, share in enumerate((logits / T).softmax(dim=-1).tolist()):
            bar = sheet.column(x + 8 + 48 * i, base, 160 * share, 34)
            sheet.words(bar.centre[0], bar.y - 13, f"{share:.2f}", align="center")
        sheet.words(x + 72, 266, f"T = {T}", align="center", bold=T == 2)
    return sheet.figure()


def gradients_by_temperature(logits: Tensor) -> Figure:
    """How the gradient of the soft loss shrinks with the temperature, and what T² makes of it."""
    sheet = Sheet(330, "Why is the soft loss multiplied by T²?", "The gradient's norm for three words")
    teacher = logits.double()
    for x, name, power in ((90, "as it is", 0), (430, "times T²", 2)):
        sheet.words(x, 92, name, bold=True)
        norms = [float(((teacher / T).softmax(-1) - 1 / 3).norm() / T * T**power) for T in (1, 2, 4, 8)]
        sheet.bars(x, 112, norms, [f"T = {T}" for T in (1, 2, 4, 8)], longest=190, full=0.7)
    sheet.words(14, 290, "With the factor it keeps its weight beside the other losses.", bold=True)
    return sheet.figure()


def three_losses() -> Figure:
    """Teacher and student read the same masked text; three losses compare them and the labels."""
    sheet = Sheet(420, "What does DistilBERT learn from?", "Dotted: frozen. Thick edges: trained, and what is new.")
    sheet.chips(180, 370, ["the", "[MASK]", "is", "wet"], {1: "hidden"}, width=60)
    sheet.words(14, 387, "the same text", faint=True)
    teacher = sheet.box(60, 250, 210, 70, "teacher", "12 layers", frozen=True)
    student = sheet.box(400, 250, 210, 70, "student", "6 layers", new=True)
    for box in (teacher, student):
        sheet.arrow(
            (box.centre[0] + (60 if box is teacher else -60), 370),
            (box.centre[0] + (60 if box is teacher else -60), 320),
        )
    for x, lines, froms in (
        (14, ("5 · T² · KL", "all real tokens"), (teacher, student)),
        (262, ("1 · (1 − cosine)", "all real tokens"), (teacher, student)),
        (520, ("2 · MLM", "masked tokens"), (student,)),
    ):
        loss = sheet.box(x, 90, 186, 64, *lines, new=True)
        for box in froms:
            sheet.arrow(
                (box.centre[0] + (loss.centre[0] - box.centre[0]) / 6, box.y),
                (loss.centre[0] + (box.centre[0] - loss.centre[0]) / 6, loss.bottom),
            )
    return sheet.figure()


def copied_layers() -> Figure:
    """Six layers of twelve are copied, evenly from the first to the last."""
    sheet = Sheet(240, "Which layers does the student copy?", "Six of twelve, evenly from the first to the last")
    copied = (0, 2, 4, 7, 9, 11)
    above = sheet.chips(104, 84, [str(n) for n in range(12)], {n: "chosen" for n in copied}, width=44)
    sheet.words(14, 101, "teacher", bold=True)
    below = sheet.chips(104, 176, [str(n) for n in range(6)], width=93)
    sheet.words(14, 193, "student", bold=True)
    for number, layer in enumerate(copied):
        sheet.arrow((above[layer].centre[0], above[layer].bottom), (below[number].centre[0], below[number].y))
    return sheet.figure()


def four_students(reached_by: Mapping[str, float], frequent: float) -> Figure:
    """Masked accuracy of four students after 40 steps: copied or random, alone or taught."""
    sheet = Sheet(
        280, "What helps a student more: the layers or the teacher?", "Masked accuracy after 40 steps, in percent"
    )
    table = [
        [100 * reached_by[f"{start}, {way}"] for way in ("alone", "taught")] for start in ("copied", "random weights")
    ]
    grid = sheet.grid(230, 140, table, cell=170, row=48, digits=1, largest=60)
    for j, name in enumerate(("alone", "with the teacher")):
        sheet.words(grid.column(j).centre[0], 118, name, align="center")
    for i, name in enumerate(("copied layers", "random weights")):
        sheet.words(14, grid.row(i).centre[1], name, bold=not i)
    sheet.words(14, 262, f"always the most frequent word: {100 * float(frequent):.1f}", faint=True)
    return sheet.figure()


def listening(hers: Mapping[int, float], repaired: Mapping[int, float], no_teacher: Mapping[int, float]) -> Figure:
    """The student's distance from its teacher by temperature, with her loss and with the factor."""
    sheet = Sheet(
        350, "Does the student listen to its teacher?", "KL to the teacher after training, by temperature: 0 is equal"
    )
    plane = Plane(sheet, 60, 84, 440, 210, (0.6, 4.3), (0, 2.5))
    plane.ticks(up=(0, 1, 2))
    places = {T: i + 1 for i, T in enumerate(hers)}
    (alone_at,) = no_teacher.values()
    left, right = plane.at(0.7, alone_at), plane.at(4.2, alone_at)
    sheet.line(left, right, dashed=True, ink="#444444")
    sheet.words(512, right[1] - 8, "without a teacher")
    for name, found, thick in (("hers", hers, False), ("times T²", {1: hers[1], **repaired}, True)):
        dots = [plane.point(places[T], kl) for T, kl in found.items()]
        sheet.line(*dots, thick=thick, ink="#444444")
        sheet.words(512, dots[-1][1] + (16 if name == "hers" else 0), name, bold=thick)
    for T, place in places.items():
        sheet.words(plane.at(place, 0)[0], 314, f"T = {T}", align="center")
    return sheet.figure()
