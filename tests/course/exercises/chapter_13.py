"""Answers to the exercises of chapter 13: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch
from torch.nn.functional import cosine_similarity, normalize

from bertedu.finetuning.rouge import words_of
from bertedu.finetuning.summarization import select

# 13.3 ------------------------------------------------------------------------------------------------------------


def with_topk(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    return cosines.topk(k, dim=-1)


def by_sorting(queries, collection, k):
    cosines = cosine_similarity(queries[:, None], collection[None], dim=-1)
    order = cosines.argsort(dim=-1, descending=True)[:, :k]
    return cosines.gather(1, order), order


def one_by_one(queries, collection, k):
    rows = [torch.tensor([(q @ c) / (q.norm() * c.norm()) for c in collection]).topk(k) for q in queries]
    return torch.stack([row.values for row in rows]), torch.stack([row.indices for row in rows])


def plain_products(queries, collection, k):
    return tuple((queries @ collection.T).topk(k))


def only_queries(queries, collection, k):
    return tuple((normalize(queries, dim=-1) @ collection.T).topk(k))


def only_collection(queries, collection, k):
    return tuple((queries @ normalize(collection, dim=-1).T).topk(k))


def wrong_axis(queries, collection, k):
    return tuple((normalize(queries, dim=0) @ normalize(collection, dim=0).T).topk(k))


def farthest(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    return tuple(cosines.topk(k, largest=False))


def over_queries(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    return tuple(cosines.topk(min(k, len(queries)), dim=0))


def only_first_pairs(queries, collection, k):
    return tuple(cosine_similarity(queries, collection).topk(k))


def not_transposed(queries, collection, k):
    return tuple((normalize(queries, dim=-1) @ normalize(collection, dim=-1)).topk(k))


def along_the_queries(queries, collection, k):
    return tuple((normalize(queries, dim=-1) @ normalize(collection, dim=-1).T).topk(k, dim=0))


def one_norm_for_all(queries, collection, k):
    return tuple((queries @ collection.T / queries.norm() / collection.norm()).topk(k))


def negative_distances(queries, collection, k):
    return tuple((-torch.cdist(normalize(queries, dim=-1), normalize(collection, dim=-1))).topk(k))


def always_four(queries, collection, k):
    return tuple(with_topk(queries, collection, 4))


def exchanged(queries, collection, k):
    cosines, places = with_topk(queries, collection, k)
    return places, cosines


def only_cosines(queries, collection, k):
    return with_topk(queries, collection, k)[0]


def unsorted(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    return cosines[:, :k], torch.arange(k).expand(len(queries), k)


def in_the_order_of_the_collection(queries, collection, k):
    best = with_topk(queries, collection, k)
    positions, order = best.indices.sort(dim=-1)
    return best.values.gather(1, order), positions


def norms_of_one_axis(queries, collection, k):
    return tuple((queries @ collection.T / (queries.norm(dim=-1) * collection.norm(dim=-1))).topk(k))


def the_vectors_themselves(queries, collection, k):
    best = with_topk(queries, collection, k)
    return best.values, collection[best.indices]


def probabilities(queries, collection, k):
    return tuple((normalize(queries, dim=-1) @ normalize(collection, dim=-1).T).softmax(dim=-1).topk(k))


# 13.4 ------------------------------------------------------------------------------------------------------------


def package(sentences, scores, most):
    return select(sentences, scores, most)


def by_hand(sentences, scores, most):
    taken, seen = [], []
    for number in torch.tensor(scores).argsort(descending=True).tolist():
        words = words_of(sentences[number])
        runs = [words[i : i + 3] for i in range(len(words) - 2)]
        if len(taken) < most and not any(run in seen for run in runs):
            taken.append(number)
            seen += runs
    return tuple(sorted(taken))


def runs_of(sentence, n=3):
    words = words_of(sentence)
    return set(zip(*(words[i:] for i in range(n)), strict=False))


def walk(sentences, scores, most, n=3, keep_refused=False, ordered=True, by_score=True):
    taken, seen = [], set()
    numbers = sorted(range(len(scores)), key=lambda number: -scores[number] if by_score else number)
    for number in numbers:
        runs = runs_of(sentences[number], n)
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
        elif keep_refused:
            seen |= runs
    return sorted(taken) if ordered else taken


def without_control(sentences, scores, most):
    return sorted(sorted(range(len(scores)), key=lambda number: -scores[number])[:most])


def cut_first(sentences, scores, most):
    best = sorted(range(len(scores)), key=lambda number: -scores[number])[:most]
    taken = select([sentences[n] for n in best], [scores[n] for n in best], most)
    return sorted(best[n] for n in taken)


def remembers_refused(sentences, scores, most):
    return walk(sentences, scores, most, keep_refused=True)


def two_words(sentences, scores, most):
    return walk(sentences, scores, most, n=2)


def order_of_scores(sentences, scores, most):
    return walk(sentences, scores, most, ordered=False)


def order_of_text(sentences, scores, most):
    return walk(sentences, scores, most, by_score=False)


def capitals_count(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = sentences[number].replace(".", "").replace(",", "").replace(":", "").replace("Says", "says").split()
        runs = {tuple(words[i : i + 3]) for i in range(len(words) - 2)}
        runs |= {tuple(word.replace("A", "a") for word in run) for run in runs}
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def only_beside_the_last(sentences, scores, most):
    taken = []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        if len(taken) < most and not (taken and runs_of(sentences[number]) & runs_of(sentences[taken[-1]])):
            taken.append(number)
    return sorted(taken)


def only_beside_the_best(sentences, scores, most):
    taken = []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        if len(taken) < most and not (taken and runs_of(sentences[number]) & runs_of(sentences[taken[0]])):
            taken.append(number)
    return sorted(taken)


def short_sentences_are_runs(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = words_of(sentences[number])
        runs = {tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2))}
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def endings_are_runs(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = words_of(sentences[number])
        runs = {tuple(words[i : i + 3]) for i in range(len(words))}
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def three_words_in_any_order(sentences, scores, most):
    taken = []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = set(words_of(sentences[number]))
        if len(taken) < most and not any(len(words & set(words_of(sentences[n]))) > 2 for n in taken):
            taken.append(number)
    return sorted(taken)


def joined_text(sentences, scores, most):
    taken, text = [], []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        runs = runs_of(sentences[number])
        if len(taken) < most and not runs & set(zip(text, text[1:], text[2:], strict=False)):
            taken.append(number)
            text += words_of(sentences[number])
    return sorted(taken)


def letters_of_sentences(sentences, scores, most):
    taken = []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        texts = [" ".join(words_of(sentences[n])) for n in taken]
        runs = [" ".join(run) for run in runs_of(sentences[number])]
        if len(taken) < most and not any(run in text for run in runs for text in texts):
            taken.append(number)
    return sorted(taken)


def stops_at_a_repetition(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        runs = runs_of(sentences[number])
        if runs & seen or len(taken) == most:
            break
        taken.append(number)
        seen |= runs
    return sorted(taken)


def lowest_first(sentences, scores, most):
    return walk(sentences, [-score for score in scores], most)


def runs_off_the_end(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = words_of(sentences[number])
        runs = {(words[i], words[i + 1], words[i + 2]) for i in range(len(words))}
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def the_sentences(sentences, scores, most):
    return [sentences[number] for number in walk(sentences, scores, most)]


def yes_or_no(sentences, scores, most):
    taken = walk(sentences, scores, most)
    return [number in taken for number in range(len(sentences))]


def with_strings(sentences, scores, most):
    taken, text = [], []
    for _, number in sorted(((score, -number) for number, score in enumerate(scores)), reverse=True):
        words = words_of(sentences[-number])
        runs = [" ".join(words[i : i + 3]) for i in range(len(words) - 2)]
        if len(taken) == most:
            break
        if not set(runs) & set(text):
            taken.append(-number)
            text.extend(runs)
    return torch.tensor(sorted(taken))


def as_an_array(sentences, scores, most):
    return np.array(walk(sentences, scores, most))


def four_words(sentences, scores, most):
    return walk(sentences, scores, most, n=4)


def split_at_spaces(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = sentences[number].lower().split()
        runs = set(zip(words, words[1:], words[2:], strict=False))
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def without_a_limit(sentences, scores, most):
    return walk(sentences, scores, len(scores))


def control_in_the_order_of_text(sentences, scores, most):
    kept = walk(sentences, scores, len(scores), by_score=False)
    return sorted(sorted(kept, key=lambda number: -scores[number])[:most])


def until_there_are_enough(sentences, scores, most):
    taken, order = [], sorted(range(len(scores)), key=lambda number: -scores[number])
    while len(taken) < most:
        number = order.pop(0)
        if not any(runs_of(sentences[number]) & runs_of(sentences[other]) for other in taken):
            taken.append(number)
    return sorted(taken)


def says_nothing(sentences, scores, most):
    walk(sentences, scores, most)


# 13.5 ------------------------------------------------------------------------------------------------------------


def by_sorting_both(logits, model_labels, data_labels):
    small, wanted = ([label.lower() for label in labels] for labels in (model_labels, data_labels))
    sorted_columns = logits[:, sorted(range(len(small)), key=lambda n: small[n])]
    return sorted_columns[:, [sorted(wanted).index(label) for label in wanted]]


def looked_up(logits, model_labels, data_labels):
    small = [label.lower() for label in model_labels]
    return logits[:, [small.index(label.lower()) for label in data_labels]]


def stacked(logits, model_labels, data_labels):
    column = {label.casefold(): logits[:, number] for number, label in enumerate(model_labels)}
    return torch.stack([column[label.casefold()] for label in data_labels], dim=1)


def unchanged(logits, model_labels, data_labels):
    return logits


def the_way_back(logits, model_labels, data_labels):
    small = [label.lower() for label in data_labels]
    return logits[:, [small.index(label.lower()) for label in model_labels]]


def case_matters(logits, model_labels, data_labels):
    return logits[:, [model_labels.index(label) for label in data_labels]]


def written_down(logits, model_labels, data_labels):
    return logits[:, [1, 2, 0]]


def reversed_columns(logits, model_labels, data_labels):
    return logits.flip(-1)


def rows_by_name(logits, model_labels, data_labels):
    small = [label.lower() for label in model_labels]
    return logits[[small.index(label.lower()) for label in data_labels]]


def in_place(logits, model_labels, data_labels):
    small = [label.lower() for label in model_labels]
    for number, label in enumerate(data_labels):
        logits[:, number] = logits[:, small.index(label.lower())]
    return logits


def by_the_labels_themselves(logits, model_labels, data_labels):
    return logits[:, data_labels]


def by_a_matrix(logits, model_labels, data_labels):
    pairs = [[float(m.lower() == d.lower()) for d in data_labels] for m in model_labels]
    return logits @ torch.tensor(pairs)


def only_capitals(logits, model_labels, data_labels):
    return logits[:, [model_labels.index(label.upper()) for label in data_labels]]


def softmax_of_it(logits, model_labels, data_labels):
    return looked_up(logits, model_labels, data_labels).softmax(dim=-1)


def the_winner(logits, model_labels, data_labels):
    return looked_up(logits, model_labels, data_labels).argmax(dim=-1)


ANSWERS = {
    "13.1": {
        "accepted": [1 / 3, 0.333, 0.33],
        "wrong": [
            (0.5, "How many labels"),
            (33, "in percent"),
            (1, "three times"),
            (0, "one of the three"),
            (2 / 3, "not for two"),
        ],
    },
    "13.2": {
        "accepted": [[499_500, 1000], (499_500, 1000)],
        "wrong": [
            ([1_000_000, 1000], "itself included"),
            ([999_000, 1000], "each pair twice: (a, b)"),
            ([499_500, 999_000], "keeps its vector for all"),
            ([1000, 499_500], "which single sentences"),
            ([499_500, 2000], "one vector: read it once"),
            ([500_500, 1000], "pair each sentence with itself"),
            ([499_500], "needs a second one"),
            ([7, 7], "4 sentences on paper"),
        ],
    },
    "13.3": {
        "accepted": [with_topk, by_sorting, one_by_one],
        "wrong": [
            (plain_products, "long vectors win"),
            (only_queries, "the collection is not"),
            (only_collection, "are no cosines"),
            (wrong_axis, "normalized the columns"),
            (farthest, "largest cosines should come first"),
            (over_queries, "along which axis"),
            (only_first_pairs, "every query with every vector"),
            (not_transposed, "Transpose the collection"),
            (along_the_queries, "fewer than k entries"),
            (one_norm_for_all, "norm of the whole matrix"),
            (negative_distances, "negative distances"),
            (always_four, "k = 1"),
            (exchanged, "cosines first"),
            (only_cosines, "2 things are asked for"),
            (unsorted, "Where do you sort"),
            (in_the_order_of_the_collection, "the best should come first"),
            (norms_of_one_axis, "the shape [N, 1]"),
            (the_vectors_themselves, "not the vectors"),
            (probabilities, "Those are probabilities"),
        ],
    },
    "13.4": {
        "accepted": [package, by_hand, walk, with_strings, as_an_array],
        "wrong": [
            (without_control, "best three by score"),
            (cut_first, "chose none instead"),
            (remembers_refused, "sentence 2 is not in the summary"),
            (two_words, "Only three are a repetition"),
            (order_of_scores, "which order should a reader"),
            (order_of_text, "not by score"),
            (capitals_count, "lower-case words"),
            (only_beside_the_last, "not only with the sentence chosen last"),
            (only_beside_the_best, "not only with the best sentence"),
            (short_sentences_are_runs, "has no run of three words"),
            (endings_are_runs, "only the last two words"),
            (three_words_in_any_order, "next to each other"),
            (joined_text, "if you join two sentences"),
            (letters_of_sentences, "compare whole words"),
            (stops_at_a_repetition, "stopped at the first repetition"),
            (lowest_first, "with the lowest score"),
            (runs_off_the_end, "two words before the end"),
            (the_sentences, "the sentences themselves"),
            (yes_or_no, "True or False for each"),
            (says_nothing, "returned None"),
            (four_words, "three words are enough"),
            (split_at_spaces, "without punctuation"),
            (without_a_limit, "stop when there are `most`"),
            (control_in_the_order_of_text, "in the order of the text"),
            (until_there_are_enough, "fewer than `most`"),
        ],
    },
    "13.5": {
        "accepted": [looked_up, stacked, by_sorting_both, by_a_matrix],
        "wrong": [
            (unchanged, "Nothing has changed"),
            (the_way_back, "the inverse order"),
            (case_matters, "labels in capitals"),
            (written_down, "its own order"),
            (reversed_columns, "reversed the columns"),
            (in_place, "overwrites columns"),
            (rows_by_name, "select columns"),
            (by_the_labels_themselves, "names, and columns are selected by numbers"),
            (the_winner, "one number a row"),
            (only_capitals, "Compare both in lower case"),
            (softmax_of_it, "Those are probabilities"),
        ],
    },
}
