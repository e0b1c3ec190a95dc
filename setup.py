"""The wheel holds the course: what lies beside the package in the repository goes into it when a wheel is built."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
COURSE = Path("bertedu", "_course")  # where bertedu/course/data.py looks for it


def course_files() -> list[Path]:
    """The learner's notebooks, their pictures, and all of data/, relative to the repository.

    The solved notebooks stay outside: they are in the course's zip file.
    """
    found = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("notebooks/pictures/*"), *ROOT.glob("data/**/*")]
    return sorted(path.relative_to(ROOT) for path in found if path.is_file() and path.suffix != ".pyc")


class BuildWithCourse(build_py):
    """Copies the course into the package. An editable installation uses the files of the repository."""

    def run(self) -> None:
        """Build the package, then put the course into it."""
        super().run()
        if self.editable_mode:
            return
        to = Path(self.build_lib, COURSE)
        shutil.rmtree(to, ignore_errors=True)  # a build folder may hold what an older course had
        for path in course_files():
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, to / path)


setup(cmdclass={"build_py": BuildWithCourse})
