"""Toy texts whose rule is known exactly, to ask what an architecture can learn: where words stand, and which belong
together. Chapter 18 trains small models on them.

Every word is one token, so ids are numbers in the list of words. Shapes: N texts, T tokens.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

NOUNS = tuple(["key", "lamp", "cup", "book", "coat", "boat", "door", "cloud", "horse", "river", "plate", "letter"])
VERB_WORDS = (
    *["[PAD]", "[CLS]", "[SEP]", "[MASK]", "the", "near", ".", "is", "are", "wet"],
    *NOUNS,
    *(noun + "s" for noun in NOUNS),
)
LETTERS = "abcdef"
ARROW_WORDS = (
    *["[CLS]", "[SEP]", "[MASK]", "left?", "right?"],
    *LETTERS,
    *(letter + ">" for letter in LETTERS),
    *("<" + letter for letter in LETTERS),
)
CITIES = ("new york", "san francisco", "los angeles", "las vegas")
CITY_WORDS = tuple(["[PAD]", "[MASK]", "[CLS]", "[SEP]", "we", "met", "in", "today", *" ".join(CITIES).split()])
CITY = slice(3, 5)  # where the two words of the city stand


def verb_texts(
    count: int, sentences: int, generator: torch.Generator, hard: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Texts of sentences like "the keys near the lamp are wet .", in the last of which the verb is [MASK].

    Returns ids [N, 8 · sentences + 2], the missing verb [N], 0 for is and 1 for are, and which subjects are plural
    [N, sentences]. With hard, the two nouns of the last sentence always differ in number.
    """
    shape = (count, sentences, 2)  # two nouns in each sentence, the first is the subject
    nouns = torch.randint(len(NOUNS), shape, generator=generator)
    plural = torch.randint(2, shape, generator=generator)
    if hard:
        plural[:, -1, 1] = 1 - plural[:, -1, 0]
    words = VERB_WORDS.index(NOUNS[0]) + nouns + len(NOUNS) * plural
    verbs = VERB_WORDS.index("is") + plural[..., 0]
    verbs[:, -1] = VERB_WORDS.index("[MASK]")
    the, near, wet, dot = (torch.full(shape[:2], VERB_WORDS.index(word)) for word in ("the", "near", "wet", "."))
    body = torch.stack([the, words[..., 0], near, the, words[..., 1], verbs, wet, dot], dim=-1)
    cls, sep = (torch.full((count, 1), VERB_WORDS.index(word)) for word in ("[CLS]", "[SEP]"))
    return torch.cat([cls, body.flatten(1), sep], dim=1), plural[:, -1, 0], plural[..., 0]


def query_decides(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Texts like "[CLS] a left? d [SEP]": the token in the middle says which neighbour is asked for.

    Returns ids [N, 5], the letter that is asked for [N], 0 for a, and the letter on the other side [N].
    """
    first, second, side = two_letters(count, generator)
    letter = ARROW_WORDS.index("a")
    ids = framed(first + letter, side + ARROW_WORDS.index("left?"), second + letter)
    return ids, torch.where(side == 0, first, second), torch.where(side == 0, second, first)


def key_decides(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Texts like "[CLS] a> [MASK] d> [SEP]": the neighbour whose arrow points at the middle is asked for.

    Returns the same as `query_decides`.
    """
    first, second, way = two_letters(count, generator)
    arrow = ARROW_WORDS.index("a>") + len(LETTERS) * way
    ids = framed(first + arrow, torch.full_like(first, ARROW_WORDS.index("[MASK]")), second + arrow)
    return ids, torch.where(way == 0, first, second), torch.where(way == 0, second, first)


def palindromes() -> tuple[Tensor, Tensor]:
    """Texts with the same arrow on both sides, "a> [MASK] a>" and "<a [MASK] <a": ids [12, 5] and letters [12]."""
    letters = torch.arange(len(LETTERS))
    mask = torch.full_like(letters, ARROW_WORDS.index("[MASK]"))
    right, left = letters + ARROW_WORDS.index("a>"), letters + ARROW_WORDS.index("<a")
    return torch.cat([framed(right, mask, right), framed(left, mask, left)]), letters.repeat(2)


def two_letters(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Two different letters and a coin, [N] each."""
    first = torch.randint(len(LETTERS), (count,), generator=generator)
    second = (first + torch.randint(1, len(LETTERS), (count,), generator=generator)) % len(LETTERS)
    return first, second, torch.randint(2, (count,), generator=generator)


def framed(left: Tensor, middle: Tensor, right: Tensor) -> Tensor:
    """[CLS] left middle right [SEP]: ids [N] each to [N, 5]."""
    cls, sep = (torch.full_like(left, ARROW_WORDS.index(word)) for word in ("[CLS]", "[SEP]"))
    return torch.stack([cls, left, middle, right, sep], dim=1)


def city_texts() -> Tensor:
    """One text for each city, "we met in new york today [SEP] [CLS]" (XLNet's [CLS] is last): ids [4, 8]."""
    lines = (f"we met in {city} today [SEP] [CLS]".split() for city in CITIES)
    return torch.tensor([[CITY_WORDS.index(word) for word in line] for line in lines])


def cities_masked(ids: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    """Inputs of a masked language model: both words of the city are [MASK], and asked for. ids [B, 8]."""
    masked, labels = ids.clone(), torch.full_like(ids, -100)
    masked[:, CITY], labels[:, CITY] = CITY_WORDS.index("[MASK]"), ids[:, CITY]
    return {"input_ids": masked, "labels": labels}


def cities_in_random_order(ids: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    """XLNet's inputs: both words of the city are predicted, in a random order for each text. ids [B, 8].

    perm_mask [B, 8, 8]: nobody sees the two words, but the one that is predicted later sees the other.
    """
    first, second = CITY.start, CITY.stop - 1
    first_first = torch.rand(len(ids), generator=generator) < 0.5
    perm_mask = torch.zeros(len(ids), ids.size(1), ids.size(1))
    perm_mask[:, :, CITY] = 1
    perm_mask[first_first, second, first] = 0
    perm_mask[~first_first, first, second] = 0
    target_mapping = torch.eye(ids.size(1))[CITY].expand(len(ids), -1, -1)  # [B, 2, 8]
    labels = ids[:, CITY]  # [B, 2]
    return {"input_ids": ids, "perm_mask": perm_mask, "target_mapping": target_mapping, "labels": labels}


def city_losses(model: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    """The loss of both words of the city together, [B], with inputs from one of the two functions above."""
    logits, labels = model(**inputs).prediction_logits, inputs["labels"]  # [2 B, V], and -100 where nothing is asked
    return cross_entropy(logits.float(), labels[labels >= 0], reduction="none").unflatten(0, (-1, 2)).sum(dim=1)
