"""Answers that the checks must accept or refuse."""

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "course" / "exercises"


def proofs() -> dict[str, dict[str, list]]:
    found: dict[str, dict[str, list]] = {}
    for path in sorted(FOLDER.glob("chapter_*.py")):
        spec = importlib.util.spec_from_file_location(f"answers_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        strange = [number for number in module.ANSWERS if int(number.split(".")[0]) != int(path.stem[8:10])]
        assert not strange, f"{path.name} has answers to exercises of another chapter: {strange}"
        found |= module.ANSWERS
    return found


PROOFS = proofs()
