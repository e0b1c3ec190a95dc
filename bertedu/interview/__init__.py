"""The interview: a bank of questions with evidence, mock interviews, and what to take along on paper."""
