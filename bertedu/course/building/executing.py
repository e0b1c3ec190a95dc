"""Running a notebook on the CPU, and storing what repeats of its outputs."""

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from bertedu.course.building.versions import kept_metadata
from bertedu.errors import UserError

SECONDS_A_CELL = 600
TELL_MODULES = "import sys; print(*(name for name in sys.modules if name.split('.')[0] == 'bertedu'))"
WIDGET = "application/vnd.jupyter.widget-view+json"
# The notebooks are compared under the same conditions: see conftest.py.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    "BERTEDU_PROGRESS": "off",
    "TQDM_DELAY": "100000",  # seconds before a progress bar shows: none is stored
}


def execute(
    notebook: NotebookNode,
    folder: Path,
    name: str,
    after_cell: Callable[[], None] = lambda: None,
    last: str = "",
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """Run all cells in place, in `folder`, as JupyterLab would; returns the modules of bertedu that they loaded.

    last is code that is run after them and not kept; environment is set besides ENVIRONMENT. Raises UserError, with the
    cell, where one fails.
    """
    added = [new_code_cell(code) for code in (last, TELL_MODULES) if code]
    notebook.cells += added
    client = NotebookClient(
        notebook,
        timeout=SECONDS_A_CELL,
        startup_timeout=SECONDS_A_CELL,  # a busy machine takes its time
        kernel_name="python3",
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        on_cell_executed=lambda **_: after_cell(),
    )
    variables = {**os.environ, **ENVIRONMENT, **(environment or {})}
    try:
        client.execute(env=variables, stderr=subprocess.DEVNULL)  # the kernel's own log
    except CellExecutionError as error:
        raise UserError(f"{name}: a cell raised {error.ename}: {error.evalue}\n{failing_code(notebook)}") from None
    except (CellTimeoutError, DeadKernelError) as error:
        raise UserError(f"{name}: {error}\n{failing_code(notebook)}") from None
    told = notebook.cells[-1].outputs
    del notebook.cells[-len(added) :]
    return "".join(output.text for output in told if output.get("name") == "stdout").split()


def failing_code(notebook: NotebookNode) -> str:
    """The last cell that ran, and what it put out before it failed, with its traceback."""
    ran = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.execution_count]
    if not ran:
        return ""
    traces = [line for output in ran[-1].outputs for line in output.get("traceback", [])]
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traces))
    return f"--- the cell\n{ran[-1].source}\n--- what happened\n{trace}"


def scrub(notebook: NotebookNode) -> None:
    """Take away what differs from run to run though nothing has changed."""
    notebook.metadata.language_info = NotebookNode(name="python")
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata = kept_metadata(cell)
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data.pop(WIDGET, None)  # its model lives in the kernel only
            if output.output_type == "error":
                output.traceback = [f"{output.ename}: {output.evalue}"]  # paths and times otherwise


def keep_what_only_ran_again(notebook: NotebookNode, stored: NotebookNode | None) -> None:
    """Where the outputs that are not compared differ from the stored ones in their numbers only (times), keep the
    stored ones: building again then changes no file. All of a notebook or none, since one may be computed from another.
    """
    before = {cell.id: cell.outputs for cell in stored.cells if cell.cell_type == "code"} if stored else {}
    uncompared = [cell for cell in notebook.cells if "nbval-ignore-output" in cell.metadata.get("tags", [])]
    if all(cell.id in before and masked(before[cell.id]) == masked(cell.outputs) for cell in uncompared):
        for cell in uncompared:
            cell.outputs = before[cell.id]


def masked(value: Any) -> Any:
    """Outputs with every number as 0 and spaces as one."""
    if isinstance(value, dict):
        return {key: masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item) for item in value]
    return re.sub(r"\s+", " ", re.sub(r"[\d.]+(e[-+]?\d+)?", "0", value)) if isinstance(value, str) else value
