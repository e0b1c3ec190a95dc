"""The five questions of before.py, put to one model. Every answer is a share between 0 and 1."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor
from torch.nn.functional import normalize

from bertedu import BertTokenizer
from bertedu.before.asking import Asked, AskedGpt
from bertedu.before.text import agreement, agreement_questions, agreement_sentences, told, unseen_plurals
from bertedu.before.training import FIRST_WORD, MASK_ID
from bertedu.before.words import flat, nearest_words, whole_words
from bertedu.corpora.documents import Corpus, Document, SenseExample
from bertedu.corpora.world import world_corpus
from bertedu.corpora.world.facts import kinds

AGREEMENT_SENTENCES, QUESTIONS = 6000, 400
OFTEN = 5  # a word whose neighbours are asked for stands at least so often in the text
NEIGHBOURS = 5
LABELLED_EACH = 5  # sentences of each topic that the classifier learns from
JUDGED = 1000  # sentences whose verb agrees or not, to learn from
GAPS = 500
Gap = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Text:
    """What all models read, and what is asked about it."""

    corpus: Corpus
    tokenizer: BertTokenizer
    sentences: list[str]
    words: Tensor  # [N]
    numbers: Tensor  # the sentence of each word, [N]
    ids: Tensor  # [sentences, longest]
    counts: Tensor  # [V]


def read() -> Text:
    """Each different sentence of the small world once, and the sentences about agreement."""
    corpus = world_corpus()
    sentences = [*dict.fromkeys(corpus.train_sentences()), *agreement_sentences(AGREEMENT_SENTENCES)]
    tokenizer = whole_words(sentences)
    words, numbers = flat(sentences, tokenizer)
    counts = torch.bincount(words, minlength=len(tokenizer))
    return Text(corpus, tokenizer, sentences, words, numbers, tokenizer(sentences).input_ids, counts)


def share(right: Tensor | np.ndarray) -> float:
    """How many are right."""
    return round(float(right.double().mean() if isinstance(right, Tensor) else right.mean()), 4)


# 1. Nearest neighbours ----------------------------------------------------------------------------------------------


def categories(text: Text) -> dict[int, set[str]]:
    """Words of the world's tables with the columns that they stand in, such as "animal food"."""
    found: dict[int, set[str]] = {}
    for kind in kinds():
        for row in kind.rows:
            for column in (kind.entity, *(relation.answer for relation in kind.relations)):
                word = row.get(column, "").lower()
                if word in text.tokenizer.vocab and text.counts[text.tokenizer.vocab[word]] >= OFTEN:
                    found.setdefault(text.tokenizer.vocab[word], set()).add(f"{kind.name} {column}")
    return found


def neighbours_alike(text: Text, vectors: Tensor) -> float:
    """The share of the five nearest words, of those that stand in a table, that share a column with the word."""
    columns = categories(text)
    known = torch.tensor(sorted(columns))
    nearest = nearest_words(vectors[known], vectors[known], NEIGHBOURS + 1)[:, 1:]  # the first is the word itself
    pairs = ((columns[int(known[i])], columns[int(known[j])]) for i, row in enumerate(nearest) for j in row)
    return share(np.array([bool(one & other) for one, other in pairs]))


def mean_vectors(text: Text, asked: Asked, layer: int) -> Tensor:
    """For each word the mean of its vectors over all sentences of the text, [V, E]."""
    sums = None
    for ids in text.ids.split(512):
        ids = ids[:, : int((ids != 0).sum(dim=1).max())]
        vectors = asked.layers(ids, (ids != 0).long())[layer].flatten(0, 1)
        sums = torch.zeros(len(text.counts), vectors.size(1)) if sums is None else sums
        sums.index_add_(0, ids.flatten(), vectors)
    return sums / text.counts.clamp_min(1)[:, None]


# 2. Senses ----------------------------------------------------------------------------------------------------------


def sense_vectors(text: Text, asked: Asked, examples: Sequence[SenseExample]) -> tuple[Tensor, Tensor, Tensor]:
    """The last layer at the word, the mean of the last layer over the sentence [N, E], and the word's position [N]."""
    encoding = text.tokenizer([example.sentence for example in examples])
    ids, mask = encoding.input_ids, encoding.attention_mask
    word = torch.tensor([text.tokenizer.vocab[example.word] for example in examples])
    at = (ids == word[:, None]).float().argmax(dim=1)
    vectors = asked.layers(ids, mask)[-1]
    return vectors[torch.arange(len(ids)), at], pooled(vectors, ids), at


def pooled(vectors: Tensor, ids: Tensor) -> Tensor:
    """The mean over the words: [B, T, E] to [B, E]."""
    words = (ids >= FIRST_WORD).unsqueeze(-1)
    return (vectors * words).sum(dim=1) / words.sum(dim=1).clamp_min(1)


def told_apart(text: Text, known: Tensor, asked_for: Tensor) -> np.ndarray:
    """Whether the nearest mean vector of a sense of the word, of examples with known senses, is the right one: [N]"""
    reference, heldout = text.corpus.sense_reference, text.corpus.sense_heldout
    right = np.zeros(len(heldout))
    for word in sorted({example.word for example in heldout}):
        senses = sorted({example.sense for example in reference if example.word == word})
        rows = [[i for i, e in enumerate(reference) if (e.word, e.sense) == (word, sense)] for sense in senses]
        means = torch.stack([normalize(known[row], dim=-1).mean(dim=0) for row in rows])
        here = [i for i, example in enumerate(heldout) if example.word == word]
        cosines = normalize(asked_for[here], dim=-1) @ normalize(means, dim=-1).T
        best = cosines.max(dim=1, keepdim=True).values
        tied = (cosines > best - 1e-6).double()
        answer = torch.tensor([senses.index(heldout[i].sense) for i in here])
        right[here] = (tied / tied.sum(dim=1, keepdim=True))[torch.arange(len(here)), answer]  # a tie is a guess
    return right


def senses(text: Text, asked: Asked) -> dict[str, float]:
    """By the vector of the word itself; by the mean of the sentence; and the former for early and late words."""
    known, known_mean, _ = sense_vectors(text, asked, text.corpus.sense_reference)
    vectors, means, at = sense_vectors(text, asked, text.corpus.sense_heldout)
    right, early = told_apart(text, known, vectors), (at <= 2).numpy()
    return {
        "senses by the word": share(right),
        "senses by the word, first or second in its sentence": share(right[early]),
        "senses by the word, later": share(right[~early]),
        "senses by the mean of the sentence": share(told_apart(text, known_mean, means)),
    }


# 3 and 4. Agreement, and filling a gap ------------------------------------------------------------------------------


def gap_inputs(text: Text, sentences: Sequence[str]) -> tuple[Tensor, Tensor, Tensor]:
    """ids and mask [B, T] of sentences with one [MASK], and where it stands [B]."""
    encoding = text.tokenizer(list(sentences))
    return encoding.input_ids, encoding.attention_mask, (encoding.input_ids == MASK_ID).float().argmax(dim=1)


def agrees(text: Text, gap: Gap, distractors: int) -> float:
    """Whether the verb that agrees gets the higher score, between nouns of the other number."""
    questions = agreement_questions(QUESTIONS, distractors)
    scores = gap(*gap_inputs(text, [question.sentence for question in questions]))
    right, wrong = ([text.tokenizer.vocab[verb] for verb in verbs] for verbs in zip(
        *((question.right, question.wrong) for question in questions), strict=True))  # fmt: skip
    rows = torch.arange(len(questions))
    better, same = scores[rows, right] > scores[rows, wrong], scores[rows, right] == scores[rows, wrong]
    return share(better.double() + 0.5 * same.double())


def gaps(text: Text) -> list[tuple[str, str]]:
    """Sentences of held-out documents with one word hidden, no punctuation, and that word."""
    random = Random("gaps")
    found = {s for document in text.corpus.heldout["held-out documents"] for s in document.sentences}
    hidden = []
    for sentence in random.sample(sorted(found), min(GAPS, len(found))):
        words = text.tokenizer.tokenize(sentence)
        at = random.choice([i for i, word in enumerate(words) if word.isalnum()])
        hidden.append((" ".join([*words[:at], "[MASK]", *words[at + 1 :]]), words[at]))
    return hidden


def fills(text: Text, gap: Gap) -> dict[str, float]:
    """How often the right word has the highest score of all: for facts in unseen templates, and for any word."""
    facts = [(probe.sentence, probe.answer) for probe in text.corpus.fact_probes]
    answers = {}
    for name, questions in (("facts", facts), ("words", gaps(text))):
        ids, mask, at = gap_inputs(text, [sentence for sentence, _ in questions])
        best = torch.cat(
            [gap(*part).argmax(dim=1) for part in zip(*(x.split(128) for x in (ids, mask, at)), strict=True)]
        )
        right = best == torch.tensor([text.tokenizer.vocab.get(answer, -1) for _, answer in questions])
        last = at >= mask.sum(dim=1) - 3  # nothing but the full stop follows
        answers |= {name: share(right), f"{name}, gap at the end": share(right[last]),
                    f"{name}, gap before the end": share(right[~last])}  # fmt: skip
    return answers


# 5. A frozen classifier ---------------------------------------------------------------------------------------------


def topic_sentences(documents: Sequence[Document]) -> list[tuple[str, str]]:
    """Different sentences with the kind of thing they tell of."""
    names = {kind.name for kind in kinds()}
    return sorted(
        {(s, document.source) for document in documents for s in document.sentences if document.source in names}
    )


def topics(text: Text, seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """A few labelled sentences of each topic, and those to label, whose templates training never shows."""
    train, test = topic_sentences(text.corpus.train), topic_sentences(text.corpus.heldout["unseen templates"])
    random = Random(f"{seed} topics")
    chosen = []
    for name in sorted({topic for _, topic in train}):
        chosen += random.sample([pair for pair in train if pair[1] == name], LABELLED_EACH)
    return chosen, test


def judged(count: int, held_out: bool, hard: bool, seed: str) -> list[tuple[str, str]]:
    """Sentences with one distractor, half of which have the verb that does not agree."""
    random = Random(seed)
    return [
        (told(agreement(random, 1, held_out, hard), right := random.random() < 0.5), str(right)) for _ in range(count)
    ]


def judgements(seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Sentences to learn from, and those to judge, with other pairs of nouns."""
    return judged(JUDGED, False, False, f"{seed} judged"), judged(QUESTIONS, True, True, "judged later")


def features(text: Text, asked: Asked, sentences: Sequence[str]) -> np.ndarray:
    """The means over the words of all layers, side by side: [N, layers · E]."""
    encoding = text.tokenizer(list(sentences))
    layers = asked.layers(encoding.input_ids, encoding.attention_mask)
    return torch.cat([pooled(layer, encoding.input_ids) for layer in layers], dim=1).numpy()


def classified(train: tuple[np.ndarray, Sequence[str]], test: tuple[np.ndarray, Sequence[str]]) -> float:
    """The accuracy of a logistic regression."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, C=0.1)).fit(*train)
    return share(np.array(model.predict(test[0])) == np.array(test[1]))


def frozen(text: Text, featured: Callable[[Sequence[str]], np.ndarray], seed: int) -> dict[str, float]:
    """Topics from five sentences each; whether the verb agrees."""
    answers = {}
    for name, (train, test) in (("topics", topics(text, seed)), ("judged agreement", judgements(seed))):
        (known, labels), (asked_for, right) = zip(*train, strict=True), zip(*test, strict=True)
        answers[name] = classified((featured(known), labels), (featured(asked_for), right))
    return answers


# All of them --------------------------------------------------------------------------------------------------------


def answers(text: Text, asked: Asked, gap: Gap, seed: int) -> dict[str, float]:
    """All answers of a model."""
    layers = len(asked.layers(text.ids[:2], (text.ids[:2] != 0).long()))
    every = torch.arange(len(text.counts))[:, None]  # each word alone
    found = {"neighbours": neighbours_alike(text, asked.layers(every, torch.ones_like(every))[0][:, 0])}
    if layers > 1:
        found["neighbours by mean in context"] = neighbours_alike(text, mean_vectors(text, asked, layers - 1))
    found |= senses(text, asked)
    found |= {f"agreement, {count} between": agrees(text, gap, count) for count in range(4)}
    found |= fills(text, gap)
    if isinstance(asked, AskedGpt):
        found |= {f"{name}, whole sentence": value for name, value in fills(text, asked.rescored_gap).items()}
    return found | frozen(text, lambda sentences: features(text, asked, sentences), seed)


def unseen_words(text: Text, vector: Callable[[str], Tensor], known: Tensor) -> dict[str, float]:
    """Plurals that training never shows: is the nearest word the singular, and are the next five alike?

    vector gives one to any word, [E]; known [V, E] are those of the words that training showed.
    """
    columns = categories(text)
    candidates = torch.tensor(sorted(columns))
    first, alike = [], []
    for noun, plural in unseen_plurals():
        number = text.tokenizer.vocab.get(noun, -1)
        if plural in text.tokenizer.vocab or number not in columns:
            continue
        nearest = candidates[nearest_words(known[candidates], vector(plural)[None], NEIGHBOURS + 1)[0]].tolist()
        first.append(nearest[0] == number)
        alike += [bool(columns[other] & columns[number]) for other in nearest if other != number][:NEIGHBOURS]
    return {"unseen words, singular first": share(np.array(first)), "unseen words, neighbours": share(np.array(alike))}
