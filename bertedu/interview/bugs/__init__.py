"""Find the bug: programs with one to four bugs of which only a symptom is given, examined by hidden tests."""
