"""Cutting a paragraph into sentences by rule: a stop ends one unless the word before it is known to carry a stop.

Which marks are stops, and which close after them, is said by Unicode Standard Annex 29, section 5 (its properties STerm
and ATerm), for every script: the danda of Hindi, the full stops of Chinese, Ethiopic and Burmese, the question mark of
Arabic. Three rules differ from its default, which knows no language: `.`, `!` and `?` end a sentence only before white
space (or a Chinese or Japanese character), `…` does too, and neither does so before a small letter or after an
abbreviation.
"""

import regex

from bertedu.segmentation.joining import joined

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
ASCII_STOPS = ".!?…"
CLOSING = r"""[\p{Pe}\p{Pf}"']*+"""  # quotes and brackets after a stop; before a space, opening quotes close too („so“)
OPENING = r"""[\p{Ps}\p{Pi}"']*"""
NO_SPACES = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
# Stops that also stand inside of words, addresses and numbers. A row of them is looked at once, from its first: from
# each it would take time in the square of their number. That no stop stands before the first is asked after it has
# matched: a pattern that begins with a set of characters is searched for faster.
BEFORE_SPACE = (
    r"""[.!?…](?<![.!?…]{2})[.!?…]*+[\p{Pe}\p{Pf}\p{Pi}"']*+ (?=[\p{Ps}\p{Pi}\p{Pf}"'¿¡]*[[^\W_]--\p{SB=Lower}])"""
)
BEFORE_NO_SPACES = rf"(?:[!?](?<![!?]{{2}})[!?]*+|(?<={NO_SPACES})\.){CLOSING}(?={OPENING}{NO_SPACES})"
# Stops that are nothing else, with those of Tibetan, which Unicode does not count among them; and marks that are stops
# after letters of one script: Greek's question mark, | for a danda, : for Armenian's stop, two spaces of Ethiopic.
STOPS = (
    rf"(?:[\p{{SB=STerm}}།༎--[!?]]|(?<!\p{{Nd}})．|．(?!\p{{Nd}})|(?<=\p{{Greek}})[;\u037e](?={CLOSING}(?: |$))"
    r"|(?<=[\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}] ?)\|"
    r"|(?<=\p{Armenian}):(?= |$)|(?<=\p{Ethiopic})(?:፡፡|::))"
)
MORE_STOPS = r"(?: ?[\p{SB=STerm}\p{SB=ATerm}…།༎|])*+"
VERSE = r"(?:(?<=॥) ?\p{Nd}++ ?॥)?+"  # the number of a verse between its last stop and another
BOUNDARY = regex.compile(rf"(?V1){BEFORE_SPACE}|{BEFORE_NO_SPACES}|{STOPS}{MORE_STOPS}{VERSE}{CLOSING} ?")
GOES_ON = regex.compile(r"\p{SB=SContinue}")  # a comma, a dash: no sentence begins with one
ANY_STOP = regex.compile(rf"(?V1)[.!?…](?!\w)|{STOPS}")
LAST_STOP = regex.compile(rf"""(?V1)(?:[.!?…]|{STOPS})[\p{{Pe}}\p{{Pf}}\p{{Pi}}"']*\Z""")

WITHOUT_STOPS = regex.compile(r"[\p{Thai}\p{Lao}]")
NEXT_WORD = regex.compile(r"\W*(\w+)")
NUMBER_OF_ITEM = regex.compile(r"\d{1,3}|[ivxIVX]{1,4}|[A-Za-z]")
INITIAL = regex.compile(r"\p{Lu}|[\p{Arabic}\p{Hebrew}]")
ABBREVIATED_NAME = regex.compile(r"[A-Za-z]\.[A-Za-z.]*|\p{Lu}\.[\p{Lu}.]*")  # U.S, Ph.D, J.R.R


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of one paragraph, in order, without the white space around them.

    A sentence ends at `.`, `!`, `?` or `…`, with the quotes and brackets that close right after it, where
    white space and then something other than a small letter follow. Abbreviations (e.g., Mr., Fig.), initials
    (J. S. Bach), abbreviated names (U.S.) and decimals do not end one, nor do enumerations (1. First).
    The stops of other scripts (। 。 ؟ ። ။) end one wherever they stand. White space becomes single spaces, and none
    where Chinese or Japanese goes on in the next line. Thai and Lao write no stops: there each line is a sentence.
    """
    lines = [line for line in (" ".join(line.split()) for line in paragraph.splitlines()) if line]
    text = joined(lines)
    sentences, start = [], 0
    for match in BOUNDARY.finditer(text):
        if ends_sentence(text, start, match):
            sentences.append(text[start : match.end()].strip())
            start = match.end()
    if not start and WITHOUT_STOPS.search(text):
        return lines
    if text[start:]:
        sentences.append(text[start:])
    return sentences


def has_stop(text: str) -> bool:
    """Whether a mark that ends a sentence stands anywhere in the text."""
    return ANY_STOP.search(text) is not None


def ends_with_stop(line: str) -> bool:
    """Whether the line ends as a sentence does: with a stop, and the quotes and brackets that close after it."""
    return LAST_STOP.search(line) is not None


def ends_sentence(text: str, start: int, boundary: regex.Match[str]) -> bool:
    """Whether the stop at this boundary ends the sentence that began at `start`."""
    if text[boundary.start()] not in ASCII_STOPS:
        return GOES_ON.match(text, boundary.end()) is None
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
