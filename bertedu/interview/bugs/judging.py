"""The process that examines a repaired program: python -m bertedu.interview.bugs.judging NAME FILE FINDINGS."""

import sys
from pathlib import Path

from bertedu.files import read_text, write_json
from bertedu.interview.bugs.examining import examine
from bertedu.interview.bugs.lab import read_lab
from bertedu.interview.own_process import limit_work


def main(name: str, file: str, findings_file: str) -> None:
    """Examine a file and write what was found."""
    limit_work()
    findings = examine(read_lab(name), read_text(file), Path(file).name)
    verdict = findings.verdict
    write_json(findings_file, {"status": verdict.status, "lines": list(verdict.lines), "left": list(findings.left)})


if __name__ == "__main__":
    main(*sys.argv[1:])
