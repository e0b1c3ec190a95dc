"""What the folder of a finished run says: read, and compared with what a run writes, before a page is made of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.files import quoted, read_json, read_text
from bertedu.finetuning.kinds import KINDS
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.json_values import check_object, parse_json
from bertedu.pretraining.plan import Plan
from bertedu.training.metrics import read_metrics
from bertedu.visualization.finetuning_results import LEFT_OUT, part_of
from bertedu.visualization.results import DETECTION, ORDERING

Types = Mapping[str, Any]  # the type of what stands under each name, as in `json_values.check_object`
Figures = dict[str, dict[str, float]]
# Of metrics.json of a pre-training run, of its "run", and of each of its evaluations.
PRETRAINING: Types = {"corpus": str, "run": dict[str, Any], "evaluation": dict[str, dict[str, Any]], "notes": list[str]}
PROGRESS: Types = {"step": int, "tokens": int, "seconds": float, "parameters": int}
HELD_OUT: Types = {"masked_words": int, "mlm_accuracy": float, "perplexity": float, "baselines": Figures}
OF_PAIRS: Types = {"pairs": int, "nsp_accuracy": float}
OF_DETECTION: Types = {
    **{"tokens": int, "rtd_accuracy": float, "rtd_replaced": float, "rtd_recall": float, "rtd_f1": float},
    **{"baselines": Figures},
}
OF_SPANS: Types = {"words": int, "span_length": float}
OF_BOUNDARY: Types = {"sbo_accuracy": float, "sbo_perplexity": float, "mlm_accuracy": float, "baselines": Figures}
OF_ORDERING: Types = {"tokens": int, "plm_accuracy": float, "perplexity": float, "baselines": Figures}
OF_SENTENCES: Types = {"pseudo_sentences": int, "pseudo_perplexity": float}
OF_DISTILLATION: Types = {
    **{"tokens": int, "kl_loss": float, "kl_agreement": float, "kl_copied": float, "mlm_agreement": float},
    **{"teacher": dict[str, float]},
}
OF_A_TEACHER: Types = {"masked_words": int, "mlm_accuracy": float, "perplexity": float, "parameters": int}
FACTS: Types = {"probes": int, "accuracy": float, "n-gram": float}
SENSE: Types = {"accuracy": float, "bag of words": float}
BASELINES = ("most frequent token", "n-gram, both sides")
OPTIONS = (
    "preset",
    "initialization",
    "batch_size",
    "max_length",
    "learning_rate",
    "warmup",
    "mask_rates",
    "whole_words",
)
# Of metrics.json of a fine-tuning run, and of each of its seeds.
FINETUNING: Types = {
    **{"task": str, "model": str, "rows": dict[str, int], "baselines": Figures, "best_seed": int},
    **{"runs": list[dict[str, Any]], "validation": Figures},
}
OF_A_SEED: Types = {
    **{"seed": int, "seconds": float, "steps": int, "parameters": int, "chosen_by": str},
    **{"device": str, "precision": str, "threads": int},
}
SPREAD: Types = {"mean": float, "deviation": float}
FINETUNING_OPTIONS = (
    *("data", "epochs", "batch_size", "max_length", "learning_rate", "warmup", "dropout", "pooling", "crf"),
)
# Of a row of predictions.jsonl, by task; what else stands there is for people.
SURE: Types = {"probability": float, "mistake": float}
SCORES: Types = {"text": str, "label": float, "prediction": float, "mistake": float}
WORDS: Types = {
    **{"words": list[str], "tags": list[str], "prediction": list[str]},
    **{"probability": list[float], "mistake": float},
}
ROWS: dict[str, Types] = {
    "classification": {"text": str, "label": str, "prediction": str, **SURE},
    "multi-label": {"text": str, "label": list[str], "prediction": list[str], **SURE},
    "regression": SCORES,
    "similarity": SCORES,
    "entities": WORDS,
    "tagging": WORDS,
    "question-answering": {
        **{"question": str, "context": str, "answers": list[str], "prediction": str, **SURE},
        **{"span": str, "span_f1": float, "no_answer_score": float},
    },
    "multiple-choice": {
        **{"context": str, "question": str, "choices": list[str], "label": int, "prediction": int, **SURE},
    },
    "summarization": {
        **{"sentences": list[str], "summary": str, "prediction": str, "chosen": list[int], "best": list[int]},
        **{"rouge1": float, "mistake": float},
    },
}


@dataclass(frozen=True)
class Run:
    """What a run folder says about its run."""

    folder: Path
    plan: dict[str, Any]  # run.json
    metrics: dict[str, Any]  # metrics.json
    lines: list[dict[str, Any]]  # metrics.jsonl


def whole(value: Any, expected: Types, place: str | Path) -> dict[str, Any]:
    """The object, where it has all of the expected names and each is of its type. Raises UserError where not."""
    found = check_object(value, expected, place)
    if missing := expected.keys() - found.keys():
        raise UserError(f"{place} lacks {', '.join(sorted(missing))}: run it again.")
    return found


def refuse_unfinished(folder: Path, names: tuple[str, ...], command: str) -> None:
    """Raise UserError where a file is missing that the command writes at the end of a run."""
    for name in names:
        if not (folder / name).is_file():
            raise UserError(
                f"{folder} has no {name}: give the folder of a run that has ended, or end it with "
                f"`bertedu {command} --resume {quoted(folder)}`."
            )


def read_run(folder: str | Path) -> Run:
    """Read a finished pre-training run. Raises UserError where a file is missing, damaged or not what a run writes."""
    folder = Path(folder)
    refuse_unfinished(folder, ("run.json", "metrics.json"), "pretrain")
    plan, path = Plan.read(folder), folder / "metrics.json"
    whole(plan, dict.fromkeys(OPTIONS, Any), folder / "run.json")
    metrics = whole({"notes": [], **check_object(read_json(path), {}, path)}, PRETRAINING, path)
    whole(metrics["run"], PROGRESS, f"{path}, run")
    for name, figures in metrics["evaluation"].items():
        check_evaluation(name, figures, f"{path}, {shown(name)}")
    return Run(folder, plan, metrics, read_metrics(folder))


def check_evaluation(name: str, figures: dict[str, Any], place: str) -> None:
    """Raise UserError where these are not the figures of one evaluation, by its name."""
    if name == "facts":
        whole(figures, FACTS, place)
    elif name == "senses":
        for word, shares in figures.items():
            whole(shares, SENSE, f"{place}, {shown(word)}")
    else:
        baselines = whole(figures, HELD_OUT, place)["baselines"]
        of_pairs = (*OF_PAIRS, "nsp_accuracy_same_source")
        if any(one in figures for one in of_pairs):
            check_object(whole(figures, OF_PAIRS, place), {of_pairs[-1]: float}, place)
        if "detection" in figures:
            said = whole(figures["detection"], OF_DETECTION, f"{place}, detection")["baselines"]
            for kind, of in said.items():
                whole(of, dict.fromkeys(DETECTION, float), f"{place}, detection, {shown(kind)}")
        if "boundary" in figures and whole(figures["boundary"], OF_SPANS, f"{place}, boundary")["words"]:
            said = whole(figures["boundary"], OF_BOUNDARY, f"{place}, boundary")["baselines"]
            for kind, of in said.items():
                whole(of, {"mlm_accuracy": float}, f"{place}, boundary, {shown(kind)}")
        if "distillation" in figures:
            said = check_object(figures["distillation"], {"cos_loss": float}, f"{place}, distillation")
            teacher = whole(said, OF_DISTILLATION, f"{place}, distillation")["teacher"]
            whole(teacher, OF_A_TEACHER, f"{place}, distillation, teacher")
        if "ordering" in figures:
            said = whole(figures["ordering"], OF_ORDERING, f"{place}, ordering")["baselines"]
            for kind, of in said.items():
                whole(of, dict.fromkeys(ORDERING, float), f"{place}, ordering, {shown(kind)}")
            check_perplexities((figures["ordering"], *said.values()), f"{place}, ordering")
        if any(one in figures for one in OF_SENTENCES):
            whole(figures, OF_SENTENCES, place)
        whole(baselines, dict.fromkeys(BASELINES, Any), f"{place}, baselines")
        for kind in BASELINES:
            whole(baselines[kind], {"mlm_accuracy": float}, f"{place}, {kind}")
        check_perplexities((figures, *baselines.values()), place)


def check_perplexities(figures: Iterable[dict[str, Any]], place: str) -> None:
    """Raise UserError for a perplexity whose logarithm cannot be drawn."""
    if any(of.get("perplexity", 1.0) <= 0 for of in figures):
        raise UserError(f"{place}: a perplexity is 0 or less, which none can be: run it again.")


def read_finetuning_run(folder: str | Path) -> Run:
    """Read a finished fine-tuning run. Raises UserError where a file is missing, damaged or not what a run writes."""
    folder = Path(folder)
    refuse_unfinished(folder, ("run.json", "metrics.json", "predictions.jsonl"), "finetune")
    plan, path = FinetuningPlan.read(folder), folder / "metrics.json"
    whole(plan, dict.fromkeys(FINETUNING_OPTIONS, Any), folder / "run.json")
    metrics = check_object(whole(read_json(path), FINETUNING, path), {"test": Figures}, path)
    check_object(metrics, {"test_rows_seen_in_training": int}, path)
    part = part_of(metrics)
    if metrics["task"] not in KINDS:
        raise UserError(f"{path}: there is no task {shown(metrics['task'])}: run it again.")
    whole(metrics["rows"], dict.fromkeys(("train", "validation", "test"), int), f"{path}, rows")
    for name, figure in metrics[part].items():
        whole(figure, SPREAD, f"{path}, {part}, {shown(name)}")
    for number, one in enumerate(metrics["runs"]):
        place = f"{path}, runs[{number}]"
        check_object(whole(one, OF_A_SEED, place), {"decided": dict[str, float]}, place)
        if one["chosen_by"] not in metrics[part].keys() - set(LEFT_OUT):
            raise UserError(f"{place}: chosen_by {shown(one['chosen_by'])} is no figure of {part}: run it again.")
    if metrics["best_seed"] not in [one["seed"] for one in metrics["runs"]]:
        raise UserError(f"{path}: best_seed is {metrics['best_seed']}, and no run is of that seed: run it again.")
    return Run(folder, plan, metrics, [])


def read_predictions(path: str | Path, task: str) -> list[dict[str, Any]]:
    """The rows of predictions.jsonl of a task. Raises UserError for a line that is damaged or of another task."""
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line:
            place = f"{path}, line {number}"
            row = check_object(whole(parse_json(line, path, number), ROWS[task], place), {"pair": str}, place)
            rows.append({name: row[name] for name in (*ROWS[task], "pair") if name in row})
            check_row(rows[-1], place)
    if not rows:
        raise UserError(f"{path} holds no prediction: run it again.")
    return rows


def check_row(row: dict[str, Any], place: str) -> None:
    """Raise UserError where the values of a row of predictions do not fit together."""
    sure = row.get("probability", 0.0)
    if not all(0 <= one <= 1 for one in (sure if isinstance(sure, list) else [sure])):
        raise UserError(f"{place}: the probability {shown(sure)} is not between 0 and 1: run it again.")
    if "words" in row and len({len(row[name]) for name in ("words", "tags", "prediction", "probability")}) > 1:
        raise UserError(f"{place}: there are not as many tags, predictions and probabilities as words: run it again.")
    for names, of in ((("label", "prediction"), "choices"), (("chosen", "best"), "sentences")):
        if of in row:
            numbers = [number for name in names for number in (row[name] if of == "sentences" else [row[name]])]
            if not all(0 <= number < len(row[of]) for number in numbers):
                raise UserError(f"{place}: of {len(row[of])} {of} the numbers {shown(numbers)} are not all there.")
