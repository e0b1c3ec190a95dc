"""The process that examines a file: python -m bertedu.interview.drills.judging NAME FILE VERDICT."""

import sys
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from bertedu.course.comparing import type_name
from bertedu.course.guarding import within
from bertedu.course.raising import told
from bertedu.course.verdict import StillRunning, Verdict
from bertedu.files import read_text, write_json
from bertedu.interview.drills.drill import Drill
from bertedu.interview.drills.register import examined, find
from bertedu.interview.own_process import limit_work

SECONDS = 10.0  # of work until the file is loaded
LONGEST = 200  # characters of a line that is repeated


def judge(drill: Drill, path: Path) -> Verdict:
    """Load a file and examine what it defines under the drill's name for the answer."""
    loaded = load(path)
    if isinstance(loaded, tuple):
        return Verdict(drill.name, "not yet", loaded)
    wanted = f"the drill asks for a {drill.kind} `{drill.answer}`"
    if drill.answer not in loaded:
        return Verdict(drill.name, "not yet", (f"But {path.name} defines no `{drill.answer}`: {wanted}.",))
    answer = loaded[drill.answer]
    if not callable(answer) or isinstance(answer, type) is not (drill.kind == "class"):
        came = "a class" if isinstance(answer, type) else type_name(answer)
        return Verdict(drill.name, "not yet", (f"But `{drill.answer}` in {path.name} is {came}, and {wanted}.",))
    return examined(drill.name, answer)


def compiled(path: Path) -> CodeType:
    """The code of a file. A NUL in it raises a SyntaxError in every Python; before 3.11.4 that was a ValueError."""
    try:
        return compile(read_text(path), str(path.resolve()), "exec")
    except ValueError as error:
        raise SyntaxError(str(error)) from None


def load(path: Path) -> dict[str, Any] | tuple[str, ...]:
    """The names that a file defines; or, where it cannot be run, the lines that say why."""
    module = ModuleType("answer")
    module.__file__ = str(path)
    try:
        code = compiled(path)
        within(SECONDS, lambda: exec(code, vars(module)))
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""  # None where the file has a NUL
        line = (error.text or "").strip()
        shown = [f"The line is: {line if len(line) <= LONGEST else line[:LONGEST] + ' …'}"] if line else []
        return (f"But Python cannot read {path.name}{where}: {error.msg}.", *shown)
    except StillRunning:
        return (
            f"{path.name} was still running after {SECONDS:g} seconds, so I stopped it: is there a loop that never "
            "ends, outside of your function?",
        )
    except BaseException as error:  # exit() too
        return told(error, path.name)
    return vars(module)


def main(name: str, file: str, verdict_file: str) -> None:
    """Examine a file and write the verdict."""
    limit_work()
    verdict = judge(find(name), Path(file))
    lines = [line.encode(errors="replace").decode() for line in verdict.lines]  # an error can tell half a character
    write_json(verdict_file, {"status": verdict.status, "lines": lines})


if __name__ == "__main__":
    main(*sys.argv[1:])
