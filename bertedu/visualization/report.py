"""One page about one run, made from its folder alone: curves.png, attention.png and report.html."""

import math
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bertedu.files import quoted, write_text
from bertedu.inference import attention_weights, open_filler, open_model
from bertedu.model.architecture import architecture
from bertedu.model.heads import MaskedLM
from bertedu.pretraining.members import member, options
from bertedu.registry import OBJECTIVES
from bertedu.visualization.attention import attention_grid
from bertedu.visualization.curves import training_curves
from bertedu.visualization.examples import example_pair, fill_examples
from bertedu.visualization.finished_runs import Run, read_run
from bertedu.visualization.page import duration
from bertedu.visualization.picture import Picture
from bertedu.visualization.pretraining_page import page
from bertedu.visualization.results import objectives_in, results
from bertedu.web.playground import playground_beside


def write_report(folder: str | Path) -> Path:
    """Write curves.png, attention.png and report.html into a finished run's folder; returns the page's path. Of a BERT
    the playground too, to which the report links.

    Raises UserError for a folder that holds no finished run, and where a file cannot be written.
    """
    run = read_run(folder)
    model, tokenizer = open_model(run.folder)
    corpus = run.metrics["corpus"]
    pictures: dict[str, Picture] = {}
    if has_figures(run.lines):
        pictures["curves"] = training_curves(run.lines, curve_baselines(run.metrics))
    tokens, weights = attention_weights(model, tokenizer, *example_pair(corpus, model, tokenizer))
    pictures["attention"] = attention_grid(weights, tokens)
    for name, picture in pictures.items():
        picture.save(run.folder / f"{name}.png")
    examples = fill_examples(*open_filler(run.folder), corpus, top=5)
    write_text(
        run.folder / "report.html",
        page(
            folder=run.folder.as_posix(),
            metrics=run.metrics,
            rows=results(run.metrics),
            facts=how_it_was_made(run, model.config),
            examples=examples,
            pictures={name: picture.html() for name, picture in pictures.items()},
            member=member(model.config.model_type).name,
            longer=options_of(run, model.config.model_type),
            objective=objective_of(run.plan),
            opened_as=opened_as(model.config.model_type),
            playground=playground_beside(run.folder),
        ),
    )
    return run.folder / "report.html"


def objective_of(plan: Mapping[str, Any]) -> str:
    """What a run was trained for; runs of old say nothing of it."""
    return plan.get("objective") or "pairs"


def opened_as(model_type: str) -> str:
    """The class in `transformers` of a member that finds out in another way than by [MASK] which word is hidden."""
    of = architecture(model_type)
    return "" if of.for_masked_lm is None else of.class_name(MaskedLM.kind)


def options_of(run: Run, model_type: str) -> str:
    """The options of `bertedu pretrain` for another run of the same kind, each with a space after it."""
    if teacher := run.plan.get("teacher"):
        return f"--objective {objective_of(run.plan)} --teacher {quoted(teacher)} "
    return options(model_type, run.plan.get("objective", ""))


def has_figures(lines: list[dict[str, Any]]) -> bool:
    """Whether anything was written that can be drawn: a run of a few steps has nothing."""
    there = {name.removeprefix("validation_") for line in lines for name in line}
    return any(name in there for objective in OBJECTIVES.values() for name in objective.panels)


def curve_baselines(metrics: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The baselines of the first held-out set, for the panels of masked words and of the objective.

    Those for pairs are left out: they are balanced accuracies, and the figures of a run's log are not.
    """
    lines: dict[str, dict[str, float]] = {"mlm_loss": {}, "mlm_accuracy": {}}
    figures = next((figures for figures in metrics["evaluation"].values() if "baselines" in figures), None)
    if figures is None:
        return lines
    for name, of in figures["baselines"].items():
        if "perplexity" in of:
            lines["mlm_loss"][name] = math.log(of["perplexity"])
        if "mlm_accuracy" in of:
            lines["mlm_accuracy"][name] = of["mlm_accuracy"]
    for objective in objectives_in(figures):
        for panel, values in objective.panel_baselines(figures).items():
            lines.setdefault(panel, {}).update(values)
    return lines


def how_it_was_made(run: Run, config: Any) -> dict[str, dict[str, str]]:
    """Groups of facts about the run, in words, for the page."""
    plan, done = run.plan, run.metrics["run"]
    budget = next((f"{plan[name]:,} {name}" for name in ("minutes", "tokens", "steps") if plan.get(name)), "")
    start, end = plan["mask_rates"]
    name = objective_of(plan)
    objective = OBJECTIVES[name]
    figures: dict[str, Any] = next((one for one in run.metrics["evaluation"].values() if objective.section in one), {})
    return {
        "Model": {
            "architecture": member(config.model_type).name,
            "size": f"{plan['preset']}: {config.num_hidden_layers} layers, hidden size {config.hidden_size}, "
            f"{config.num_attention_heads} heads",
            "parameters": f"{done['parameters']:,}",
            "vocabulary": f"{config.vocab_size:,} tokens, learned from the training text"
            + (", with capitals" if plan.get("cased") else ""),
            "initialization": plan["initialization"],
            **objective.facts(plan, figures, config),
        },
        "Training": {
            "budget": budget,
            "done": f"{done['step']:,} steps on {done['tokens']:,} tokens in {duration(done['seconds'])}",
            "speed": f"{done['tokens'] / max(done['seconds'], 1e-9):,.0f} tokens a second",
            "batch": f"{plan['batch_size']} {'pairs' if objective.of_pairs else 'texts'} of at most "
            f"{plan['max_length']} tokens",
            "learning rate": f"{plan['learning_rate']:g} after a warm-up of {plan['warmup']:.0%}, then down to 0",
            objective.chosen_are: f"{start:.0%} of the tokens at the start, {end:.0%} at the end"
            + (", whole words" if plan["whole_words"] else ""),
            "objective": name,
            "pairs": {"order": "sentence order"}.get(plan["pairs"], "next sentence") if objective.of_pairs else "none",
            "seed": str(plan["seed"]),
        },
        "Machine": machine(done),
        "Versions, when this page was written": versions(),
    }


def machine(done: dict[str, Any]) -> dict[str, str]:
    """What the run's own notes say about where it ran."""
    known = {"step", "tokens", "seconds", "epoch", "batch", "waited", "parameters"}
    return {name.replace("_", " "): str(value) for name, value in done.items() if name not in known}


def versions() -> dict[str, str]:
    """The versions of the packages that matter, as they are installed now."""
    found = {}
    for name in ("bertedu", "torch", "transformers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # bertedu on the path, not installed
            continue
    return found
