"""Runs a chapter's solved notebook on a device that is not the CPU: `python -m support.chapter_on_device 08`.

The device is a GPU where there is one, else that of `support/other_device.py`, which refuses to mix its tensors with
those of the CPU. The cells run one after the other as in a kernel, with their checks; the first that fails is shown.
Two more words, OLD and NEW, change the code before: so a test plants a forgotten `.to(device)`.
"""

import contextlib
import io
import os
import sys

import torch
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode

from bertedu.course.building.places import Places
from bertedu.course.building.versions import read_source
from bertedu.training import devices, loop, settings
from support.other_device import NAME, other_device

# Torch's exporter does not work where Python has added a device. By then the chapter has moved its model to the CPU.
UNTIL = {"23": "torch.onnx.export("}


def run(cells: list[NotebookNode]) -> str | None:
    """Run the code; None, or the first cell that fails, with what it printed and raised."""
    shell = InteractiveShell.instance(colors="nocolor")
    for cell in cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            result = shell.run_cell(cell.source)
        failed = result.error_before_exec or result.error_in_exec
        if bool(failed) != ("raises-exception" in cell.metadata.get("tags", [])):
            return f"{cell.source}\n\n{printed.getvalue()[-3000:]}\n{failed!r}"
    return None


def choose_other_device() -> None:
    """Where a chapter or a run asks for the device, it gets the other one."""
    for module in (devices, settings, loop):
        module.choose_device = lambda wish: NAME if wish == "auto" else wish
        module.DEVICES = (*devices.DEVICES, NAME)


def main(chapter: str, old: str = "", new: str = "") -> None:
    places = Places()
    (source,) = places.all_sources((chapter,))
    cells = [cell for cell in read_source(source).cells if cell.cell_type == "code"]
    if old:
        assert sum(cell.source.count(old) for cell in cells) == 1, f"{source} has changed: plant the bug anew"
    for cell in cells:
        cell.source = cell.source.replace(old, new) if old else cell.source
    os.chdir(places.notebooks)
    if not torch.cuda.is_available():
        choose_other_device()
        last = [place for place, cell in enumerate(cells) if chapter in UNTIL and UNTIL[chapter] in cell.source]
        cells = cells[: last[0]] if last else cells
    with contextlib.nullcontext() if torch.cuda.is_available() else other_device():
        failed = run(cells)
    sys.exit(failed or 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
