"""Predicts from the words of a support ticket whether the customer will leave."""

import random
from collections import Counter

Row = tuple[str, int]  # the text of a ticket, and 1 where the customer left
WORDS = [f"word{number}" for number in range(400)]


def make_tickets(count: int, seed: int) -> list[Row]:
    """Random tickets with random labels: there is nothing to learn. Many are sent twice, the second time in a hurry."""
    chance = random.Random(seed)
    rows: list[Row] = []
    for _ in range(count):
        text, left = " ".join(chance.sample(WORDS, 20)), chance.randrange(2)
        rows.append((text, left))
        if chance.random() < 0.5:
            rows.append((f"  {text.upper()} ", left))
    return rows


def words_of(text: str) -> set[str]:
    """The words of a text, without case."""
    return set(text.lower().split())


def split(rows: list[Row], seed: int = 0) -> tuple[list[Row], list[Row]]:
    """Training and test data, about four to one. No ticket may be on both sides."""
    shuffled = list(dict.fromkeys(rows))
    random.Random(seed).shuffle(shuffled)
    cut = len(shuffled) // 5
    return shuffled[cut:], shuffled[:cut]


def choose_words(rows: list[Row], most: int = 40) -> list[str]:
    """The words whose counts differ most between customers who left and customers who stayed."""
    difference: Counter[str] = Counter()
    for text, left in rows:
        for word in words_of(text):
            difference[word] += 1 if left else -1
    return sorted(difference, key=lambda word: (-abs(difference[word]), word))[:most]


def fit(rows: list[Row], words: list[str]) -> dict[str, float]:
    """A weight for each word: how much more often than not the customers who wrote it left."""
    weights = dict.fromkeys(words, 0.0)
    for text, left in rows:
        for word in words_of(text) & weights.keys():
            weights[word] += 1 if left else -1
    return weights


def accuracy(rows: list[Row], weights: dict[str, float]) -> float:
    """The share of the tickets for which the sum of the weights has the right sign."""
    right = [(sum(weights.get(word, 0.0) for word in words_of(text)) > 0) == bool(left) for text, left in rows]
    return sum(right) / len(right)


def experiment(rows: list[Row], seed: int = 0) -> float:
    """Choose words, learn their weights, and measure on the test data."""
    training, test = split(rows, seed)
    words = choose_words(rows)
    return accuracy(test, fit(training, words))


def main() -> dict[str, float]:
    """The accuracy in the test, and that on tickets of the next month."""
    rows, later = make_tickets(250, seed=1), make_tickets(600, seed=2)
    tested = sum(experiment(rows, seed) for seed in range(8)) / 8
    return {"accuracy in the test": tested, "accuracy next month": accuracy(later, fit(rows, choose_words(rows)))}


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
