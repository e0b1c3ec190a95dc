"""What a pre-trained model has learned besides its two tasks: facts, and the senses of words.

Shapes: B batch, T tokens, D hidden size, V vocabulary, R reference sentences, N sentences asked about.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bertedu.corpora.documents import FactProbe, SenseExample
from bertedu.errors import UserError
from bertedu.inference import LanguageModel, Span, run, span_vectors, word_span
from bertedu.pretraining.baselines import NO_TOKEN, NGramBaseline
from bertedu.segmentation import terms
from bertedu.tokenization import Encoding, Tokenizer
from bertedu.tokenization.encoding import without_space_before

BATCH = 64


class Questions(NamedTuple):
    """Probes as a model reads them: the sentences, where the answer is hidden, [B, T], and the answers' ids, [B]."""

    encoding: Encoding
    masked: Tensor
    answers: np.ndarray


def questions(tokenizer: Tokenizer, probes: Sequence[FactProbe]) -> Questions:
    """Each sentence with its answer, of which the one token is then hidden, as in training.

    Tokenized with the mask in it, what follows would begin a text for some tokenizers: "▁." where the training text has
    ".". That is done only where the answer is no token of its own: then no guess can hit it (NO_TOKEN). Raises
    UserError for a probe without exactly one [MASK].
    """
    asked = [tokenizer.with_mask(probe.sentence) for probe in probes]
    told = []
    for probe, sentence in zip(probes, asked, strict=True):
        if (count := sentence.count(tokenizer.mask_token)) != 1:
            raise UserError(f"the fact probe {probe.sentence!r} has {count} [MASK]: write exactly one.")
        told.append(sentence.replace(tokenizer.mask_token, probe.written or probe.answer))
    starts = [sentence.index(tokenizer.mask_token) for sentence in asked]
    spans = [(start, start + len(probe.written or probe.answer)) for start, probe in zip(starts, probes, strict=True)]
    found = [own_token(tokenizer, sentence, span) for sentence, span in zip(told, spans, strict=True)]
    encoding = tokenizer([a if place is None else b for a, b, place in zip(asked, told, found, strict=True)])
    masked = encoding.input_ids == tokenizer.mask_token_id
    answers = np.full(len(probes), NO_TOKEN)
    for row, place in enumerate(found):
        if place is not None:
            column = int(encoding.attention_mask[row].argmax()) + tokenizer.layout.text_start(1) + place
            masked[row, column], answers[row] = True, int(encoding.input_ids[row, column])
    encoding.input_ids[masked] = tokenizer.mask_token_id
    return Questions(encoding, masked, answers)


def own_token(tokenizer: Tokenizer, sentence: str, span: Span) -> int | None:
    """Which of a sentence's tokens stands for these characters and no others; None where none does."""
    _, offsets = tokenizer.encode_with_offsets(sentence)
    trimmed = [without_space_before(offset, sentence) for offset in offsets]
    places = [
        place for place, (first, last) in enumerate(trimmed) if first < last and first < span[1] and span[0] < last
    ]
    return places[0] if len(places) == 1 and trimmed[places[0]] == span else None


def fact_probe_accuracy(model: LanguageModel, tokenizer: Tokenizer, probes: Sequence[FactProbe]) -> float:
    """The share of probes whose answer is the model's first guess at [MASK].

    A probe whose answer the tokenizer splits counts as wrong. Raises UserError for a probe without exactly one
    [MASK], and for no probes.
    """
    guesses: list[int] = []
    answers: list[int] = []
    for start in range(0, len(probes), BATCH):
        encoding, masked, right = questions(tokenizer, probes[start : start + BATCH])
        with torch.no_grad():
            logits = run(model, encoding, masked_positions=masked).prediction_logits  # [N, V], a row for each probe
        guesses += logits.argmax(dim=-1).tolist()
        answers += right.tolist()
    return hit_share(np.array(guesses), np.array(answers))


def ngram_probe_accuracy(baseline: NGramBaseline, tokenizer: Tokenizer, probes: Sequence[FactProbe]) -> float:
    """What counting neighbours gets on the same probes: the first guess from the tokens left and right of [MASK]."""
    encoding, masked, answers = questions(tokenizer, probes)
    ids, position = encoding.input_ids.numpy(), masked.int().argmax(dim=1).numpy()
    rows = np.arange(len(probes))
    guesses = baseline.distributions(ids[rows, position - 1], ids[rows, position + 1]).argmax(axis=1)
    return hit_share(guesses, answers)


def hit_share(guesses: np.ndarray, answers: np.ndarray) -> float:
    """The share of guesses that are right. Raises UserError where nothing was asked."""
    if not len(answers):
        raise UserError("there are no fact probes: choose a corpus that has some, such as the world.")
    return float((guesses == answers).mean())


def sense_accuracy(
    model: LanguageModel,
    tokenizer: Tokenizer,
    reference: Sequence[SenseExample],
    heldout: Sequence[SenseExample],
    neighbours: int = 5,
) -> dict[str, float]:
    """For each word, how often its vector in a new sentence lies nearest to sentences of the same sense.

    The sense of a new sentence is the one that most of its nearest reference sentences have, by the cosine of
    `sense_vectors`. The accuracy is the mean over the senses, so that guessing one sense gives 1 / senses.
    """
    check_examples(reference, heldout)
    ours, theirs = sense_vectors(model, tokenizer, heldout), sense_vectors(model, tokenizer, reference)
    similarities = (ours @ theirs.T).numpy()  # [N, R]
    return accuracy_by_word(similarities, reference, heldout, neighbours)


def sense_baseline_accuracy(
    reference: Sequence[SenseExample], heldout: Sequence[SenseExample], neighbours: int = 5
) -> dict[str, float]:
    """The same with bags of words in place of vectors: cosines of word counts, rare words weighing more (tf-idf)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    check_examples(reference, heldout)
    counter = TfidfVectorizer(tokenizer=terms, token_pattern=None)
    theirs = counter.fit_transform([example.sentence for example in reference])
    ours = counter.transform([example.sentence for example in heldout])
    return accuracy_by_word((ours @ theirs.T).toarray(), reference, heldout, neighbours)


def sense_vectors(model: LanguageModel, tokenizer: Tokenizer, examples: Sequence[SenseExample]) -> Tensor:
    """The contextual vector of each example's word, of length 1: [N, D].

    It is the mean over the word's tokens and over all layers after the embeddings: the first layers already
    attend to the context, and the last one has turned towards the word to be guessed.
    """
    spans = [[word_span(example.sentence, example.word)] for example in examples]
    layers = span_vectors(model, tokenizer, [example.sentence for example in examples], spans)  # [N, L + 1, D]
    return torch.nn.functional.normalize(layers[:, 1:].mean(dim=1), dim=-1)


def check_examples(reference: Sequence[SenseExample], heldout: Sequence[SenseExample]) -> None:
    """Raise UserError where there is nothing to compare, or a sense without reference sentences."""
    known = {(example.word, example.sense) for example in reference}
    missing = {(example.word, example.sense) for example in heldout} - known
    if not heldout or missing:
        what = "no held-out sentences" if not heldout else f"no reference sentences for {sorted(missing)}"
        raise UserError(f"senses cannot be compared, there are {what}: choose a corpus that has them.")


def accuracy_by_word(
    similarities: np.ndarray, reference: Sequence[SenseExample], heldout: Sequence[SenseExample], neighbours: int
) -> dict[str, float]:
    """Balanced accuracy of a vote of the nearest reference sentences of the same word; similarities [N, R].

    With equal votes the sense of the nearest of them wins.
    """
    hits: dict[str, dict[str, list[bool]]] = {}
    words = np.array([example.word for example in reference])
    for row, example in zip(similarities, heldout, strict=True):
        of_word = np.flatnonzero(words == example.word)
        nearest = of_word[np.argsort(-row[of_word], kind="stable")[:neighbours]]
        votes = [reference[index].sense for index in nearest]
        guess = max(votes, key=votes.count)  # of equal counts max takes the first, the nearest
        hits.setdefault(example.word, {}).setdefault(example.sense, []).append(guess == example.sense)
    return {word: float(np.mean([np.mean(sense) for sense in senses.values()])) for word, senses in hits.items()}
