"""What tags words without a network: the tag that a word had most often, and a linear model of words and neighbours."""

from collections.abc import Iterator, Sequence
from typing import Any

from bertedu.corpora.readers import TaggedWords
from bertedu.finetuning.spans import are_entities, tagging_figures

Tags = list[list[str]]
REACH = 2  # neighbours on each side
FEATURES, TABLE = 2**20, 2**25  # hashed features at most; numbers in the model: features times tags at most
PASSES, WORDS = (2, 10), 500_000  # so many words are gone through, in at least and at most so many passes


def tagging_baselines(train: Sequence[TaggedWords], test: Sequence[TaggedWords]) -> dict[str, dict[str, float]]:
    """The figures of both. The second can find names that it has never seen, by what stands around them."""
    entities = are_entities(tag for row in train for tag in row.tags)
    figures = tagging_figures([row.tags for row in test], linear_tags(train, test), entities)
    return {**most_frequent_tags(train, test), "linear model of the word and its neighbours": figures}


def most_frequent_tags(train: Sequence[TaggedWords], test: Sequence[TaggedWords]) -> dict[str, dict[str, Any]]:
    """The figures of giving each word the tag that it had most often in training, an unknown one the most frequent."""
    counts: dict[str, dict[str, int]] = {}
    overall: dict[str, int] = {}
    for row in train:
        for word, tag in zip(row.words, row.tags, strict=True):
            of_word = counts.setdefault(word.lower(), {})
            of_word[tag] = of_word.get(tag, 0) + 1
            overall[tag] = overall.get(tag, 0) + 1
    usual = max(overall, key=lambda tag: overall[tag])
    best = {word: max(tags, key=lambda tag: tags[tag]) for word, tags in counts.items()}
    found = [[best.get(word.lower(), usual) for word in row.words] for row in test]
    return {"most frequent tag of the word": tagging_figures([row.tags for row in test], found, are_entities(overall))}


def linear_tags(train: Sequence[TaggedWords], test: Sequence[TaggedWords]) -> Tags:
    """Each word with the tag that a linear model chooses by its letters, its capitals and its neighbours."""
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.linear_model import SGDClassifier

    tags = [tag for row in train for tag in row.tags]
    if len(set(tags)) < 2:
        return [tags[:1] * len(row.words) for row in test]
    fewest, most = PASSES
    passes = min(most, max(fewest, WORDS // len(tags)))
    hasher = FeatureHasher(features_for(len(set(tags))), input_type="string")
    model = SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=passes, tol=None, random_state=0)
    model.fit(hasher.transform(features for row in train for features in word_features(row.words)), tags)
    found = iter(model.predict(hasher.transform(features for row in test for features in word_features(row.words))))
    return [[str(next(found)) for _ in row.words] for row in test]


def features_for(tags: int) -> int:
    """How many hashed features a model of so many tags has: a power of two, fewer where there are many tags, since
    the model keeps a number for each feature and each tag, and several copies of all of them while it learns.
    """
    return min(FEATURES, 1 << (TABLE // tags).bit_length() - 1)


def word_features(words: Sequence[str]) -> Iterator[list[str]]:
    """What the linear model knows of each word of a sentence, as names."""
    for place, word in enumerate(words):
        features = [f"begins {word[:3].lower()}", f"ends {word[-3:].lower()}", f"first {place == 0}"]
        for step in range(-REACH, REACH + 1):
            inside = 0 <= place + step < len(words)
            other = words[place + step] if inside else ""
            features += [f"{step} {other.lower()}", f"{step} shape {shape(other)}"]
        yield features


def shape(word: str) -> str:
    """Capitals, small letters, digits or marks, by the first and the last character."""
    kinds = ["A" if c.isupper() else "a" if c.isalpha() else "0" if c.isdigit() else "." for c in word]
    return "".join(kinds[:1] + kinds[-1:])
