"""Answers to exercise 20.5: right ones, and mistakes with the words that they must hear."""

import unicodedata

# 20.5 ------------------------------------------------------------------------------------------------------------


def marks_dropped(text):
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn")


def repaired(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    return unicodedata.normalize("NFC", marks_dropped(text)) if strip_accents else text


def strip_first(text, lower_case, strip_accents):
    if strip_accents:
        letters = [c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)]
        text = unicodedata.normalize("NFC", "".join(letters))
    if lower_case:
        text = "".join(letter.lower() for letter in text)
    return text


def letter_by_letter(text, lower_case, strip_accents):
    result = ""
    for letter in text:
        letter = letter.lower() if lower_case else letter
        result += unicodedata.normalize("NFC", marks_dropped(letter)) if strip_accents else letter
    return result


def as_before(text, lower_case, strip_accents):
    return marks_dropped(text.lower()) if lower_case else text


def nested(text, lower_case, strip_accents):
    if lower_case:
        text = text.lower()
        if strip_accents:
            text = unicodedata.normalize("NFC", marks_dropped(text))
    return text


def left_apart(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    return marks_dropped(text) if strip_accents else text


def always_stripped(text, lower_case, strip_accents):
    return repaired(text, lower_case, True)


def never_taken_apart(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    if strip_accents:
        text = "".join(letter for letter in text if unicodedata.category(letter) != "Mn")
    return text


def to_ascii(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    if strip_accents:
        text = unicodedata.normalize("NFD", text).encode("ascii", "ignore").decode()
    return text


def letters_dropped(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    return "".join(c for c in text if c.isascii()) if strip_accents else text


def only_apart(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    return unicodedata.normalize("NFD", text) if strip_accents else text


def always_lower(text, lower_case, strip_accents):
    return repaired(text, True, strip_accents)


def stripping_lowers(text, lower_case, strip_accents):
    return repaired(text, lower_case or strip_accents, strip_accents)


def always_apart(text, lower_case, strip_accents):
    text = unicodedata.normalize("NFD", text.lower()) if lower_case else text
    return repaired(text, False, strip_accents)


def one_switch(text, lower_case=True):
    return repaired(text, lower_case, lower_case)


def whole_text_at_once(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    return text if unicodedata.category(text) != "Mn" else ""


def a_list_of_letters(text, lower_case, strip_accents):
    return list(repaired(text, lower_case, strip_accents))


def letters_not_joined(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    if strip_accents:
        text = [letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn"]
        text = unicodedata.normalize("NFC", text)
    return text


def always_together(text, lower_case, strip_accents):
    text = text.lower() if lower_case else text
    return unicodedata.normalize("NFC", marks_dropped(text) if strip_accents else text)


def list_of_accents(text, lower_case, strip_accents):
    text = text.translate(str.maketrans("áéíóúñïÁÉÍÓÚÑÏ", "aeiouniAEIOUNI")) if strip_accents else text
    return text.lower() if lower_case else text


def case_folded(text, lower_case, strip_accents):
    return repaired(text.casefold() if lower_case else text, False, strip_accents)


def compatibility(text, lower_case, strip_accents):
    text = unicodedata.normalize("NFKD", text) if strip_accents else text
    return repaired(text, lower_case, strip_accents)


def early_return(text, lower_case, strip_accents):
    if lower_case:
        return text.lower()
    return repaired(text, False, strip_accents)


ANSWERS = {
    "20.5": {
        "accepted": [repaired, strip_first, letter_by_letter],
        "wrong": [
            (as_before, "nobody asked for that"),
            (nested, "accents are still there"),
            (left_apart, "each syllable is in pieces"),
            (always_stripped, "Both switches are off"),
            (never_taken_apart, "take it apart first"),
            (to_ascii, "nothing of the Korean text is left"),
            (letters_dropped, "not only their accents"),
            (only_apart, "only taken apart"),
            (always_lower, "Both switches are off"),
            (stripping_lowers, "lower_case is False"),
            (always_apart, "which looks alike"),
            (one_switch, "parameters text, lower_case and strip_accents"),
            (whole_text_at_once, "takes one character"),
            (a_list_of_letters, "should be a text"),
            (letters_not_joined, "join them to a text first"),
            (always_together, "is NFC applied where no accent was stripped"),
            (early_return, "no early return"),
            (list_of_accents, "no list of accents"),
            (case_folded, "casefold changes more"),
            (compatibility, "NFKD and NFKC more"),
        ],
    }
}
