"""The interview: a bank of questions with evidence."""
