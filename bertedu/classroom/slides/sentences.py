"""Which sentences of a chapter's prose go on a slide: those with a new term, questions, and what to notice.

Everything else stays in the speaker notes. The choice follows how the chapters are written: a new term is bold where
it is defined, a question is asked before the cell that answers it, and the first sentence after an output says what
it shows.
"""

import re

# What a notebook tells its reader to do with cells means nothing on a slide.
STAGE = re.compile(
    r"\b(next|following|two|these|those|three) cells?\b|\bcells?\b(?! of a table)|\b[Rr]un (it|the|this)\b"
    r"|hint\(|\bimports?\b|\bnotebook\b|don't have to read|needn't (read|study)|\[chapter \d|\]\(\d\d_"
    r"|\bbelow\b|\babove\b|your (machine|computer)|\b[Ss]ection\b|^Guess",
)
# Of a task, only what concerns the cells around it is left out.
BESIDE_THE_TASK = re.compile(r"\bcells?\b|hint\(|\bimports\b|^Stuck\?|^\(|\[chapter \d")
LEANING = re.compile(
    r"^\(?(It|Its|They|Their|This|These|That|Those|Both|But|So|And|Or|He|She|Then|Here|There|The same|"
    r"The (first|second|last|other)|Each of them|Neither|One of them|Nor|Yet|Instead|Otherwise|Again|Also|Together|"
    r"Such)\b|\b(that|this|these|those|them)[.,:;]"
)
# Sentences that lead from one thing to the next, and say nothing alone.
LEADING = re.compile(
    r"^(\(|Let's|Let us|We (need|begin|go|now|come|take|use)|Now|From (here|now)|Stuck\?|Take a pencil|Remember)|:$|\?$"
)
# A question with one of these words needs the sentence before it.
NEEDY = re.compile(r"\b(them|they|it|its|each|both|these|those|the (two|three|four|other|others|first|second)|this)\b")
DIRECTING = re.compile(r"^(Compare|Look|Read|Notice|Note|Check|See|First look)\b")
KEPT_WHOLE = re.compile(r"`[^`]*`|\$[^$]+\$|\[[^\]]*\]\([^)]*\)")
NO_END = re.compile(r"\b(et al|e\.g|i\.e|vs|cf|Fig|Sec|No|St|Dr|Mr|Mrs|resp)\.$")
END = re.compile(r"(?<=[.!?])[*_\"”)]*\s+(?=[\"“(*_\[]*[A-Z0-9\uE000√])")


def sentences(text: str) -> list[str]:
    """A paragraph of Markdown in sentences; code, formulas and links stay whole."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\ue000{len(kept) - 1}\ue001"

    text = KEPT_WHOLE.sub(keep, " ".join(text.split()))
    cut, start = [], 0
    for end in END.finditer(text):
        part = text[start : end.end()].strip()
        if not NO_END.search(part) and part.count("(") == part.count(")") and part.count("**") % 2 == 0:
            cut.append(part)
            start = end.end()
    cut.append(text[start:].strip())
    return [re.sub(r"\ue000(\d+)\ue001", lambda found: kept[int(found[1])], part) for part in cut if part]


def visible_length(text: str) -> int:
    """How many characters of a Markdown sentence are seen; those of code are wider and count more."""
    code = sum(len(found) - 2 for found in re.findall(r"`[^`]*`", text))
    return len(re.sub(r"\]\([^)]*\)|[*`\[]|\\[a-z]+|[{}$]", "", text)) + code // 5


def asks(sentence: str) -> bool:
    """Whether a sentence asks the reader something."""
    return sentence.rstrip("*_)").endswith("?") or bool(re.search(r"\b[Gg]uess\b", sentence))


def question_of(paragraph: str, longest: int = 330) -> str | None:
    """The question that a paragraph asks before the cell that answers it, with what one has to know for it."""
    said = sentences(paragraph)
    asked = [place for place, sentence in enumerate(said) if "uess" in sentence]
    asked = asked or [place for place, sentence in enumerate(said) if asks(sentence) and place >= len(said) - 2]
    if not asked:
        return None
    first = asked[0]
    last = first if asks(said[-1]) is False else len(said) - 1
    last = max(place for place in range(first, min(last, first + 2) + 1) if place == first or asks(said[place]))
    asked_words = " ".join(sentence for sentence in said[first : last + 1])
    if "?" not in asked_words:
        return None
    cut = re.sub(r"^[^?]*?\b[Gg]uess[^:?]*: *", "", asked_words)
    needy = bool(NEEDY.search(cut))
    alone, asked_words = cut != asked_words and not needy, cut
    bare = asked_words[0].upper() + asked_words[1:]
    asked_words = asked_words[0].upper() + asked_words[1:]
    while (
        not alone and first and not STAGE.search(said[first - 1]) and len(said[first - 1]) + len(asked_words) < longest
    ):
        asked_words = f"{said[first - 1]} {asked_words}"
        first -= 1
        if not LEANING.search(said[first]):
            break
    if (
        visible_length(asked_words) > longest
        or re.search(r"\bcells?\b", asked_words)
        or LEANING.search(asked_words)
        or (needy and asked_words == bare)
    ):
        return None
    return asked_words


def points(paragraphs: list[str], most: int = 4, longest: int = 170) -> list[str]:
    """At most so many sentences that say what the paragraphs are about: those with a bold term, then the first ones."""
    ranked: list[tuple[int, int, str]] = []
    place = 0
    for number, paragraph in enumerate(paragraphs):
        said = sentences(paragraph)
        for index, sentence in enumerate(said):
            place += 1
            if STAGE.search(sentence) or LEADING.search(sentence) or visible_length(sentence) > longest:
                continue
            whole = sentence
            if LEANING.search(sentence):
                before = said[index - 1] if index else ""
                whole = f"{before} {sentence}"
                alone = not before or LEANING.search(before) or STAGE.search(before)
                if alone or visible_length(whole) > longest:
                    continue
            rank = 0 if "**" in sentence else 1 if index == 0 and number == 0 else 2 if index == 0 else 9
            if rank < 9:
                ranked.append((rank, place, whole))
    chosen = sorted(sorted(ranked)[:most], key=lambda row: row[1])
    found: list[str] = []
    for _, _, sentence in chosen:
        if any(sentence in other for other in found):
            continue
        found = [other for other in found if other not in sentence] + [sentence]
    return found


def takeaway(paragraph: str, longest: int = 210) -> str | None:
    """What to notice in an output: the first sentences of the paragraph after it."""
    found, dropped = "", False
    for sentence in sentences(paragraph):
        if STAGE.search(sentence) or asks(sentence):
            break
        if not found and (sentence.startswith("(") or (dropped and LEANING.search(sentence))):
            continue
        if visible_length(f"{found} {sentence}") > longest:
            if not DIRECTING.search(found) or visible_length(sentence) > longest:
                break
            found, dropped = "", True
            if LEANING.search(sentence):
                continue
        found = f"{found} {sentence}".strip()
    if DIRECTING.search(found) and len(sentences(found)) == 1 and ":" not in found:
        return None
    return found or None


def shortened(text: str, longest: int) -> str:
    """The first sentences of a text that fit; of a long first sentence its first clause, or its first words."""
    found = ""
    for sentence in sentences(text):
        if found and visible_length(f"{found} {sentence}") > longest:
            break
        found = f"{found} {sentence}".strip()
    if visible_length(found) <= longest:
        return found
    for clause in reversed(list(re.finditer(r"[;:,] ", found[:longest]))):
        part = found[: clause.start()]
        if part.count("(") == part.count(")") and not part.count("`") % 2 and not part.count("*") % 2:
            return part + " …"
    return found
