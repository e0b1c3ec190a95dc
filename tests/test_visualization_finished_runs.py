"""A run's folder with strange values inside its files: refused by file and name, and no page is made of it."""

import json
import re

import pytest
from support.finetuning_runs import FIGURES, save_finetuning_run
from support.small_runs import evaluation, save_run

from bertedu.errors import UserError
from bertedu.visualization import write_finetuning_report, write_report
from bertedu.visualization.finished_runs import read_predictions


def spoil(path, names, value):
    """Put a value into a file of JSON, or into its first line; the value `del` removes what is there."""
    first, *others = path.read_text().split("\n") if path.suffix == ".jsonl" else [path.read_text()]
    whole = inside = json.loads(first)
    for name in names[:-1]:
        inside = inside[name]
    if value == "del":
        del inside[names[-1]]
    else:
        inside[names[-1]] = value
    path.write_text("\n".join([json.dumps(whole), *others]))


HELD_OUT = ("evaluation", "held-out documents")


@pytest.mark.parametrize(
    ("file", "names", "value", "message"),
    [
        ("run.json", ["mask_rates"], "del", "lacks mask_rates"),
        ("run.json", ["learning_rate"], [1], "learning_rate is [1]: give a number"),
        ("metrics.json", ["run"], [], "run is []: give an object"),
        ("metrics.json", ["run", "seconds"], "long", "run: seconds is 'long': give a number"),
        ("metrics.json", ["evaluation"], {"a": 1}, "evaluation is {'a': 1}"),
        ("metrics.json", [*HELD_OUT, "masked_words"], "del", "lacks masked_words"),
        ("metrics.json", [*HELD_OUT, "mlm_accuracy"], None, "mlm_accuracy is None: give a number"),
        ("metrics.json", [*HELD_OUT, "pairs"], "del", "lacks pairs"),
        ("metrics.json", [*HELD_OUT, "nsp_accuracy_same_source"], "x", "nsp_accuracy_same_source is 'x'"),
        ("metrics.json", [*HELD_OUT, "baselines", "unigram"], 1, "baselines is {"),
        ("metrics.json", [*HELD_OUT, "baselines", "unigram", "perplexity"], 0, "a perplexity is 0 or less"),
        ("metrics.json", [*HELD_OUT, "baselines", "most frequent token"], "del", "baselines lacks most frequent"),
        ("metrics.json", ["evaluation", "facts", "n-gram"], "del", "'facts' lacks n-gram"),
        ("metrics.json", ["evaluation", "senses", "bank"], 1, "'bank': expected a JSON object"),
        ("metrics.json", ["notes"], [1], "notes is [1]"),
        ("metrics.jsonl", ["mlm_loss"], None, "line 1: 'mlm_loss' is None"),
        ("metrics.jsonl", ["mlm_loss"], "low", "step 50: 'mlm_loss' is 'low', which is no number"),
    ],
)
def test_a_strange_value_of_pre_training_is_told_in_words(tmp_path, file, names, value, message):
    folder = save_run(tmp_path / "run")
    spoil(folder / file, names, value)
    with pytest.raises(UserError, match=f"{file}.*{re.escape(message)}"):
        write_report(folder)
    assert not (folder / "report.html").exists()


WORDS = {"mlm_accuracy": 0.2, "perplexity": 90.0}
# What an objective adds to the figures of masked words.
ADDED = {
    "boundary": {
        **{"words": 400, "span_length": 3.2, "sbo_accuracy": 0.1, "sbo_perplexity": 200.0, "mlm_accuracy": 0.2},
        "baselines": {"unigram": WORDS},
    },
    "detection": {
        **{"tokens": 5000, "rtd_accuracy": 0.9, "rtd_replaced": 0.1, "rtd_recall": 0.4, "rtd_f1": 0.5},
        "baselines": {"always “original”": {"rtd_accuracy": 0.9, "rtd_recall": 0.0, "rtd_f1": 0.0}},
    },
    "ordering": {
        **{"tokens": 800, "plm_accuracy": 0.2, "perplexity": 80.0},
        "baselines": {"unigram": {"plm_accuracy": 0.1, "perplexity": 300.0}},
    },
    "distillation": {
        **{"tokens": 5000, "kl_loss": 0.3, "kl_agreement": 0.6, "kl_copied": 0.5, "mlm_agreement": 0.4},
        "teacher": {**WORDS, "masked_words": 1000, "parameters": 9000},
    },
}


def save_run_of(folder, objective, **changes):
    """A finished run with the figures of an objective, some of them changed."""
    whole = evaluation()
    whole[HELD_OUT[1]][objective] = {**ADDED[objective], **changes}
    return save_run(folder, evaluation=whole)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ADDED)
def test_a_strange_figure_of_an_objective_is_told_in_words(tmp_path, objective):
    """A figure that is missing or of another type, and one inside what stands beside it."""
    assert write_report(save_run_of(tmp_path / "run", objective)).exists()
    (tmp_path / "run/report.html").unlink()
    path = tmp_path / "run/metrics.json"
    for name, value in ADDED[objective].items():
        for names, strange in (
            ([name], "del"),
            ([name], "many"),
            *(
                [([name, next(iter(value))], "many"), ([name, next(iter(value))], [])]
                if isinstance(value, dict)
                else ()
            ),
        ):
            save_run_of(tmp_path / "run", objective)
            spoil(path, [*HELD_OUT, objective, *names], strange)
            with pytest.raises(UserError, match=rf"metrics.json, 'held-out documents', {objective}.*{name}"):
                write_report(tmp_path / "run")
    for name, value in ADDED[objective].get("baselines", {}).items():
        for figure in value:
            save_run_of(tmp_path / "run", objective)
            spoil(path, [*HELD_OUT, objective, "baselines", name, figure], "del")
            if (objective, figure) == ("boundary", "perplexity"):
                continue  # the most frequent token alone has none
            with pytest.raises(UserError, match=rf"{objective}.*lacks {figure}"):
                write_report(tmp_path / "run")
    assert not (tmp_path / "run/report.html").exists()


@pytest.mark.parametrize(
    ("names", "value", "message"),
    [
        (["ordering", "perplexity"], 0, "ordering: a perplexity is 0 or less"),
        (["ordering", "baselines", "unigram", "perplexity"], -1, "ordering: a perplexity is 0 or less"),
        (["pseudo_perplexity"], "del", "lacks pseudo_perplexity"),
        (["pseudo_sentences"], "few", "pseudo_sentences is 'few'"),
    ],
)
def test_a_strange_figure_of_permutation_is_told_in_words(tmp_path, names, value, message):
    whole = evaluation()
    whole[HELD_OUT[1]] |= {"ordering": ADDED["ordering"], "pseudo_sentences": 50, "pseudo_perplexity": 70.0}
    folder = save_run(tmp_path / "run", evaluation=whole)
    spoil(folder / "metrics.json", [*HELD_OUT, *names], value)
    with pytest.raises(UserError, match=re.escape(message)):
        write_report(folder)


def test_spans_none_of_which_has_a_boundary_do_not_end_the_report(tmp_path):
    whole = evaluation()
    whole[HELD_OUT[1]]["boundary"] = {"words": 0, "span_length": 3.0}
    text = write_report(save_run(tmp_path / "run", evaluation=whole)).read_text(encoding="utf-8")
    assert "spans of 3.0 words" in text and "the boundary alone tells" not in text


@pytest.mark.parametrize(
    ("file", "names", "value", "message"),
    [
        ("run.json", ["data"], "del", "data is missing"),
        ("run.json", ["pooling"], "del", "lacks pooling"),
        ("metrics.json", ["task"], "dancing", "there is no task 'dancing'"),
        ("metrics.json", ["rows", "train"], "del", "rows lacks train"),
        ("metrics.json", ["runs"], [], "best_seed is 0, and no run is of that seed"),
        ("metrics.json", ["runs", 0, "seconds"], None, "runs[0]: seconds is None"),
        ("metrics.json", ["runs", 1, "chosen_by"], "beauty", "runs[1]: chosen_by 'beauty' is no figure of test"),
        ("metrics.json", ["runs", 0, "decided"], [1], "runs[0]: decided is [1]"),
        ("metrics.json", ["best_seed"], 7, "best_seed is 7, and no run is of that seed"),
        ("metrics.json", ["test", "accuracy"], 0.5, "test is {'accuracy': 0.5"),
        ("metrics.json", ["test", "accuracy", "mean"], "del", "'accuracy' lacks mean"),
        ("metrics.json", ["baselines", "guessing"], {"accuracy": "half"}, "baselines is {"),
        ("seed-0/metrics.jsonl", ["step"], [], "step is []"),
    ],
)
def test_a_strange_value_of_fine_tuning_is_told_in_words(tmp_path, file, names, value, message):
    folder = save_finetuning_run(tmp_path / "run", "classification")
    spoil(folder / file, names, value)
    with pytest.raises(UserError, match=f"{file}.*{re.escape(message)}"):
        write_finetuning_report(folder)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("task", "name", "value", "message"),
    [
        ("classification", "label", 1, "label is 1: give a text"),
        ("classification", "mistake", "del", "lacks mistake"),
        ("classification", "pair", 3, "pair is 3"),
        ("classification", "probability", 1.5, "the probability 1.5 is not between 0 and 1"),
        ("multi-label", "prediction", [1], "prediction is [1]"),
        ("similarity", "label", "near", "label is 'near'"),
        ("entities", "tags", ["O"], "not as many tags, predictions and probabilities as words"),
        ("tagging", "probability", [0.5, 0.5, 2], "the probability [0.5, 0.5, 2] is not between"),
        ("question-answering", "no_answer_score", None, "no_answer_score is None"),
        ("question-answering", "answers", "b", "answers is 'b': give a list"),
        ("multiple-choice", "label", 2, "of 2 choices the numbers [2, 0] are not all there"),
        ("summarization", "chosen", [10**9], "of 2 sentences the numbers [1000000000"),
    ],
)
def test_a_strange_prediction_is_told_in_words(tmp_path, task, name, value, message):
    path = save_finetuning_run(tmp_path / "run", task) / "predictions.jsonl"
    assert len(read_predictions(path, task)) == 2
    spoil(path, [name], value)
    with pytest.raises(UserError, match=f"predictions.jsonl, line 1.*{re.escape(message)}"):
        read_predictions(path, task)


@pytest.mark.parametrize("task", FIGURES)
def test_a_value_that_a_row_of_this_task_does_not_have_changes_nothing(tmp_path, task):
    path = save_finetuning_run(tmp_path / "run", task) / "predictions.jsonl"
    before = read_predictions(path, task)
    for name in ("words", "choices", "no_answer_score"):
        if name not in before[0]:
            spoil(path, [name], [])
    assert read_predictions(path, task) == before


def test_no_prediction_at_all_is_told_in_words(tmp_path):
    (tmp_path / "predictions.jsonl").write_text("")
    with pytest.raises(UserError, match=r"predictions.jsonl holds no prediction"):
        read_predictions(tmp_path / "predictions.jsonl", "classification")
