"""Where words begin and end: Unicode Standard Annex 29, section 4, "Default Word Boundary Specification".

The rules keep marks with their letters (क्या is one word), and apostrophes, stops and commas between letters or digits
(don't, U.S, 3.5). Each Chinese character and each hiragana is a word. Which character is what, the package `regex`
knows.

Thai, Lao, Khmer and Burmese have no space between words, and Unicode leaves them to a dictionary: that of ICU.
"""

import regex

Span = tuple[int, int]

# Rule WB4: marks and joiners belong to the character before them, and all other rules pass over them.
MARKS = regex.compile(r"(?<=\S)[\p{WB=Extend}\p{WB=Format}\u200d]+(?!\p{Extended_Pictographic})")
LETTER = r"[\p{WB=ALetter}\p{WB=Hebrew_Letter}]"
BETWEEN_LETTERS = r"[\p{WB=MidLetter}\p{WB=MidNumLet}']"
HEBREW = r"""\p{WB=Hebrew_Letter}(?:'|"(?=\p{WB=Hebrew_Letter}))"""
DIGIT, BETWEEN_DIGITS = r"\p{WB=Numeric}", r"[\p{WB=MidNum}\p{WB=MidNumLet}'\u202f]"
LETTERS_AND_DIGITS = (  # WB5 to WB12
    rf"(?:{LETTER}{BETWEEN_LETTERS}(?={LETTER})|{HEBREW}|{LETTER}|{DIGIT}(?:{BETWEEN_DIGITS}(?={DIGIT}))?)++"
)
RUN = rf"(?:{LETTERS_AND_DIGITS}|\p{{WB=Katakana}}++)"  # WB13: katakana are words together
LINK = r"\p{Pc}"  # WB13a and WB13b: _ and its like join what stands beside them, but no narrow space of French
EMOJI = r"\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic})*+|\p{WB=Regional_Indicator}{2}"  # WB3c, WB15
SEGMENT = regex.compile(rf"{LINK}*+{RUN}(?:{LINK}++{RUN})*+{LINK}*+|{LINK}++|{EMOJI}|[^\s\x1c-\x1f]")
POSSESSIVE = regex.compile(r"(?<=\w)['’]s\Z")
WITHOUT_SPACES = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
BY_DICTIONARY = regex.compile(
    r"(?V1)(?:[[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]&&\p{Line_Break=SA}]--\p{WB=Extend}]"
    r"[\p{WB=Extend}\p{WB=Format}\u200d]*+)+"
)


def segments(text: str) -> list[Span]:
    """Where the words and the marks of a text stand, in order: everything but white space.

    A mark that is part of no word stands alone: "don't!" is don't and !.
    """
    marks = {place for run in MARKS.finditer(text) for place in range(*run.span())}
    if not marks and not BY_DICTIONARY.search(text):
        return [match.span() for match in SEGMENT.finditer(text)]
    kept = [place for place in range(len(text)) if place not in marks]
    places, bare = [*kept, len(text)], "".join(text[place] for place in kept)
    spans = [(places[match.start()], places[match.end()]) for match in SEGMENT.finditer(bare)]
    runs = list(BY_DICTIONARY.finditer(text))
    return with_dictionary(spans, runs) if runs else spans


def with_dictionary(spans: list[Span], runs: list[regex.Match[str]]) -> list[Span]:
    """The segments of a text, with the words of the dictionary where these runs of letters stand."""
    from icu4py.breakers import WordBreaker

    inside = {place for run in runs for place in range(*run.span())}
    found = [span for span in spans if span[0] not in inside]
    for run in runs:
        start = run.start()
        for word in WordBreaker(run[0], "root"):
            found.append((start, start + len(word)))
            start += len(word)
    return sorted(found)


def words(text: str) -> list[str]:
    """The words and numbers of a text, as they are written; marks are left out."""
    return [word for start, end in segments(text) if any(map(str.isalnum, word := text[start:end]))]


def terms(text: str) -> list[str]:
    """The words of a text for counting and searching, in small letters: Anna's is anna, as search engines have it."""
    return [POSSESSIVE.sub("", word) for word in words(text.lower())]


def spaced_words(text: str) -> list[str]:
    """What stands between white space, marks included; of a text in a script that writes none, its `words`."""
    return (words(text) if WITHOUT_SPACES.search(text) else []) or text.split()
