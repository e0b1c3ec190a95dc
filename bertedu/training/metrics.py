"""The figures of a run: summed over batches, written as lines of JSON and for TensorBoard."""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertedu.errors import UserError, shown
from bertedu.files import naming_failures, read_text, write_text
from bertedu.json_values import check_object, parse_json

MOST_STEPS = 2**53  # up to here a float holds each whole number


class Averages:
    """Means over many batches, each of its own size: sums and counts are kept, and divided when asked.

    Sums stay on the device, so that adding a batch does not wait for it.
    """

    def __init__(self) -> None:
        self.sums: dict[str, Tensor] = {}
        self.counts: dict[str, int] = {}

    def add(self, sums: dict[str, Tensor], counts: dict[str, int]) -> None:
        """Add a batch. A sum is divided by the count whose name stands before its last "_": mlm_loss by mlm."""
        for name, value in sums.items():
            self.sums[name] = self.sums.get(name, torch.zeros((), device=value.device)) + value.detach()
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count

    def means(self) -> dict[str, float]:
        """The mean of each figure; nan where nothing was counted."""
        return {
            name: float(total) / count if (count := self.counts[name.rpartition("_")[0]]) else math.nan
            for name, total in self.sums.items()
        }


class MetricsLog:
    """metrics.jsonl, one line of figures a time, and the same in tensorboard/ where that package is installed."""

    def __init__(self, folder: Path, first_step: int = 0):
        """Keep the lines up to first_step (a killed run may have written further) and go on from there."""
        self.path = folder / "metrics.jsonl"
        lines = read_metrics(folder) if first_step else []
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in lines if line["step"] <= first_step))
        self.board_folder = folder / "tensorboard"
        with naming_failures(self.board_folder):
            self.board = new_board(self.board_folder, first_step)

    def write(self, step: int, **figures: Any) -> None:
        """Append one line; figures are numbers, or words that TensorBoard does not get. Those that are infinite or no
        number are left out: JSON does not know them.
        """
        kept = {name: value for name, value in figures.items() if not isinstance(value, float) or math.isfinite(value)}
        with naming_failures(self.path), open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **kept}) + "\n")
        if self.board is None:
            return
        with naming_failures(self.board_folder):
            for name, value in kept.items():
                if isinstance(value, int | float):
                    self.board.add_scalar(name, value, step)

    def close(self) -> None:
        """Write out what TensorBoard still holds back."""
        if self.board is not None:
            with naming_failures(self.board_folder):
                self.board.close()


def new_board(folder: Path, first_step: int) -> Any:
    """A writer for TensorBoard; None where its extra is not installed, since metrics.jsonl has every figure."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError:
        return None
    return SummaryWriter(str(folder), purge_step=first_step or None)


def read_metrics(folder: str | Path) -> list[dict[str, Any]]:
    """All lines of a run's metrics.jsonl; a last line cut short by a kill is left out.

    Raises UserError for any other line that is damaged, or without its step, or whose figures are neither numbers nor
    words.
    """
    path = Path(folder) / "metrics.jsonl"
    *whole, last = read_text(path).split("\n") if path.exists() else [""]
    lines = [parse_json(line, path, number, finite=False) for number, line in enumerate(whole, start=1)]
    with suppress(UserError):
        lines.append(parse_json(last, path, finite=False))
    for number, line in enumerate(lines, start=1):
        if not isinstance(check_object(line, {"step": int}, f"{path}, line {number}").get("step"), int):
            raise UserError(f"{path}, line {number} has no step: remove the line.")
        if not 0 <= line["step"] <= MOST_STEPS:
            raise UserError(f"{path}, line {number}: the step {shown(line['step'])} cannot be: remove the line.")
        for name, value in line.items():
            if type(value) not in (int, float, str):
                what = f"{shown(name)} is {shown(value)}, which is no number"
                raise UserError(f"{path}, line {number}: {what}: remove the line.")
    return lines
