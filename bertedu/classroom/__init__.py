"""For the teacher: assignments, grading, a course of one's own, slides, handouts."""
