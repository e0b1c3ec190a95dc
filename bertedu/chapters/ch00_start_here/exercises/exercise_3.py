"""Exercise 0.3: Find the mask."""

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise
from bertedu.tokenization.bert import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

WORDS = ("the", "capital", "of", "is", "a", "young", "called", "cat", "mon", "##gol", "##ia", ".")


@exercise(
    "0.3",
    "Find the mask",
    difficulty=2,
    minutes=8,
    runs="with package",
    hints=(
        "Print tokenizer(text).tokens[0]. These are the tokens that the model reads. Which one is at position 0?",
        "Search for [MASK] in these tokens, not in the words: tokens[0] is a list, and lists have .index().",
    ),
)
def position_of_mask(case: Case) -> None:
    """The position of [MASK] among the tokens, not among the words."""
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, *WORDS])
    case.causes = {
        "'[mask]' is not in list": "The token is written in capitals: [MASK].",
        "is not in list": "tokenizer(text).tokens has one list of tokens for each text: search in tokens[0].",
        "'dims'": "A tensor has no such .index(). A list has one: tokens[0] is a list, and tolist() makes another.",
    }
    text = "The capital of [MASK] is a young cat ."
    position = number(case, case.call(text, tokenizer, tried=f"{text!r}"))
    tokens = tokenizer(text).tokens[0]
    if position == text.index("[MASK]"):
        case.fail(f"But you returned {position}. That counts characters. Count tokens, as the model does.")
    is_right(case, position, tokens)
    text = "Mongolia is [MASK] ."
    tokens = tokenizer(text).tokens[0]
    position = number(case, case.call(text, tokenizer, tried=f"{text!r}, with a word that is split"))
    if position == tokenizer.mask_token_id:
        came = f"But you returned {position}. That is the id of [MASK]."
        case.fail(came, "An id says which token it is, not where it is.")
    if position == 3:
        right = tokens.index("[MASK]")
        case.fail(
            f"But you returned {position}. The model reads {' '.join(tokens)}, and [MASK] is at position {right}.",
            "Adding 1 for [CLS] works only as long as each word is one token. "
            "Where can you search instead of in the words?",
        )
    is_right(case, position, tokens)
    text = "A young cat is called [MASK]."
    position = number(case, case.call(text, tokenizer, tried=f"{text!r}, with a full stop right after the mask"))
    is_right(case, position, tokenizer(text).tokens[0])
    case.close_with("If you count words where the model counts tokens, you are off by one sooner or later. You aren't.")


def number(case: Case, got) -> int:
    """What came back as a plain number."""
    got = plain(got)
    if isinstance(got, list) and not any(isinstance(item, list) for item in got) and len(got) == 1:
        case.almost(f"But a position is one number, and this is a list with that number in it: {got}.")
    if isinstance(got, list):
        case.fail("But one position is asked for, as an integer, and more than one number came back.")
    if isinstance(got, bool) or not isinstance(got, int):
        case.is_a("the position", got, int, "an integer")
        case.fail("But the position should be an integer, and it is True or False.")
    return got


def is_right(case: Case, position: int, tokens: list[str]) -> None:
    """Not yet, unless [MASK] is at this position."""
    right = tokens.index("[MASK]")
    if position == right:
        return
    if not -len(tokens) <= position < len(tokens):
        case.fail(
            f"But you returned {position}, and the tokens that the model reads have the positions 0 to "
            f"{len(tokens) - 1}.",
            "An id says which token it is, not where it is." if position >= len(tokens) else "",
        )
    came = f"But you returned {position}, and the token at this position is {tokens[position]!r}."
    if position == right - len(tokens):
        case.almost(came, "That is right if you count from the end. But count from the front, so that it is 0 or more.")
    if position == right - 1:
        case.fail(came, "That is one too early. What does the tokenizer add before the first word?")
    if position == right + 1:
        case.fail(came, "That is one too far. Positions are counted from 0, and [CLS] is at position 0.")
    case.fail(came, f"The model reads: {' '.join(tokens)}")
