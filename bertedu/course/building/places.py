"""Where sources, notebooks and data are."""

import re
from dataclasses import dataclass
from pathlib import Path

from bertedu.errors import UserError

PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Places:
    """The folders of a course."""

    root: Path = PACKAGE.parent

    @property
    def notebooks(self) -> Path:
        """Learner's notebooks."""
        return self.root / "notebooks"

    @property
    def solutions(self) -> Path:
        """Solved notebooks."""
        return self.notebooks / "solutions"

    @property
    def sources(self) -> Path:
        """What authors edit."""
        return self.notebooks / "source"

    @property
    def data(self) -> Path:
        """Texts, quizzes and checkpoints."""
        return self.root / "data"

    def all_sources(self, chapters: tuple[str, ...] = ()) -> list[Path]:
        """The sources in order: of the chapters given ("3" or "03"), or all. Raises UserError for an unknown one."""
        found = sorted(path for path in self.sources.glob("*.py") if re.match(r"\d\d_", path.name))
        wanted = {chapter.zfill(2) if chapter else "an empty name" for chapter in chapters}
        missing = wanted - {path.name[:2] for path in found}
        if missing or not found:
            which = " or ".join(sorted(missing)) or "any chapter"
            there = f"its chapters are {', '.join(path.name[:2] for path in found)}" if found else "it has none"
            raise UserError(f"{self.sources} has no source for {which}: {there}, and a source is called NN_name.py.")
        return [path for path in found if not wanted or path.name[:2] in wanted]

    def pair(self, source: Path) -> tuple[Path, Path]:
        """Where the learner's and the solved notebook of a source are."""
        return self.notebooks / f"{source.stem}.ipynb", self.solutions / f"{source.stem}.ipynb"
