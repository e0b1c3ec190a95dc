"""Chapter 25: the interview: answers with numbers, against the clock."""
