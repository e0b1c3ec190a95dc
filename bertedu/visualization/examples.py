"""Sentences to try a model on, fit for what it has read."""

from collections.abc import Sequence

from bertedu.inference import LanguageModel, fill_mask
from bertedu.tokenization import Tokenizer

PROMPTS = {
    "documentation": (
        "The function [MASK] a list of strings.",
        "If the file does not [MASK], an error is raised.",
        "The default value is [MASK].",
        "This method is called [MASK] the object is created.",
        "The number of rows and [MASK] of the table.",
        "For more [MASK], see the documentation.",
    ),
    "world": (
        "The capital of France is [MASK].",
        "Paris is the capital of [MASK].",
        "The people of Brazil speak [MASK].",
        "The chemical symbol of [MASK] is fe.",
        "A young cow is called a [MASK].",
        "She sat on the [MASK] of the river.",
    ),
}
PROMPTS_FOR_ANY_TEXT = (
    "He looked at the [MASK] and said nothing.",
    "She went to the [MASK] in the morning.",
    "It was one of the most [MASK] things in the world.",
    "There was no [MASK] in the room.",
    "They did not [MASK] what to do.",
    "In the [MASK] of the night the door opened.",
)
SHORTEST_PROMPT = "[MASK]."  # for a model with few positions, or with a vocabulary of letters
PAIRS = {
    "documentation": ("The function returns a list of strings.", "The list is empty if no file was found."),
    "world": ("The capital of France is Paris.", "In Paris people speak French."),
}
PAIR_FOR_ANY_TEXT = ("He looked at the door and said nothing.", "Then he opened it and went out.")


def prompts(corpus: str) -> Sequence[str]:
    """Sentences with one [MASK] each for a model that has read this corpus."""
    return PROMPTS.get(corpus, PROMPTS_FOR_ANY_TEXT)


def example_pair(corpus: str, model: LanguageModel, tokenizer: Tokenizer) -> tuple[str, str]:
    """Two sentences, the second following the first, whose attention is worth a look; of those that are too long for
    the model, the beginnings.
    """
    first, second = (sentence.split() for sentence in PAIRS.get(corpus, PAIR_FOR_ANY_TEXT))
    while first + second and not fits(model, tokenizer, " ".join(first), " ".join(second)):
        (first if len(first) > len(second) else second).pop()
    return " ".join(first), " ".join(second)


def fits(model: LanguageModel, tokenizer: Tokenizer, text: str, pair: str | None = None) -> bool:
    """Whether the model has positions for all tokens of a text or pair."""
    return tokenizer(text, pair).input_ids.size(1) <= model.config.max_tokens


def fill_examples(
    model: LanguageModel, tokenizer: Tokenizer, corpus: str, top: int = 3
) -> list[tuple[str, list[tuple[str, float]]]]:
    """Each prompt that the model can read whole, with its likeliest words for the [MASK]."""
    asked = [tokenizer.with_mask(prompt) for prompt in (*prompts(corpus), SHORTEST_PROMPT)]
    readable = [prompt for prompt in asked[:-1] if fits(model, tokenizer, prompt)] or asked[-1:]
    return [(prompt, fill_mask(model, tokenizer, prompt, top)[0]) for prompt in readable]
