"""A notebook's kernel in this process: cells that run in IPython, and what their answers are kept as."""

from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


class Cells:
    """Runs cells as a notebook does, each with its number."""

    def __init__(self) -> None:
        InteractiveShell.clear_instance()
        self.shell = InteractiveShell.instance()

    def run(self, *cells: str) -> Any:
        """Run cells; returns the value of the last one's last line. What a cell raises stays in the cell."""
        result = None
        for cell in cells:
            with capture_output():
                result = self.shell.run_cell(cell, store_history=True).result
        return result
