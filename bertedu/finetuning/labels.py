"""Labels of texts: as numbers, scored, and told without a network.

Shapes: N texts, C classes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertedu.corpora.readers import LabelledText
from bertedu.errors import UserError
from bertedu.finetuning.bags import bags_of_words, compared_words
from bertedu.training.figures import Figures

SINGLE_LABEL, MULTI_LABEL, REGRESSION = "single_label_classification", "multi_label_classification", "regression"
MOST_WEIGHTS = 10_000_000  # of a linear baseline: learning them takes twenty times their memory


def labels_of(rows: Sequence[LabelledText]) -> tuple[str, ...]:
    """All labels of some texts, in the order of the alphabet."""
    return tuple(
        sorted({str(one) for row in rows for one in (row.label if isinstance(row.label, tuple) else (row.label,))})
    )


def target_of(row: LabelledText, labels: Sequence[str], problem_type: str) -> Any:
    """The label of a row as a number, a list of 0 and 1, or a score. Raises UserError for one that is not in labels."""
    if problem_type == "regression":
        return float(row.label)  # type: ignore[arg-type]
    given = row.label if isinstance(row.label, tuple) else (row.label,)
    for label in given:
        if label not in labels:
            raise UserError(f"the label {label!r} of {row.text[:40]!r} is none of {', '.join(labels)}.")
    if problem_type == "multi_label_classification":
        return [float(label in given) for label in labels]
    return list(labels).index(given[0])  # type: ignore[arg-type]


def classification_figures(logits: np.ndarray, targets: np.ndarray, problem_type: str) -> dict[str, float]:
    """What is reported for logits [N, C] and targets [N] or [N, C].

    Classes: accuracy and macro F1. Several classes at once, each where its probability is above one half: micro and
    macro F1, and the share of texts with all of them right. Scores: Pearson, Spearman, mean squared error.
    """
    from sklearn.metrics import accuracy_score, f1_score

    if problem_type == "regression":
        return score_figures(logits[:, 0], targets)
    if problem_type == "multi_label_classification":
        chosen = logits > 0  # sigmoid(0) is one half
        return {
            "micro_f1": float(f1_score(targets, chosen, average="micro", zero_division=0)),
            "macro_f1": float(f1_score(targets, chosen, average="macro", zero_division=0)),
            "all_right": float(accuracy_score(targets, chosen)),
        }
    chosen = logits.argmax(axis=-1)
    return {
        "accuracy": float(accuracy_score(targets, chosen)),
        "macro_f1": float(f1_score(targets, chosen, average="macro", zero_division=0)),
    }


def score_figures(scores: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    """Pearson's and Spearman's correlation (0 where all scores are equal) and the mean squared error."""
    from scipy.stats import pearsonr, spearmanr

    varied = np.ptp(scores) > 0 and np.ptp(targets) > 0
    return {
        "pearson": float(pearsonr(scores, targets).statistic) if varied else 0.0,
        "spearman": float(spearmanr(scores, targets).statistic) if varied else 0.0,
        "mean_squared_error": float(np.mean((scores - targets) ** 2)),
    }


def balanced_weights(targets: Sequence[Any], classes: int, problem_type: str) -> Tensor:
    """A weight for each class, N / (C · its number of texts): as if all were equally frequent, with the mean 1.

    Raises UserError where that means nothing: for scores and for several classes at once.
    """
    if problem_type != "single_label_classification":
        raise UserError('class_weights="balanced" is for one class a text: leave it at "none".')
    numbers = np.bincount(targets, minlength=classes)
    return torch.tensor(len(targets) / (classes * np.maximum(numbers, 1)), dtype=torch.float)


def classification_baselines(train: Sequence[LabelledText], test: Sequence[LabelledText], problem_type: str) -> Figures:
    """The figures of always saying the same, and of a linear model over bags of words and pairs of words; of pairs of
    texts also over which words stand in one of them and which in both.
    """
    from sklearn.linear_model import Ridge

    texts, asked = ([f"{row.text} \n {row.pair or ''}" for row in rows] for rows in (train, test))
    vectorizer = bags_of_words(texts, ngram_range=(1, 2), sublinear_tf=True)
    bags = {"bag of words": (vectorizer.transform(texts), vectorizer.transform(asked))}
    if all(row.pair for row in (*train, *test)):
        pairs, asked_pairs = ([(row.text, row.pair or "") for row in rows] for rows in (train, test))
        comparer = compared_words(pairs)
        bags["words compared"] = (comparer.transform(pairs), comparer.transform(asked_pairs))
    if problem_type == REGRESSION:
        scores, right = (np.array([float(row.label) for row in rows]) for rows in (train, test))  # type: ignore[arg-type]
        said = {"the mean": np.full(len(right), scores.mean())}
        said |= {name: Ridge().fit(seen, scores).predict(new) for name, (seen, new) in bags.items()}
        return {name: score_figures(values, right) for name, values in said.items()}
    labels = labels_of([*train, *test])
    targets, right = (np.array([target_of(row, labels, problem_type) for row in rows]) for rows in (train, test))
    if problem_type == MULTI_LABEL:
        usual = np.broadcast_to(targets.mean(axis=0) - 0.5, (len(right), len(labels)))
    else:
        usual = np.broadcast_to(np.bincount(targets, minlength=len(labels)), (len(right), len(labels)))
    found = {"most frequent class": usual}
    for name, (seen, new) in bags.items():
        alike = len(np.unique(targets, axis=0)) < 2  # there is nothing to learn
        found[name] = usual if alike else linear_scores(seen, targets, new, len(labels))
    return {name: classification_figures(scores, right, problem_type) for name, scores in found.items()}


def linear_scores(seen: Any, targets: np.ndarray, new: Any, classes: int) -> np.ndarray:
    """What a linear model that learned the targets of the seen bags gives the classes of new ones, [N, C]; where it
    would be too large, the targets of the most similar bag.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    if seen.shape[1] * classes > MOST_WEIGHTS:
        return nearest_scores(seen, targets, new, classes)
    linear = LogisticRegression(C=10, max_iter=1000)
    if targets.ndim == 2:
        return OneVsRestClassifier(linear).fit(seen, targets).predict_proba(new) - 0.5
    model = linear.fit(seen, targets)
    scores = np.full((new.shape[0], classes), -np.inf)  # a class that validation took was not learned
    scores[:, model.classes_] = model.predict_log_proba(new)
    return scores


def nearest_scores(seen: Any, targets: np.ndarray, new: Any, classes: int) -> np.ndarray:
    """1 for the classes of the seen bag that is most similar to a new one (by cosine), 0 for the others; [N, C], of
    several classes at once less a half."""
    from sklearn.neighbors import KNeighborsClassifier

    found = KNeighborsClassifier(n_neighbors=1, metric="cosine").fit(seen, targets).predict(new)
    if targets.ndim == 2:
        return np.asarray(found) - 0.5
    scores = np.zeros((len(found), classes))
    scores[np.arange(len(found)), found] = 1
    return scores
