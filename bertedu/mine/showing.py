"""`mine()`: the map of BERT with the reader's parts lit, and the reader's BERT at work beside the package's."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from bertedu.course.data import data_path
from bertedu.course.guarding import ORIGINALS
from bertedu.course.keeping import Answer, kept
from bertedu.course.parts import PARTS, Part
from bertedu.course.settings import own_settings
from bertedu.errors import UserError
from bertedu.extras import needs_extra
from bertedu.mine.file import save
from bertedu.mine.learning import Learned, learn
from bertedu.mine.running import CHECKPOINT, FILE, MASKS, Program, differences, package_fills
from bertedu.mine.trying import Broken, working
from bertedu.templates import page
from bertedu.visualization.picture import BLUE, ORANGE, Picture, new_figure, quiet

AROUND = ("4.3", "4.4", "8.5")  # what runs in these is mostly the course's: linear layers, the backward pass
EXACT = {torch.float32: (1e-5, 1e-4), torch.float64: (1e-10, 1e-10)}  # how near hidden states and scores should be
NOTHING_YET = (
    "No part is yours yet: all are borrowed from the package. "
    "Solve an exercise whose number is in the map, and run this again."
)


@dataclass
class Mine:
    """What `mine()` shows. `lit` are the numbers of the reader's parts that were called; `program.text` is the file."""

    program: Program
    lit: set[str]
    broken: list[Broken]
    fills: dict[str, str]
    apart: dict[str, str]
    learned: Learned | None
    notes: list[str]
    day: str

    @property
    def title(self) -> str:
        """5 of 16 parts are yours"""
        return f"{len(self.lit)} of {len(PARTS)} parts are yours"

    @property
    def steps(self) -> dict[str, list[Part]]:
        """The parts by the step of BERT that they belong to, in the order of the data."""
        return {step: [part for part in PARTS if part.step == step] for step in dict.fromkeys(p.step for p in PARTS)}

    @property
    def package_fills(self) -> dict[str, str]:
        """What the package says for each mask."""
        return package_fills()

    @property
    def speed(self) -> list[str]:
        """How fast both learned, and why they differ."""
        if self.learned is None or not self.learned.count:
            return []
        ours, theirs = (
            self.learned.count / seconds for seconds in (self.learned.seconds, self.learned.package_seconds)
        )
        times = {part: self.program.seconds[part.number] for part in self.program.yours if part.number not in AROUND}
        slowest = max(times, key=lambda part: times[part], default=None)
        told = [
            f"{self.learned.count} steps of 32 pairs: yours {ours:.1f} steps a second, the package's {theirs:.1f}.",
            "The package uses torch's fused kernels, and computes the scores of words only where there is a label. "
            "Your BERT computes them for every token.",
        ]
        if slowest:
            told.append(
                f"Of your parts, {slowest.number} ({slowest.title}) takes the most time: {times[slowest]:.1f} of "
                f"{self.learned.seconds:.0f} seconds, without the backward pass."
            )
        return told

    @property
    def curve(self) -> Picture | None:
        """The loss of both, step by step."""
        return curve_of(self.learned) if self.learned and self.learned.count else None

    def __repr__(self) -> str:
        lines = [f"Your own BERT: {self.title}", ""]
        for step, parts in self.steps.items():
            marks = ", ".join(f"{'✓' if p.number in self.lit else '·'} {p.number} {p.title}" for p in parts)
            lines.append(f"{step:15} {marks}")
        lines += ["", f"{'The masks of chapter 00':44} {'your BERT':12} the package's"]
        lines += [f"{text:44} {self.fills[text]:12} {said}" for text, said in self.package_fills.items()]
        lines += [f"Largest difference from {name}: {said}" for name, said in self.apart.items()]
        if self.learned and self.learned.count:
            lines += ["", self.learned.sentence(), *self.speed]
        return "\n".join([*lines, *map(str, self.broken), *self.notes])

    def _repr_html_(self) -> str:
        return page("mine/shown.html.j2").render(mine=self)

    def page(self) -> str:
        """A whole page to print or keep, with the file itself."""
        return page("mine/page.html.j2").render(mine=self)


def mine(minutes: float = 0.0) -> Mine:
    """Put your accepted answers together and show them at work: a map, the masks of chapter 00, and how near your BERT
    is to the package's and to `transformers`.

    It writes `my_bert.py` into the present folder, to read: your parts in the order of the data. With minutes it also
    trains a new BERT for so long on the small world, beside the package's. Raises UserError where the file of kept
    answers is damaged.
    """
    made = show(kept(), minutes)
    if made.program.yours:
        made.notes.append(save(Path(FILE), made.program.text))
    else:
        made.notes.append(NOTHING_YET)
    return made


def show(answers: Mapping[str, Answer], minutes: float = 0.0) -> Mine:
    """The demonstration of some answers, which writes nothing."""
    if not isinstance(minutes, int | float) or not 0 <= minutes <= 24 * 60:
        raise UserError(f"minutes is {minutes!r}: give a number from 0 to {24 * 60}.")
    program, broken = working(answers)
    with ORIGINALS.restored(), own_settings():
        fills = {text: program.fill(text) for text in MASKS}
        apart = {"the package": said(*differences(program)), **from_transformers(program)}
        learned = learn(program, 60 * minutes) if minutes else None
    prints = ", ".join(sorted(program.prints))
    notes = [f"What {prints} prints is left out here."] if prints else []
    return Mine(program, program.lit(), broken, fills, apart, learned, notes, date.today().isoformat())


def said(hidden: float, scores: float, dtype: torch.dtype = torch.float32) -> str:
    """Two differences as limits that they stay below, the same on every machine, or as they are where they do not."""
    limits = zip((hidden, scores), EXACT[dtype], strict=True)
    words = [f"below {limit:.0e}" if value < limit else f"{value:.1e}" for value, limit in limits]
    return f"hidden states {words[0]}, scores {words[1]}"


def from_transformers(program: Program) -> dict[str, str]:
    """How far the program is from `transformers`, in float32 and in float64. Nothing where that is not installed."""
    try:
        with needs_extra("course"):
            from transformers import BertConfig
            from transformers import BertForPreTraining as Reference
    except UserError:
        return {}
    folder = data_path(CHECKPOINT)
    config = BertConfig.from_pretrained(folder, attn_implementation="eager")
    reference: Any = Reference(config).eval()  # filled here, since from_pretrained shows a progress bar
    reference.load_state_dict(load_file(folder / "model.safetensors"), strict=False)
    batch = program.batch(MASKS)
    found, real = {}, batch["attention_mask"].bool()
    for dtype, name in ((torch.float32, "transformers"), (torch.float64, "transformers in float64")):
        states, scores = program.scores(MASKS, dtype)
        with torch.no_grad():
            output = reference.to(dtype=dtype)(**batch, output_hidden_states=True)
        pairs = zip(states, output.hidden_states, strict=True)
        hidden = max(float((one - other)[real].abs().max()) for one, other in pairs)
        found[name] = said(hidden, float((scores - output.prediction_logits)[real].abs().max()), dtype)
    return found


def curve_of(learned: Learned) -> Picture:
    """The loss of the reader's BERT and of the package's over the steps."""
    figure = new_figure(6.5, 3)
    axes = figure.subplots()
    quiet(axes)
    axes.plot(learned.steps, learned.package, color=ORANGE, linewidth=3.5, alpha=0.6, label="the package's")
    axes.plot(learned.steps, learned.yours, color=BLUE, linewidth=1.3, label="your BERT")
    axes.set_xlabel("steps")
    axes.set_ylabel("loss of words and pairs")
    axes.legend(frameon=False)
    return Picture(figure, learned.sentence())
