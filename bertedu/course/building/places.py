"""Where sources, notebooks and data are."""

from dataclasses import dataclass
from pathlib import Path

from bertedu.course.data import IN_WHEEL
from bertedu.course.rooms import in_full, number_of, sources_in
from bertedu.errors import UserError

PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Places:
    """The folders of a course."""

    root: Path = PACKAGE.parent

    @property
    def notebooks(self) -> Path:
        """Learner's notebooks. Raises UserError where bertedu was installed from a wheel, which has no solved ones."""
        if self.root == PACKAGE.parent and IN_WHEEL.is_dir():
            raise UserError(
                "this command works on the notebooks of the repository, and bertedu was installed without it: run it "
                "in a clone of the course, or in the unpacked zip of a release."
            )
        return self.root / "notebooks"

    @property
    def solutions(self) -> Path:
        """Solved notebooks."""
        return self.notebooks / "solutions"

    @property
    def pictures(self) -> Path:
        """What `bertedu build` draws, one file for each picture."""
        return self.notebooks / "pictures"

    @property
    def chapters(self) -> Path:
        """The rooms of the chapters: what authors edit."""
        return self.root / "bertedu" / "chapters"

    @property
    def data(self) -> Path:
        """Texts, tasks and checkpoints."""
        return self.root / "data"

    def all_sources(self, chapters: tuple[str, ...] = ()) -> list[Path]:
        """The sources in order: of the chapters given ("3" or "03"), or all. Raises UserError for an unknown one."""
        found = sources_in(self.chapters)
        wanted = {in_full(chapter) if chapter else "an empty name" for chapter in chapters}
        missing = wanted - set(map(number_of, found))
        if missing or not found:
            which = " or ".join(sorted(missing)) or "any chapter"
            there = f"its chapters are {', '.join(map(number_of, found))}" if found else "it has none"
            raise UserError(
                f"{self.chapters} has no source for {which}: {there}, and a source is called chNN_name/NN_name.py."
            )
        return [path for path in found if not wanted or number_of(path) in wanted]

    def pair(self, source: Path) -> tuple[Path, Path]:
        """Where the learner's and the solved notebook of a source are."""
        return self.notebooks / f"{source.stem}.ipynb", self.solutions / f"{source.stem}.ipynb"
