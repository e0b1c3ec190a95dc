"""What a fine-tuning run is asked to do: from the options of the command line, or from run.json."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self, get_type_hints

from bertedu.checkpoints.folder import find_folder
from bertedu.errors import UserError
from bertedu.files import read_json, write_json
from bertedu.finetuning import recipe
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.json_values import check_object
from bertedu.model.architecture import architecture_in
from bertedu.registry import TASKS
from bertedu.training.run_folder import PLAN, refuse_another_folder, refuse_other_run, unused_folder
from bertedu.training.settings import TrainingSettings, take

MOST_SEEDS = 1000
MOST_LOOKS = 10  # at the validation rows


@dataclass(frozen=True)
class FinetuningPlan:
    """A task by its name, a model to start from, data, settings, seeds, and the folder for the results.

    validation may be left out: then a tenth of the data is taken away for it. test is looked at once, at the end.
    chosen names the settings that no option gave and that model or data decided (`recipe.py`), each with the reason.
    passes_open: how many passes is not decided yet, since that takes the texts.
    """

    task: str
    model: str
    data: str
    settings: FinetuningSettings
    training: TrainingSettings
    folder: Path
    validation: str | None = None
    test: str | None = None
    seeds: int = 1
    resume: bool = False
    chosen: dict[str, str] = field(default_factory=dict)
    passes_open: bool = False

    @classmethod
    def from_options(cls, task_settings: dict[str, Any], **options: Any) -> Self:
        """A plan from options by their names; None means the default. task_settings are the task's own defaults.

        With resume=FOLDER the options of that run are taken, changed by those given now.
        """
        given = {name: value for name, value in options.items() if value is not None}
        folder = given.pop("resume", None)
        if folder is not None:
            refuse_another_folder(folder, given)
            begun = cls.read(folder)
            if given.get("seed", begun["seed"]) != begun["seed"]:
                raise UserError(f"{folder} began with seed {begun['seed']}: leave --seed out, or start a new run.")
            begun["chosen"] = {name: why for name, why in begun.get("chosen", {}).items() if name not in given}
            given = {**begun, **given}
        for name in ("task", "model", "data"):
            if name not in given:
                raise UserError(f"there is no {name}: say which, as in --{name} …")
        task, model, data = (str(given.pop(name)) for name in ("task", "model", "data"))
        seeds = int(given.pop("seeds", 1))
        if not 1 <= seeds <= MOST_SEEDS:
            raise UserError(f"seeds is {seeds}: give the number of runs, from 1 to {MOST_SEEDS:,}.")
        output = Path(given.pop("output", None) or folder or unused_folder(f"{task}-{stem(data)}"))
        validation, test = given.pop("validation", None), given.pop("test", None)
        folder_of_model = find_folder(model)
        config = architecture_in(folder_of_model).config.load(folder_of_model)
        chosen, passes_open = given.pop("chosen", {}), "epochs" not in given
        for name, (value, why) in recipe.of_model(config.hidden_size, TASKS[task].options).items():
            if name not in task_settings and name not in given:
                given[name], chosen[name] = value, why
        defaults = {**task_settings}
        defaults["max_length"] = min(defaults.get("max_length", 128), config.max_tokens)
        settings = FinetuningSettings(**{**defaults, **take(given, FinetuningSettings)})
        check_known(task, settings)
        if settings.pooling == "last four layers" and config.num_hidden_layers < 4:
            raise UserError(
                f"{model} has {config.num_hidden_layers} layers, and pooling 'last four layers' needs four: choose "
                "another --pooling, such as mean."
            )
        if settings.max_length > (positions := config.max_tokens):
            raise UserError(
                f"max_length is {settings.max_length}, and {model} has {positions} positions: give at most {positions}."
            )
        defaults = {"warmup": 0.1, "betas": (0.9, 0.999), "validations": looks(settings.epochs)}
        training = TrainingSettings(**{**defaults, **take(given, TrainingSettings), "seed": settings.seed})
        training.check_machine()
        if given:
            raise UserError(f"there is no option {next(iter(given))!r}.")
        resume = folder is not None
        return cls(task, model, data, settings, training, output, validation, test, seeds, resume, chosen, passes_open)

    def settled(self, hidden_size: int, tokens: int) -> Self:
        """The plan with as many passes as suit training texts of so many tokens."""
        epochs, why = recipe.passes(hidden_size, tokens)
        settings = replace(self.settings, epochs=epochs)
        training = replace(self.training, validations=looks(epochs))
        chosen = {**self.chosen, "epochs": why}
        return replace(self, settings=settings, training=training, chosen=chosen, passes_open=False)

    def say_chosen(self, say: Callable[[str], None]) -> None:
        """Say what was chosen, and why."""
        values = {**asdict(self.training), **asdict(self.settings)}
        for name, why in self.chosen.items():
            say(f"  {name.replace('_', ' ')} {values[name]}: {why}")

    def save(self) -> None:
        """Write run.json into the folder."""
        own = ("task", "model", "data", "validation", "test", "seeds", "chosen")
        values = {name: getattr(self, name) for name in own}
        write_json(self.folder / PLAN, {**values, **asdict(self.training), **asdict(self.settings)})

    @staticmethod
    def read(folder: str | Path) -> dict[str, Any]:
        """The options in a run folder's run.json. Raises UserError where there is none of a fine-tuning run."""
        path = Path(folder) / PLAN
        own = {name: str for name in ("task", "model", "data")}
        types = {**own, "validation": str | None, "test": str | None, "seeds": int, "chosen": dict[str, str]}
        for settings in (TrainingSettings, FinetuningSettings):
            types |= get_type_hints(settings)
        values = read_json(path, finite=True) if path.exists() else {}
        values = check_object(values, {}, path)
        refuse_other_run(Path(folder), values, "finetune")
        check_object(values, types, path)
        if missing := {*own, "seed"} - values.keys():
            raise UserError(
                f"{folder} holds no {PLAN} of a fine-tuning run ({', '.join(sorted(missing))} is missing): give a "
                "folder that `bertedu finetune` wrote."
            )
        return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def check_known(task: str, settings: FinetuningSettings) -> None:
    """Raise UserError for a setting that is not the default and that the task does not know."""
    for name, tasks in known_to().items():
        if task not in tasks and getattr(settings, name) != getattr(FinetuningSettings, name):
            known = " and ".join([", ".join(tasks[:-1]), tasks[-1]] if len(tasks) > 1 else tasks)
            raise UserError(f"--{name.replace('_', '-')} is for {known}, and {task} does not know it: leave it out.")


def known_to() -> dict[str, list[str]]:
    """The settings that only some tasks know, and which: with others they would say nothing."""
    names = dict.fromkeys(name for task in TASKS.values() for name in task.options)
    return {name: [task for task in TASKS if name in TASKS[task].options] for name in names}


def stem(data: str) -> str:
    """A name for data: the file's or folder's, without its endings."""
    return Path(data.rpartition(":")[2]).name.split(".")[0] or "data"


def looks(epochs: float) -> int:
    """How often to look at the validation rows: twice in a pass, and not for ever."""
    return max(1, min(MOST_LOOKS, round(2 * epochs)))
