"""Find the bug: programs with one to four bugs of which only a symptom is given, examined by hidden tests."""

from bertedu.interview.bugs.notebook import bug, bugs, found, hint, solution

__all__ = ["bug", "bugs", "found", "hint", "solution"]
