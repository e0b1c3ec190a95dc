"""Exercises of chapter 13: pairs, similarity and summaries."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "13.1",
    "Half of the question",
    difficulty=1,
    minutes=2,
    kind="value",
    hints=(
        "Take one hypothesis. How often does each label stand beside it?",
        "It comes three times, once with each label, and the classifier must say the same three times.",
    ),
)
def half_of_the_question(case: Case) -> None:
    """One third."""
    case.predicted(
        1 / 3,
        otherwise="A hypothesis comes three times. The classifier sees the same words three times: what can it say?",
        mistakes=[
            (0.5, "One half would be a coin. How many labels are there?"),
            (33, "The right idea, in percent. Write a share, from 0 to 1."),
            (100 / 3, "The right idea, in percent. Write a share, from 0 to 1."),
            (33.3, "The right idea, in percent. Write a share, from 0 to 1."),
            (0, "Whatever it says to a hypothesis, it is right for one of the three rows."),
            (1, "It sees the same words beside three labels. It cannot be right three times."),
            (2 / 3, "It says one label to a hypothesis: that is right for one of its three rows, not for two."),
        ],
        tolerance=5e-3,
    )


@exercise(
    "13.2",
    "A thousand sentences",
    difficulty=2,
    minutes=4,
    kind="value",
    hints=(
        "The cross-encoder reads each pair. Of 4 sentences there are 3 + 2 + 1 = 6 pairs.",
        "n (n − 1) / 2 pairs, and n sentences.",
    ),
)
def a_thousand_sentences(case: Case) -> None:
    """n (n - 1) / 2 passes against n."""
    wrong = {
        1_000_000: "There you pair each sentence with all, itself included, and count each pair twice.",
        999_000: "There each pair counts twice: (a, b) and (b, a) have one cosine, and one score is enough.",
        500_500: "There each sentence is also paired with itself.",
    }
    case.predicted(
        [499_500, 1000],
        otherwise="Try it with 4 sentences on paper. How many pairs, and how many sentences must be read?",
        mistakes=[
            *(([count, 1000], line) for count, line in wrong.items()),
            ([1000, 499_500], "The right numbers. Which of the two reads pairs, and which single sentences?"),
            ([499_500, 999_000], "The bi-encoder reads a sentence once and keeps its vector for all its pairs."),
            ([499_500, 499_500], "The bi-encoder reads a sentence once and keeps its vector. A cosine is no pass."),
            ([499_500, 2000], "Both towers are the same network, and a sentence has one vector: read it once."),
            ([499_500, 2], "A pass here means reading one text or one pair. How many texts are there?"),
            ([1000, 1000], "The cross-encoder needs both sentences at once. How many pairs are there?"),
        ],
        tolerance=1e-6,
    )


@exercise(
    "13.3",
    "The nearest sentences",
    difficulty=2,
    minutes=8,
    hints=(
        "A cosine is the product of two vectors of length 1: normalize each row first. Then one product gives [N, M].",
        "cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T, and topk(k) along the last axis.",
    ),
)
def nearest(case: Case) -> None:
    """Several queries, one, and a k beyond the collection's size is not asked for."""
    queries = case.randn(3, 8)
    collection = case.randn(10, 8) * torch.linspace(0.2, 6, 10).unsqueeze(-1)  # lengths that mislead a plain product
    result = case.call(queries, collection, 4, tried="3 queries and a collection of 10 vectors, with k = 4")
    cosines, places = case.parts(result, "cosines", "places")
    if isinstance(cosines, Tensor) and not cosines.is_floating_point():
        case.fail("But the first part holds whole numbers: give the cosines first, and then the places.")
    across = "Each query chooses among the collection: along which axis does topk run?"
    case.same_shape("cosines", cosines, [3, 4], across)
    case.same_shape("places", places, [3, 4], across)
    ours, theirs = normalize(queries, dim=-1), normalize(collection, dim=-1)
    every = ours @ theirs.T  # [3, 10]
    right = every.topk(4)
    columns = normalize(queries, dim=0) @ normalize(collection, dim=0).T
    mistakes = {
        "Those are plain products: long vectors win whatever they say. What makes a product a cosine?": (
            queries @ collection.T
        ).topk(4)[0],
        "The queries have length 1, the collection has not.": (ours @ collection.T).topk(4)[0],
        "The collection has length 1, the queries have not. The order is right, the numbers are no cosines.": (
            queries @ theirs.T
        ).topk(4)[0],
        "You normalized the columns. Which axis holds the numbers of one vector?": columns.topk(4)[0],
        "Those are the farthest. Largest cosines come first.": every.topk(4, largest=False)[0],
        "Those are distances. The cosine is asked for.": torch.cdist(ours, theirs).topk(4, largest=False)[0],
        "Those are the first four of the collection. Where are they sorted?": every[:, :4],
        "The right four, in the wrong order: the best comes first.": right[0].flip(-1),
    }
    case.close("cosines", cosines, right[0], "Is each vector divided by its own length?", mistakes=mistakes)
    if not torch.equal(places.long(), right[1]):
        case.fail("But the places do not belong to the cosines: topk gives both, in the same order.")
    one = case.call(queries[:1], collection, 1, tried="a single query with k = 1")
    case.close("cosines", one[0], every[:1].topk(1)[0], "One query gives [1, 1].")


REPORT = [
    "A fire broke out in the old mill on Monday.",
    "The baker was asleep.",
    "On Monday evening a fire broke out in the old mill, says the miller.",
    "Says the miller: nobody was hurt.",
    "In the end it will be built again.",
    "It rained.",
]


@exercise(
    "13.4",
    "Nothing twice",
    difficulty=3,
    minutes=10,
    hints=(
        "Go through the numbers from the highest score down. Keep a set of the runs of three words already taken.",
        "runs = set(zip(words, words[1:], words[2:])). Skip where runs & seen, else take it and add the runs to seen.",
    ),
)
def nothing_twice(case: Case) -> None:
    """A repeated run far from its first, runs of sentences that were not taken, and too few sentences."""
    scores = [0.9, 0.1, 0.8, 0.5, 0.4, 0.2]
    got = case.call(list(REPORT), list(scores), 3, tried="a report of six sentences of which three are wanted")
    got = as_numbers(case, got)
    case.equal(
        "the result",
        got,
        [0, 3, 4],
        "Sentence 2 repeats three words of sentence 0. Sentence 3 repeats three words of sentence 2, which is not "
        "in the summary: only what was taken counts.",
        mistakes=[
            ([0, 2, 3], "Those are the best three by score, and sentence 2 repeats 'broke out in' of sentence 0."),
            ([0, 3], "One was left out, and nobody took its place: go on until there are enough."),
            ([0, 4, 5], "Sentence 3 was refused since it repeats sentence 2. But sentence 2 is not in the summary."),
            ([0, 1, 4], "Sentence 3 was refused since it repeats sentence 2. But sentence 2 is not in the summary."),
            ([0, 1, 3], "Those come first in the text, not by score."),
            ([0, 3, 5], "Sentence 4 shares two words in a row with sentence 0, 'in the'. Three are a repetition."),
        ],
    )
    other = [0.5, 0.1, 0.4, 0.9, 0.8, 0.2]
    got = as_numbers(case, case.call(list(REPORT), other, 3, tried="the same report with sentences 3 and 4 ahead"))
    case.equal(
        "the result",
        got,
        [0, 3, 4],
        mistakes=[([3, 4, 0], "The right sentences. In what order does a reader expect them?")],
    )
    for tried, sentences, among in (
        (
            "three sentences, of which the last repeats the first",
            ["The end of the war came.", "Snow fell all day.", "It was the end of the war."],
            "all that is chosen already, not only with the sentence chosen last",
        ),
        (
            "three sentences, of which the last repeats the second",
            ["Snow fell all day.", "The end of the war came.", "It was the end of the war."],
            "all that is chosen already, not only with the best sentence",
        ),
    ):
        got = as_numbers(case, case.call(sentences, [0.9, 0.8, 0.7], 3, tried=tried))
        case.equal("the result", got, [0, 1], f"Compare with {among}.")
    texts = ["The end of the war!", "Peace: the end of the war.", "THE END OF the tale."]
    got = as_numbers(case, case.call(texts, [0.3, 0.9, 0.5], 2, tried="sentences with capitals and full stops"))
    case.equal(
        "the result",
        got,
        [1],
        "words_of gives words in small letters without punctuation, so that 'THE END OF' repeats 'the end of'.",
    )
    short = as_numbers(
        case, case.call(["Snow.", "Ice."], [0.1, 0.2], 3, tried="two sentences of one word, with most = 3")
    )
    case.equal("the result", short, [0, 1], "A short sentence has no run of three words, and repeats nothing.")


def as_numbers(case: Case, got: object) -> list[int]:
    """The numbers of the chosen sentences, as a list."""
    if isinstance(got, Tensor):
        got = got.tolist()
    case.is_a("the result", got, (list, tuple), "a list of the numbers of sentences")
    return list(got)  # type: ignore[call-overload]


@exercise(
    "13.5",
    "Columns by their names",
    difficulty=3,
    minutes=8,
    hints=(
        "For each label of the data, in its order: in which column of the model does it stand?",
        "columns = [model_labels.index(label) for label in data_labels], both in small letters; logits[:, columns].",
    ),
)
def by_name(case: Case) -> None:
    """A cycle of three, two exchanged, the same order, capitals."""
    data = ["entailment", "neutral", "contradiction"]
    model = ["contradiction", "entailment", "neutral"]
    logits = case.randn(4, 3)
    got = case.call(logits, list(model), list(data), tried="4 rows of logits; " + orders(model, data))
    if isinstance(got, Tensor) and got.shape == (4,):
        case.fail("But that is one number a row. The logits are asked for, in another order of columns.")
    case.same_shape("the result", got, [4, 3], "Every row keeps its three logits. Only their order changes.")
    mistakes = {
        "Nothing has changed. Column 0 is the model's contradiction, and in the data 0 is entailment.": logits,
        "The way back: you asked where the model's labels stand in the data. Which column comes first?": logits[
            :, [data.index(label) for label in model]
        ],
        "The columns are turned round. That fits only some orders: go by the names.": logits.flip(-1),
        "Columns in alphabetical order. Whose order is asked for?": logits[:, sorted(range(3), key=lambda n: model[n])],
        "Sorted by size: the names play no part there.": logits.sort(dim=-1, descending=True)[0],
    }
    right = logits[:, [1, 2, 0]]
    case.close("the result", got, right, "Column 0 of the result must be the model's entailment.", mistakes=mistakes)
    swapped = ["contradiction", "neutral", "entailment"]
    got = case.call(logits, swapped, list(data), tried="another model; " + orders(swapped, data))
    case.close("the result", got, logits.flip(-1), "This model has its own order: look it up, don't write it down.")
    loud = [label.upper() for label in swapped]
    got = case.call(logits, loud, list(data), tried="a model that shouts: its labels are " + ", ".join(loud))
    case.close("the result", got, logits.flip(-1), "ENTAILMENT and entailment are the same label.")
    got = case.call(logits, list(data), list(data), tried="a model whose order is the data's")
    case.close("the result", got, logits, "Nothing is to be done here.")


def orders(model: list[str], data: list[str]) -> str:
    """Both orders in words."""
    return f"the model's order is {', '.join(model)}, the data's {', '.join(data)}"
