"""What several exercises of chapter 06 share."""

import random

MASK, FIRST_WORD, VOCAB = 4, 5, 50  # the ids of the small vocabularies that the checks use


LONGEST_SPAN = 10


def span_length(rng: random.Random) -> int:
    """SpanBERT's lengths, 1 to 10: each has 0.8 times the probability of the one before (Joshi et al. 2020, section
    3.1). There they count words; the exercise counts tokens."""
    (length,) = rng.choices(range(1, LONGEST_SPAN + 1), [0.8**extra for extra in range(LONGEST_SPAN)])
    return length
