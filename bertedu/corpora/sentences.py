"""Cutting a paragraph into sentences by rule: a stop ends one unless the word before it is known to carry a stop."""

import re

# Words that are written with a stop and are followed by more of the same sentence, without their last stop.
ABBREVIATIONS = frozenset(
    """
    a.k.a al approx art aug bros ca capt cf ch chap col dec dept dr ed eds e.g eg eq eqs esq est etc feb fig figs gen
    gov hon i.e ie inc jan jr lt ltd messrs mme mr mrs ms mt mts no nos nov oct op p pp prof pt ref refs rep rev sec
    sen sep sept sgt sr st viz vol vols vs w.r.t wrt
    """.split()  # noqa: SIM905
)
# Among them, those that may also close a sentence: the next word decides.
MAY_CLOSE = frozenset("a.k.a al bros co corp esq etc inc jr ltd no p sr".split())  # noqa: SIM905
# Words that begin a sentence far more often than they go on with one: after "etc." or "U.S." they mean a new one.
OPENERS = frozenset(
    """
    a after all also although an and as at because before both but by each even every for from he her here his how
    however i if in it its let many most no not note on one other our she since so some such that the their then there
    these they this those though thus to under use we what when where which while who why with you your
    """.split()  # noqa: SIM905
)
# A stop, quotes or brackets that close after it, space, and what may open a sentence. A row of stops is looked at once,
# from its first: from each of them it would take time in the square of their number. That no stop stands before the
# first is asked after it has matched: a pattern that begins with a set of characters is searched for faster.
BOUNDARY = re.compile(r"""[.!?…](?<![.!?…]{2})[.!?…]*["'”’»)\]]*\s+(?=["'“‘«(\[¿¡]*[^\W_a-z])""")

NEXT_WORD = re.compile(r"\W*(\w+)")
NUMBER_OF_ITEM = re.compile(r"\d{1,3}|[ivxIVX]{1,4}|[A-Za-z]")
INITIAL = re.compile(r"[A-Z]")
ABBREVIATED_NAME = re.compile(r"[A-Za-z]\.[A-Za-z.]*")  # U.S, Ph.D, J.R.R


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of one paragraph, in order, without the white space around them.

    A sentence ends at `.`, `!`, `?` or `…`, with the quotes and brackets that close right after it, where
    white space and then something other than a small letter follow. Abbreviations (e.g., Mr., Fig.), initials
    (J. S. Bach), abbreviated names (U.S.) and decimals do not end one, nor do enumerations (1. First).
    """
    text = " ".join(paragraph.split())
    sentences, start = [], 0
    for match in BOUNDARY.finditer(text):
        if ends_sentence(text, start, match):
            sentences.append(text[start : match.end()].strip())
            start = match.end()
    if text[start:]:
        sentences.append(text[start:])
    return sentences


def ends_sentence(text: str, start: int, boundary: re.Match[str]) -> bool:
    """Whether the stop at this boundary ends the sentence that began at `start`."""
    if text[boundary.start()] != "." or text.startswith("..", boundary.start()):
        return True  # an exclamation, a question or an ellipsis before a capital
    end = boundary.start() - (text[boundary.start() - 1 : boundary.start()] == " ")
    space = text.rfind(" ", start, end)  # a sentence of many abbreviations is not cut out anew for each
    word = text[max(start, space + 1) : end].lstrip("\"'“‘«([")
    if space < 0 and NUMBER_OF_ITEM.fullmatch(word):
        return False  # the number of a list's item: 1. First, a. First
    lowered = word.lower()
    may_close = lowered in MAY_CLOSE
    if lowered in ABBREVIATIONS and not may_close:
        return False
    # An initial ends no sentence, unless it is the pronoun or a name such as "vitamin C".
    if may_close or INITIAL.fullmatch(word) or ABBREVIATED_NAME.fullmatch(word):
        follower = NEXT_WORD.match(text, boundary.end())
        return follower is not None and follower[1].lower() in OPENERS
    return True
