"""Prints the second half of tagged.txt: sentences from a little grammar, each word with its tag.

Nouns, verbs, adjectives and adverbs are drawn from the lists below; every word of BOTH stands as often as a noun
as it does as a verb. Run it as `python make_sentences.py`; the same sentences come out each time.
"""

import random

# ruff: noqa: SIM905 (lists of words are read more easily as text)

NOUNS = """man woman boy girl king queen doctor teacher soldier captain farmer sailor house room door window table
church ship horse dog cat bird tree garden field river stone book letter gold wine bridge wall
road castle village city servant lady judge""".split()
VERBS = """saw found took gave brought left heard knew lost kept bought sold wrote broke opened closed entered
followed carried loved feared watched remembered forgot admired destroyed built reached held met""".split()
BARE_VERBS = """know believe remember forget learn become bring carry follow obey receive send sing write read eat
tell teach listen arrive hear see choose speak suffer marry explain grow live agree pray build break sell buy win
lose hide bury""".split()
ADJECTIVES = """old young great small long short dark bright cold warm rich poor strong weak happy sad quiet loud
beautiful ugly heavy empty white black green red blue noble strange honest proud wise broad narrow deep""".split()
ADVERBS = """slowly quickly suddenly quietly often never always soon again gladly carefully hardly once twice
immediately greatly secretly easily badly freely gently""".split()
BOTH = """walk run look work fear hope cry dream watch plan visit call fish paint rain smoke drink talk rest dance
smile laugh help show change sleep sound guard fight march point voice stop fall rise report return murder doubt
promise attack desire need wish study hunt taste touch command rule cut claim cause force reply offer shout drive
ride""".split()
PEOPLE = """John Mary James Charles William George Elizabeth Jane Anne Tom Harry Robert Henry Edward Peter Paul
David Alice Margaret Catherine Helen Ruth Arthur Philip Lucy Thomas Joseph Richard Frank Jack""".split()
PLACES = """London Paris England France Rome Italy Spain Germany America Russia China India Egypt Boston Chicago
Europe Africa Asia Scotland Japan Australia""".split()
TIMES = """Monday Saturday Sunday January February April July September October November December Christmas""".split()

# Frames for words with one role, and other frames for the words of BOTH: no sentence that asks about those is built
# like one that a probe has learned from.
PATTERNS = [
    "the/DET {A} {N} {V} the/DET {N} ./PUNCT",
    "a/DET {N} {R} {V} the/DET {A} {N} ./PUNCT",
    "the/DET {N} was/AUX {A} and/CCONJ {A} ./PUNCT",
    "{R} the/DET {N} {V} a/DET {N} ./PUNCT",
    "he/PRON {V} her/PRON {R} ,/PUNCT for/SCONJ she/PRON was/AUX {A} ./PUNCT",
    "you/PRON can/AUX {M} the/DET {N} {R} ./PUNCT",
    "they/PRON {R} {M} the/DET {N} of/ADP the/DET {N} ./PUNCT",
    "I/PRON {M} {R} ,/PUNCT and/CCONJ my/DET {N} was/AUX {A} ./PUNCT",
    "it/PRON is/AUX {A} to/PART {M} a/DET {A} {N} ./PUNCT",
    "who/PRON would/AUX {M} without/ADP a/DET {N} ?/PUNCT",
]
AS_NOUN = [
    "this/DET {B} was/AUX {A} ./PUNCT",
    "she/PRON {V} of/ADP his/DET {B} ./PUNCT",
    "there/PRON was/AUX no/DET {B} in/ADP the/DET {N} ./PUNCT",
    "after/ADP that/DET {B} he/PRON {V} us/PRON ./PUNCT",
]
AS_VERB = [
    "we/PRON will/AUX {B} with/ADP the/DET {N} ./PUNCT",
    "the/DET {N} did/AUX not/PART {B} {R} ./PUNCT",
    "he/PRON began/VERB to/PART {B} ,/PUNCT and/CCONJ she/PRON was/AUX {A} ./PUNCT",
    "let/VERB us/PRON {B} ,/PUNCT or/CCONJ they/PRON will/AUX be/AUX {A} ./PUNCT",
]
NAMES = [
    ("{P} {V} the/DET {N} ./PUNCT", "PEOPLE"),
    ("the/DET {N} of/ADP {P} was/AUX {A} ./PUNCT", "PEOPLE"),
    ("she/PRON {V} {P} {R} ./PUNCT", "PEOPLE"),
    ("they/PRON went/VERB from/ADP {P} by/ADP ship/NOUN ./PUNCT", "PLACES"),
    ("the/DET {N} of/ADP {P} was/AUX {A} ./PUNCT", "PLACES"),
    ("she/PRON {V} {P} {R} ./PUNCT", "PLACES"),
    ("he/PRON {V} the/DET {N} on/ADP {P} ./PUNCT", "TIMES"),
    ("the/DET {N} of/ADP {P} was/AUX {A} ./PUNCT", "TIMES"),
    ("{P} was/AUX {A} and/CCONJ {A} ./PUNCT", "TIMES"),
]
KINDS = {
    "PEOPLE": (PEOPLE, "PROPN:person"),
    "PLACES": (PLACES, "PROPN:place"),
    "TIMES": (TIMES, "PROPN:time"),
}
WORDS = {
    "N": (NOUNS, "NOUN"),
    "V": (VERBS, "VERB"),
    "M": (BARE_VERBS, "VERB"),
    "A": (ADJECTIVES, "ADJ"),
    "R": (ADVERBS, "ADV"),
}


def filled(pattern: str, draw: random.Random, **chosen: str) -> str:
    """The pattern with a word for each brace, none of them twice."""
    used: set[str] = set()
    words = []
    for piece in pattern.split():
        name = piece.strip("{}")
        if name in chosen:
            piece = chosen[name]
        elif name in WORDS:
            choices, tag = WORDS[name]
            word = draw.choice([choice for choice in choices if choice not in used])
            used.add(word)
            piece = f"{word}/{tag}"
        words.append(piece)
    return " ".join(words)


def sentences() -> list[str]:
    """All sentences, in an order that mixes the kinds."""
    draw = random.Random(0)
    made = [filled(pattern, draw) for pattern in PATTERNS for _ in range(12)]
    for number, word in enumerate(BOTH):
        made.append(filled(AS_NOUN[number % len(AS_NOUN)], draw, B=f"{word}/NOUN"))
        made.append(filled(AS_VERB[number % len(AS_VERB)], draw, B=f"{word}/VERB"))
    for pattern, kind in NAMES:
        names, tag = KINDS[kind]
        made += [filled(pattern, draw, P=f"{name}/{tag}") for name in draw.sample(names, 10)]
    draw.shuffle(made)
    return made


if __name__ == "__main__":
    print("\n".join(sentences()))
