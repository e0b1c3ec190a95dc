"""Grading a class's answers: each in a process of its own, judged by another process that runs no student's code."""
