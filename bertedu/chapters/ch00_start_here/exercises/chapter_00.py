"""Exercises of chapter 0: how exercises work, tried out on the smallest parts of BERT's work."""

import torch

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise
from bertedu.tokenization.bert import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

MASK = 4
WORDS = ("the", "capital", "of", "is", "a", "young", "called", "cat", "mon", "##gol", "##ia", ".")


@exercise(
    "0.1",
    "Count the attention weights",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Begin with one head of one layer: each of the 9 tokens attends to 9 tokens. How many weights is that?",
        "Each layer has 2 heads, and there are 2 layers.",
    ),
)
def count_weights(case: Case) -> None:
    """The number of attention weights, L · H · T · T."""
    case.predicted(
        324,
        otherwise="One head has a table of weights, with a row and a column for each token. How many heads are there?",
        mistakes=[
            (36, "36 is one number for each token and head. But each token has a weight for each of the 9 tokens."),
            (18, "18 is one number for each token and layer. But each token has a weight for each of the 9 tokens."),
            (9, "9 is the number of tokens. In each head, each of them has a weight for each of the 9 tokens."),
            (81, "81 is the table of one head in one layer. How many heads are there in all?"),
            (162, "162 is half of it. Did you count one layer only, or one head in each layer?"),
            (288, "288 leaves out that each token also attends to itself."),
            (196, "196 leaves out two tokens: [CLS] and [SEP] are among the 9, and they attend like all others."),
            (484, "484 has two tokens too many: [CLS] and [SEP] are already among the 9."),
        ],
    )
    case.close_with("L · H · T · T = 2 · 2 · 9 · 9. Twice as many tokens need four times as many attention weights.")


@exercise(
    "0.2",
    "Mask a token",
    difficulty=1,
    minutes=7,
    hints=(
        "First make a copy, for example with clone(). Then change the copy.",
        "The tokens at `position` of all texts are a column: copy[:, position].",
    ),
)
def mask_token(case: Case) -> None:
    """A copy of the ids, [B, T], with the mask's id at one position of every text."""
    ids = torch.tensor([[2, 11, 12, 13, 14, 3], [2, 21, 22, 23, 24, 3], [2, 31, 32, 33, 34, 3], [2, 41, 42, 43, 44, 3]])
    case.causes = {"can't assign a str": "An id is an integer: write mask_id, not the text of the token."}
    masked = case.call(ids, 3, MASK, tried="4 texts of 6 tokens, with position 3")
    case.is_a("the result", masked, torch.Tensor, "a tensor of ids")
    if list(masked.shape) == [4, 5]:
        case.fail("But each text has lost a token. It should keep its 6 tokens, and one of them should be mask_id.")
    if list(masked.shape) == [4, 7]:
        case.fail("But each text has one token more. mask_id should replace the token, not stand beside it.")
    case.same_shape("the result", masked, ids, "Return the whole tensor, with all texts and all their tokens.")
    case.expect(not torch.equal(masked.long(), ids), "But nothing is masked: the result equals input_ids.")
    expected, first_only, whole_text, before = (ids.clone() for _ in range(4))
    expected[:, 3] = first_only[0, 3] = whole_text[3] = before[:, 2] = MASK
    everything = torch.full((4, 6), float(MASK))
    case.close(
        "the result",
        masked.float(),
        expected.float(),
        "Only position 3 of each text should change, and it should become mask_id.",
        mistakes={
            "All of text 3 is masked: x[3] is a row. How do you write position 3 of all rows?": whole_text.float(),
            "Only the first text has a mask. How do you write all rows?": first_only.float(),
            "The token before it is masked. Positions are counted from 0, as usual in Python.": before.float(),
            "Every token is masked. Only one position of each text should change.": everything,
        },
    )
    case.dtype("the result", masked, torch.int64, "Ids are integers: the model uses them as row numbers of a table.")
    one = case.call(ids[:1], 0, MASK, tried="a batch with one text, position 0")
    case.close("the result", one.float(), torch.tensor([[4.0, 11, 12, 13, 14, 3]]), "The first position is 0.")
    case.close_with("And input_ids is unchanged, so the right answers are still there.")


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


@exercise(
    "0.4",
    "The rank of the right word",
    difficulty=3,
    minutes=10,
    hints=(
        "How many scores are larger than the score of the right word? If none is, it has rank 1.",
        "larger = scores > scores[right_id] is a tensor of True and False. larger.sum() counts the True, .item() makes "
        "it a number.",
    ),
)
def rank(case: Case) -> None:
    """One more than the number of scores, [V], above that of the right word."""
    scores = torch.tensor([0.1, 2.0, -1.0, 5.0, 3.0])  # [V]
    best = whole(case, case.call(scores, 3, tried="5 scores, the right word has the highest"))
    if best == 0:
        case.fail("But it returned rank 0 for the best word. Ranks begin at 1.")
    if best in (4, 5):
        case.fail(f"But it returned rank {best} for the best word. Does your order begin with the smallest score?")
    case.equal("the rank", best, 1, "The right word has the highest score.")
    middle = whole(case, case.call(scores, 1, tried="5 scores, two of them higher than that of the right word"))
    case.equal(
        "the rank",
        middle,
        3,
        "Two scores are larger than that of the right word.",
        mistakes=[
            (1, "1 is its id, that is, its index. The rank is 1 more than the number of words with a higher score."),
            (5, "In argsort(descending=True), the entry at right_id is another word. Where in this list is right_id?"),
            (2, "2 words have a higher score. So what is its own rank?"),
        ],
    )
    many = case.randn(4000)
    last = int(many.argmin())
    lowest = whole(case, case.call(many, last, tried="4,000 scores"))
    case.equal("the rank", lowest, 4000, "The right word has the lowest score of all.")
    tied = torch.tensor([1.0, 7.0, 7.0, 0.0])
    result = whole(case, case.call(tied, 2, tried="two words with the same highest score"))
    case.expect(result in (1, 2), f"But the rank is {result}, and two words share the highest score.")
    case.close_with("Rank 1 means that the first guess is right. The share of ranks up to 5 is called hits at 5.")


def whole(case: Case, got) -> int:
    """What came back as an integer: a tensor with one number counts as well."""
    got = plain(got)
    if isinstance(got, list) and len(got) == 1:
        case.almost(f"But the rank is one integer, and this is a list with that number in it: {got}.")
    if isinstance(got, list):
        case.fail("But the rank is one integer, and a list of numbers came back. Count, or look up yours in it.")
    if isinstance(got, float) and got == int(got) and not isinstance(got, bool):
        return int(got)
    if isinstance(got, bool) or not isinstance(got, int):
        case.is_a("the rank", got, int, "an integer")
        case.fail("But the rank should be an integer, and it is True or False.")
    return got
