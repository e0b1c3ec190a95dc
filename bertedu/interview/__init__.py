"""The interview: a bank of questions with evidence, mock interviews, drills against the clock, programs with bugs,
design cases, and what to take along on paper.
"""
