"""From a finished run to a checkpoint that ships. Run: python benchmarks/ship.py runs/RUN data/checkpoints/NAME

Writes the model as float16 safetensors with its vocabulary, the curves as curves.png, and measurements.json: the
figures of the very weights that ship, beside the baselines and the same architecture untrained. Prints these
as the rows of the card's table. The text of the card is written by people.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from bertedu.corpora import load_corpus
from bertedu.files import write_json
from bertedu.model import BertForPreTraining
from bertedu.pretraining.evaluation import Evaluation
from bertedu.pretraining.objectives.pairs import MaskedWordsAndPairs
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_model, make_task
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.visualization.curves import training_curves
from bertedu.visualization.finished_runs import read_run
from bertedu.visualization.report import curve_baselines
from bertedu.visualization.results import results


def at_the_start(task: MaskedWordsAndPairs, settings: PretrainingSettings) -> BertForPreTraining:
    """The same architecture as at its start."""
    task.settings = settings
    return make_model(task).eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args()
    run = read_run(given.run)
    plan = Plan.from_options(resume=given.run)
    corpus = load_corpus(list(plan.corpus))
    # The text of the documentation depends on the packages of the day; the vocabulary is that of the run.
    task = make_task(corpus, replace(plan.settings, start=str(given.run), new_vocabulary=False))
    trained = BertForPreTraining.from_pretrained(given.run / "checkpoint")
    trained.half().save_pretrained(given.target)
    task.tokenizer.save_pretrained(given.target, trained.config.max_tokens)
    training_curves(run.lines, curve_baselines(run.metrics)).save(given.target / "curves.png")
    evaluate = Evaluation(task, corpus)
    figures = {
        "trained": evaluate(BertForPreTraining.from_pretrained(given.target)),
        "untrained": evaluate(at_the_start(task, plan.settings)),
    }
    measured: dict[str, Any] = {"run": run.metrics["run"], "notes": corpus.notes, **figures}
    write_json(given.target / "measurements.json", measured)
    untrained = results({"evaluation": figures["untrained"]})
    print("| text | measure | model | untrained | without a network |\n|---|---|---|---|---|")
    for row, before in zip(results({"evaluation": figures["trained"]}), untrained, strict=True):
        beside = ", ".join(f"{name} {row.shown(value)}" for name, value in row.baselines)
        print(f"| {row.text} | {row.measure} | {row.shown()} | {before.shown()} | {beside} |")


if __name__ == "__main__":
    main()
