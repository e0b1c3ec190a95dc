"""What word2vec, GloVe and fastText share: whole words as tokens, windows, and which words are drawn how often.

Mikolov, Sutskever, Chen, Corrado & Dean 2013, "Distributed Representations of Words and Phrases and their
Compositionality": negative sampling is section 2.2, the subsampling of frequent words section 2.3.
Shapes: N words of a text, P pairs, K negatives, V vocabulary.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from bertedu.errors import UserError
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.training import SPECIAL_TOKENS

# Small letters with their accents: without them there is no vowel left in Hindi or Thai.
NORMALIZATION = Normalization(strip_accents=False)
POWER = 0.75  # of the counts, for negatives: between as often as in the text (1) and all alike (0)
THRESHOLD = 1e-3  # of subsampling; the paper takes 1e-5 for a billion words


def whole_words(sentences: Iterable[str], least: int = 1) -> BertTokenizer:
    """A tokenizer whose tokens are the words that stand at least so often in the sentences, the most frequent first."""
    counts = Counter(word for sentence in sentences for word in NORMALIZATION.words(sentence))
    vocab = [*SPECIAL_TOKENS, *(word for word, count in counts.most_common() if count >= least)]
    return BertTokenizer(vocab, strip_accents=NORMALIZATION.strip_accents)


def flat(sentences: Iterable[str], tokenizer: BertTokenizer) -> tuple[Tensor, Tensor]:
    """The words of all sentences, and the number of the sentence that each stands in: [N] each."""
    ids = [torch.tensor(row, dtype=torch.long) for row in tokenizer.encode_lines(sentences)]
    if not any(map(len, ids)):
        raise UserError("there is no word in these sentences: give at least one sentence with two words.")
    numbers = torch.repeat_interleave(torch.arange(len(ids)), torch.tensor([len(row) for row in ids]))
    return torch.cat(ids), numbers


def keep_probabilities(counts: Tensor, threshold: float = THRESHOLD) -> Tensor:
    """How likely an occurrence of each word is kept: √(t / f), at most 1; f is the word's share of the text. [V]

    The formula of the paper (equation 5). The authors' program, and gensim, compute √(t / f) + t / f.
    """
    shares = counts / counts.sum()
    return (threshold / shares).sqrt().clamp_max(1.0)


def noise_distribution(counts: Tensor, power: float = POWER) -> Tensor:
    """From which negatives are drawn: the counts to the power of 3/4, summing to 1. [V]"""
    weights = counts.double() ** power
    return (weights / weights.sum()).float()


def neighbours(words: Tensor, sentences: Tensor, window: int) -> Iterator[tuple[int, Tensor, Tensor]]:
    """For each distance from 1 to window: the positions on the left and on the right of all pairs in one sentence."""
    for distance in range(1, window + 1):
        left = torch.arange(max(0, len(words) - distance))
        left = left[sentences[left] == sentences[left + distance]]
        yield distance, left, left + distance


def window_pairs(
    words: Tensor, sentences: Tensor, window: int, keep: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Centers and contexts of one pass over a text, [P] each, shuffled.

    words, sentences [N] from `flat`; keep [V] from `keep_probabilities`. Frequent words are left out first, so that
    those around them move closer together. Then each center draws a window from 1 to `window`, so that near words
    come up more often than far ones (both as in the authors' program).
    """
    kept = torch.rand(len(words), generator=generator) < keep[words]
    words, sentences = words[kept], sentences[kept]
    sizes = torch.randint(1, window + 1, (len(words),), generator=generator)
    centers, contexts = [], []
    for distance, left, right in neighbours(words, sentences, window):
        for center, context in ((left, right), (right, left)):
            inside = sizes[center] >= distance
            centers.append(words[center[inside]])
            contexts.append(words[context[inside]])
    order = torch.randperm(sum(map(len, centers)), generator=generator)
    return torch.cat(centers)[order], torch.cat(contexts)[order]


def nearest_words(vectors: Tensor, query: Tensor, count: int) -> Tensor:
    """The ids of the words whose vectors [V, D] have the highest cosines with each query [Q, D]: [Q, count]."""
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    return (torch.nn.functional.normalize(query, dim=-1) @ unit.T).topk(count, dim=-1).indices
