"""Whiteboard drills: a task, a blank cell and a clock; handing in examines the answer as the exercises are examined."""

from bertedu.interview.drills.notebook import drill, drills, finish, hint, solution

__all__ = ["drill", "drills", "finish", "hint", "solution"]
