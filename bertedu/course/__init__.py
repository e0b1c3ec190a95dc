"""Exercises that answer in words, hints, quizzes and progress: what a notebook of the course imports."""

import bertedu.course.guarding  # noqa: F401  # isort: skip  first: from here on modules are remembered as they were
from bertedu.course.checking import check, hint
from bertedu.course.data import data_path
from bertedu.course.measured import about
from bertedu.course.quizzes import quiz
from bertedu.course.ticks import progress

__all__ = ["about", "check", "data_path", "hint", "progress", "quiz"]
