"""What the answers to variants read in a variant's text."""

import re


def found(pattern: str, text: str) -> str:
    """What the first group of a pattern matches in a text, "" where it does not."""
    match = re.search(pattern, text)
    return match[1] if match else ""
