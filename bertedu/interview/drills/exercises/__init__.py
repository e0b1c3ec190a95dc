"""The drills: a file each, with its task, its check and one solution. Their answers are in tests/interview_drills/."""
