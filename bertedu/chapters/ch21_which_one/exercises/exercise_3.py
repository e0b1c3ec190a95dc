"""Exercise 21.3: Per character."""

import math
from collections.abc import Sequence

from bertedu.chapters.ch21_which_one.exercises.shared import compare_number
from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.family.comparison import bits_per_character

Texts = Sequence[str]


Tokens = Sequence[Sequence[str]]


Losses = Sequence[Sequence[float]]


CUT = (
    ("Où est le café ?", "Il est tard, la nuit est noire et le port est fermé."),
    ("où est le ca ##fé ?", "il est tard , la nuit est noi ##re et le port est fer ##mé ."),
)


NATS = (
    [0.4, 4.0, 2.0, 1.0, 5.0, 3.0, 0.5, 0.7],
    [0.3, 3.0, 2.0, 6.0, 1.0, 2.5, 5.5, 1.5, 7.0, 0.5, 1.0, 1.5, 5.0, 2.0, 4.5, 1.0, 0.25, 0.6],
)


IN_LISTS = "tokens and nats have one list for each text: go text by text, and then through its tokens and losses."


ENDS = "[CLS] and [SEP] are not in the text: leave their losses out."


@exercise(
    "21.3",
    "Per character",
    difficulty=2,
    minutes=10,
    without=("bits_per_character",),
    hints=(
        "A mean of means gives short sentences too much weight. Take one sum over everything, divided by one sum over "
        "everything. Which tokens are not in the text?",
        "Sum the nats of all tokens but [CLS] and [SEP], divide by math.log(2), and by sum(len(text) for text in "
        "texts).",
    ),
)
def per_character(case: Case) -> None:
    case.causes = {
        "'list'": IN_LISTS,
        "not list": IN_LISTS,
        "'tuple'": IN_LISTS,
        "is not in list": "tokens has a list for each text, and [CLS] is in these: tokens[0], tokens[1] and so on.",
        "'int' and 'str'": "Texts can't be added like numbers: add their lengths, len(text).",
        "inhomogeneous shape": "The lists have different lengths, so they don't fit into one array: go text by text.",
    }
    texts, nats = list(CUT[0]), [list(one) for one in NATS]
    tokens = [["[CLS]", *words.split(), "[SEP]"] for words in CUT[1]]
    for some, tried in ((slice(0, 1), "one sentence of 16 characters"), (slice(0, 2), "two sentences")):
        inputs = texts[some], tokens[some], nats[some]
        got = plain(case.call(*inputs, tried=tried))
        case.expect(not isinstance(got, list), f"But it returned {said(got)}: one number for all texts is asked for.")
        compare_number(case, "the result", got, bits_per_character(*inputs), wrong_bits(*inputs))
    whole = ["ab cd"], [["[CLS]", "ab", "cd", "[SEP]"]], [[9.0, 2.0, 3.0, 9.0]]
    pieces = ["ab cd"], [["[CLS]", "a", "##b", "c", "##d", "[SEP]"]], [[9.0, 1.5, 0.5, 2.5, 0.5, 9.0]]
    bracket = ["a [b"], [["[CLS]", "a", "[", "b", "[SEP]"]], [[9.0, 1.5, 4.0, 2.5, 9.0]]
    for inputs, tried in (
        (whole, '"ab cd" in two tokens'),
        (pieces, '"ab cd" in four tokens with the same total'),
        (bracket, 'the text "a [b"'),
    ):
        got = plain(case.call(*inputs, tried=tried))
        compare_number(case, "the result", got, bits_per_character(*inputs), wrong_bits(*inputs))
    case.close_with("You nowhere divide by the number of tokens. So two vocabularies can be compared.")


def wrong_bits(texts: Texts, tokens: Tokens, nats: Losses) -> list[tuple[float, str]]:
    """What known mistakes give."""
    bit, characters = math.log(2), sum(map(len, texts))
    total, wanted = sum(map(sum, without_ends(nats))), bits_per_character(texts, tokens, nats)
    unit = "The result is in nats. A bit is ln 2 = 0.693 nats: divide by it."
    log_of_loss = "A loss in nats is a logarithm already. Don't take another one: divide by ln 2."
    return [
        *((loss / bit / characters, sentence) for loss, sentence in wrong_totals(tokens, nats)),
        (sum(map(sum, nats)) / characters, f"{ENDS} {unit}"),
        (total / characters, unit),
        (total * bit / characters, "You multiplied by ln 2. A number in bits is larger than in nats: divide."),
        (total / math.log(10) / characters, "That is the logarithm to the base 10. Bits have the base 2."),
        (total / math.log10(2) / characters, "That is the logarithm to the base 10. Divide by math.log(2)."),
        (math.log2(total) / characters, log_of_loss),
        (sum(math.log2(loss) for one in without_ends(nats) for loss in one) / characters, log_of_loss),
        (total / 2 / characters, "A bit is ln 2 = 0.693 nats, not 2: divide by math.log(2)."),
        (
            total / bit * characters,
            "You multiplied by the number of characters: a / b * c is (a / b) * c. Divide by both.",
        ),
        *((total / bit / count, sentence) for count, sentence in wrong_counts(texts, tokens)),
        (2**wanted, "That is the perplexity of a character. Return the bits."),
        (1 / wanted, "That is characters for each bit. Divide the other way round."),
        (-wanted, "The losses are positive already: no minus sign is needed."),
        (math.floor(wanted), "Is there a `//`? It cuts the decimals off. Write `/`."),
        (0.0, "nats[1:-1] cuts off the first and the last *text*. Cut the ends off the list of each text."),
        *wrong_means(texts, nats),
    ]


def without_ends(lists: Sequence[Sequence]) -> list[Sequence]:
    """Each list without its first and its last entry."""
    return [one[1:-1] for one in lists]


def wrong_totals(tokens: Tokens, nats: Losses) -> list[tuple[float, str]]:
    """The nats that known mistakes sum."""
    pairs = [list(zip(*both, strict=True)) for both in zip(without_ends(tokens), without_ends(nats), strict=True)]
    one_left = "Only one of [CLS] and [SEP] is left out. Neither of them is in the text."
    pieces = "The tokens that begin with ## are missing. They are part of the text."
    bracket = "Only [CLS] and [SEP] are special. Another token with a bracket is part of the text."
    shifted = "The losses have moved against the tokens: take away the same positions from both, in copies."
    return [
        (sum(map(sum, nats)), f"{ENDS} (In a condition with two `!=`, write `and`, not `or`.)"),
        (sum(sum(losses[1:]) for losses in nats), one_left),
        (sum(sum(losses[:-1]) for losses in nats), one_left),
        (sum(sum(losses[:-2]) for losses in nats), shifted),
        (sum(loss for one in pairs for token, loss in one if not token.startswith("##")), pieces),
        (sum(loss for one in pairs for token, loss in one if not token.startswith("[")), bracket),
        (sum(nats[-1][1:-1]), "Only the losses of the last sentence are counted. Add up over all of them."),
    ]


def wrong_counts(texts: Texts, tokens: Tokens) -> list[tuple[float, str]]:
    """What known mistakes divide the bits of all tokens by."""
    in_tokens = "You divided by the number of tokens, which differs between vocabularies. Count characters."
    letters = "Spaces are characters, too: len(text) counts them, and tokens don't hold them."
    signs = "You counted the characters of the tokens. ## is not in the text, and its spaces are in no token."
    inner, characters = without_ends(tokens), sum(map(len, texts))
    return [
        (sum(map(len, inner)), in_tokens),
        (sum(map(len, inner)) / math.log(2), in_tokens),
        (sum(map(len, tokens)), in_tokens),
        (sum(len(text.split()) for text in texts), "That is for a word. Here a character is asked for."),
        (
            sum(len(text.encode()) for text in texts),
            "You counted bytes. An é has two of them, and is one character: len(text).",
        ),
        (sum(len(text.replace(" ", "")) for text in texts), letters),
        (sum(sign.isalpha() for text in texts for sign in text), "Spaces, commas and dots are characters, too."),
        (sum(sign.isalpha() or sign == " " for text in texts for sign in text), "Commas and dots are characters, too."),
        (8 * characters, "A character counts as one, not as eight bits: the bits here measure the loss."),
        (8 * sum(len(text.encode()) for text in texts), "You counted the bits of a file. Divide by len(text)."),
        (sum(len(token) for one in inner for token in one), signs),
        (sum(len(token) for one in tokens for token in one), signs),
        (len(" ".join(texts)), "The texts are separate: there is no space between one and the next."),
        (len(texts), "len(texts) is the number of texts. Divide by the number of their characters."),
        (1, "That is for the whole text. Divide by its number of characters."),
    ]


def wrong_means(texts: Texts, nats: Losses) -> list[tuple[float, str]]:
    """What comes where the sentences have a mean each, and where only some of them count."""
    bit, inner = math.log(2), without_ends(nats)
    in_tokens = "You divided by the number of tokens, which differs between vocabularies. Count characters."
    means = "That is a mean of the sentences' means: a short sentence counts as much as a long one. Sum first."
    by_text = [sum(losses) / len(text) for losses, text in zip(inner, texts, strict=True)]
    by_token = [sum(losses) / len(losses) for losses in inner]
    everything = sum(map(sum, nats))
    return [
        (everything / bit / sum(map(len, nats)), in_tokens),
        (everything / sum(map(len, nats)), in_tokens),
        (sum(by_text) / bit / len(texts), means),
        (sum(by_text) / len(texts), means),
        (sum(by_text) / bit, "You added what each sentence has for a character. Add all bits, then divide once."),
        (sum(by_token) / bit / len(texts), f"{means} And divide by characters, not by tokens."),
        (sum(by_token) / len(texts), f"{means} And divide by characters, not by tokens."),
        (sum(sum(one) / len(one) for one in nats) / len(texts), f"{means} And divide by characters, not by tokens."),
        (by_text[-1] / bit, "Only the last sentence is counted."),
        (by_text[0] / bit, "Only the first sentence is counted. Is the `return` inside of the loop?"),
    ]
