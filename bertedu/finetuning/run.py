"""A whole fine-tuning run: data, model, training from one or several seeds, the test set once, a folder with it all."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from bertedu.checkpoints.folder import find_folder
from bertedu.errors import UserError
from bertedu.files import quoted, replacing, to_json, write_json, write_text
from bertedu.finetuning.data import Rows, read_data, seen
from bertedu.finetuning.head import TaskModel
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.strategies import freeze_encoder, pace
from bertedu.finetuning.task import FinetuningTask
from bertedu.model.architecture import tokenizer_in
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import Tokenizer
from bertedu.training.budget import Budget
from bertedu.training.devices import describe_machine
from bertedu.training.figures import Figures
from bertedu.training.loop import Trainer
from bertedu.training.processes import is_main_process
from bertedu.training.run_folder import begun, holding, refuse_begun

PREDICTIONS = "predictions.jsonl"
LINES = 20  # at least so many of metrics.jsonl, so that a short run has a curve too


def finetune(
    plan: FinetuningPlan, task_class: type[FinetuningTask], say: Callable[[str], None] = print
) -> dict[str, Any] | None:
    """Carry out a plan; returns what metrics.json holds, or None when the run was stopped by Ctrl-C. Of several
    processes the first one alone writes, evaluates and returns something.

    The plan's folder gets run.json, metrics.json, and of the best seed by validation checkpoint/ (its best weights)
    and predictions.jsonl (what they say to each row of the test, or of the validation where there is no test).
    What each seed leaves (metrics.jsonl, tensorboard/, both its checkpoints) lies in seed-0/, seed-1/ and so on.
    """
    if not plan.resume:
        refuse_begun(plan.folder)
    train, validation, test = data = read_data(plan, task_class, say)
    folder = find_folder(plan.model)
    tokenizer = tokenizer_in(folder)
    first = plan.settings.seed
    made = make(plan, task_class, first, data, tokenizer)
    made[1].encode([*validation, *test])  # what cannot be used is refused before anything is written
    if plan.passes_open:
        plan = plan.settled(made[0].config.hidden_size, tokens_in_a_pass(made[1]))
        made[1].settings = plan.settings
    plan.say_chosen(say)
    if not is_main_process():
        seeds_in_turn(plan, task_class, data, made, tokenizer, say)
        return None
    results: dict[str, Any] = {
        "task": plan.task,
        "model": plan.model,
        "rows": {"train": len(train), "validation": len(validation), "test": len(test)},
        "baselines": task_class.baselines(train, test or validation),
    }
    if test:
        results["test_rows_seen_in_training"] = seen(train, test)
    with holding(plan.folder):
        if not plan.resume:
            refuse_begun(plan.folder)  # by another run, while this one was reading
        runs = seeds_in_turn(plan, task_class, data, made, tokenizer, say)
        if len(runs) < plan.seeds:
            say(f"stopped and saved: go on with `bertedu finetune --resume {quoted(plan.folder)}`")
            return None
        return put_together(plan, runs, results)


def tokens_in_a_pass(task: FinetuningTask) -> int:
    """How many tokens one pass over the training rows reads, padding included."""
    return sum(ids.numel() for batch in task.epoch(0) for name, ids in batch.items() if name.endswith("input_ids"))


def seeds_in_turn(
    plan: FinetuningPlan,
    task_class: type[FinetuningTask],
    data: tuple[Rows, Rows, Rows],
    made: tuple[PretrainedModel, FinetuningTask],
    tokenizer: Tokenizer,
    say: Callable[[str], None],
) -> list[dict[str, Any]]:
    """What each seed's run found, fewer than there are seeds where it was stopped; made is of the first seed."""
    first, runs = plan.settings.seed, []
    for seed in range(first, first + plan.seeds):
        made = made if seed == first else make(plan, task_class, seed, data, tokenizer)
        found = one_seed(plan, seed, data, *made, tokenizer, say)
        if found is None:
            break
        runs.append(found)
    return runs


def put_together(plan: FinetuningPlan, runs: Sequence[dict[str, Any]], results: dict[str, Any]) -> dict[str, Any]:
    """The results with the figures of all seeds, written into the folder beside the checkpoint of the best seed."""
    best = max(runs, key=lambda run: run["quality"])
    best_folder = plan.folder / f"seed-{best['seed']}"
    copy_checkpoint(best_folder / "checkpoint-best", plan.folder / "checkpoint")
    copy_file(best_folder / PREDICTIONS, plan.folder / PREDICTIONS)
    results |= {"best_seed": best["seed"], "runs": runs, "validation": spread([run["validation"] for run in runs])}
    if "test" in best:
        results["test"] = spread([run["test"] for run in runs])
    write_json(plan.folder / "metrics.json", results)
    return results


def make(
    plan: FinetuningPlan,
    task_class: type[FinetuningTask],
    seed: int,
    data: tuple[Rows, Rows, Rows],
    tokenizer: Tokenizer,
) -> tuple[PretrainedModel, FinetuningTask]:
    """The model with the head that this seed draws, and the task."""
    settings = replace(plan.settings, seed=seed)
    torch.manual_seed(seed)  # the head's first weights
    model, task = task_class.make(*data[:2], tokenizer, plan.model, settings)
    if settings.freeze_encoder:
        freeze_encoder(model)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise UserError(
            f"nothing is left to learn: {plan.task} with pooling {settings.pooling!r} has no weights besides the "
            "encoder, so leave --freeze-encoder out, or choose --pooling pooler."
        )
    layers = model.config.num_hidden_layers
    if settings.head_rate != 1 and all(model.depth(name) <= layers for name, _ in model.named_parameters()):
        raise UserError(
            f"head_rate is {settings.head_rate}, and {plan.task} with pooling {settings.pooling!r} has no head: leave "
            "--head-rate out."
        )
    return model, task


def one_seed(
    plan: FinetuningPlan,
    seed: int,
    data: tuple[Rows, Rows, Rows],
    model: PretrainedModel,
    task: FinetuningTask,
    tokenizer: Tokenizer,
    say: Callable[[str], None],
) -> dict[str, Any] | None:
    """One run from one seed, into seed-N/; its figures on validation and test (in the main process), or None when it
    was stopped.
    """
    _, validation, test = data
    folder, settings = plan.folder / f"seed-{seed}", task.settings
    steps = max(1, round(settings.epochs * len(task.epoch(0))))
    often = max(1, min(plan.training.log_steps, steps // LINES))
    training = replace(plan.training, seed=seed, log_steps=often)
    resume = plan.resume and begun(folder)  # asked before the processes meet in Trainer, so before one of them writes
    trainer = Trainer(model, task, training, Budget(steps=steps), folder, pace(settings, model))
    if resume:  # the state of another run is refused before anything is written
        trainer.load()
    if is_main_process():
        plan.save()
        for name in ("checkpoint", "checkpoint-best"):
            tokenizer.save_pretrained(folder / name, model.config.max_tokens)
    say(f"seed {seed}: {steps:,} steps, {trainer.precision} on {trainer.device}")
    progress = trainer.run(resume=resume)
    if trainer.stopped:
        return None
    if not is_main_process():
        return {}
    best = type(model).from_pretrained(folder / "checkpoint-best").to(trainer.torch_device)
    about = {"seed": seed, "seconds": round(progress.seconds, 1), "steps": progress.step, "tokens": progress.tokens}
    about["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    return {**about, **describe_machine(trainer), **judge(best, task, validation, test, folder)}


def judge(
    best: PretrainedModel, task: FinetuningTask, validation: Sequence[Any], test: Sequence[Any], folder: Path
) -> dict[str, Any]:
    """The figures of the best weights on validation and test, and the one that chose them. What they say to each row
    of the last of both goes into predictions.jsonl.

    What validation decides besides (a threshold) is carried to the test and kept in the config of the weights.
    """
    if isinstance(best, TaskModel) and best.settle():
        best.save_pretrained(folder / "checkpoint-best")
    predictions = task.predictions(best, validation)
    decided = task.decide(validation, predictions)
    if decided:
        best.task_config = replace(best.task_config, **decided)  # type: ignore[arg-type]
        best.save_pretrained(folder / "checkpoint-best")
    found: dict[str, Any] = {"chosen_by": task.best_by, "decided": decided}
    found["validation"] = task.figures(validation, predictions, **decided)
    rows = validation
    if test:
        rows, predictions = test, task.predictions(best, test)
        found["test"] = task.figures(test, predictions, **decided)
    explained = task.explain(rows, predictions, **decided)
    write_text(folder / PREDICTIONS, "".join(to_json(row) + "\n" for row in explained))
    return {**found, "quality": task.quality(found["validation"])}


def spread(figures: Sequence[dict[str, float]]) -> Figures:
    """Mean and standard deviation of each figure over the seeds (0 for a single one).

    A figure that a seed lacks is 0: the F1 of a type of entity of which it had nothing to find and found nothing.
    """
    names = dict.fromkeys(name for run in figures for name in run)
    together = {name: [run.get(name, 0.0) for run in figures] for name in names}
    return {
        name: {"mean": mean(values), "deviation": stdev(values) if len(values) > 1 else 0.0}
        for name, values in together.items()
    }


def copy_checkpoint(source: Path, target: Path) -> None:
    """Copy a checkpoint's files, the weights last, so that a folder with weights is whole."""
    for path in sorted(source.iterdir(), key=lambda path: path.suffix == ".safetensors"):
        copy_file(path, target / path.name)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    with replacing(target) as beside:
        shutil.copyfile(source, beside)
