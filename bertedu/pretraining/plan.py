"""What a run is asked to do: from the options of the command line, or from the run.json of a run to go on with."""

from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, Self, get_type_hints

from bertedu.checkpoints.folder import find_folder
from bertedu.errors import UserError
from bertedu.files import read_json, write_json
from bertedu.json_values import check_object
from bertedu.model.architecture import architecture_in
from bertedu.pretraining.on_a_gpu import defaults_of_device, sizes_on_device
from bertedu.pretraining.settings import LEARNING_RATES, OPTIMIZERS, TRAINING, PretrainingSettings, rate_of_size
from bertedu.registry import OBJECTIVES
from bertedu.training.budget import Budget
from bertedu.training.run_folder import PLAN, refuse_another_folder, refuse_other_run, unused_folder
from bertedu.training.settings import TrainingSettings, take

# Where there is one to go on from, or to learn from.
VOCABULARY = ("vocab_size", "cased")
SET_BY_THE_MODEL = ("architecture", "preset", *VOCABULARY, "initialization")
MODELS = {"start": "--from", "teacher": "--teacher"}


@dataclass(frozen=True)
class Plan:
    """A corpus (as `corpora.load_corpus` takes it), the settings, how long, and the folder for the results."""

    corpus: tuple[str, ...]
    settings: PretrainingSettings
    training: TrainingSettings
    budget: Budget
    folder: Path
    resume: bool = False

    @classmethod
    def from_options(cls, **options: Any) -> Self:
        """A plan from options by their names; None means the default for the preset.

        With resume=FOLDER the options of that run are taken, changed by those given now. Raises UserError
        for options that cannot be.
        """
        given = {name: value for name, value in options.items() if value is not None and value != ()}
        weighs_pairs = "pair_weight" in given
        free = VOCABULARY if given.get("new_vocabulary") else ()
        for model, name in product(MODELS, (name for name in SET_BY_THE_MODEL if name not in free)):
            if model in given and name in given:
                option, names = f"--{name.replace('_', '-')}", MODELS[model]
                more = ", or add --new-vocabulary" if model == "start" and name in VOCABULARY else ""
                raise UserError(
                    f"{option} is set by the model that {names} names: leave {option} out, or {names}{more}."
                )
        folder = given.pop("resume", None)
        resume = folder is not None
        if folder is not None:
            refuse_another_folder(folder, given)
            given = {**cls.read(folder), **given}
        corpus, seed = tuple(given.pop("corpus", ("documentation",))), given.pop("seed", 0)
        budget = {name: given.pop(name, None) for name in ("minutes", "tokens", "steps")}
        if all(value is None for value in budget.values()):
            budget["minutes"] = 5
        preset = given.setdefault("preset", "tiny")
        if budget["minutes"] is not None and not resume:
            given = {**sizes_on_device(preset, given.get("device", "auto")), **given}
        if given.get("start") and "architecture" not in given:
            given["architecture"] = architecture_in(find_folder(given["start"])).config.model_type
        settings = PretrainingSettings.for_preset(seed=seed, **take(given, PretrainingSettings))
        if weighs_pairs and not OBJECTIVES[settings.objective].of_pairs:
            raise UserError(
                f"pair_weight is given, and the objective {settings.objective!r} has no pairs: leave --pair-weight out."
            )
        of = "" if settings.architecture == "bert" else f"{settings.architecture}-"
        stem = Path(corpus[0].replace(":", "-")).stem
        folder = given.pop("output", folder) or unused_folder(f"{stem}-{of}{preset}")
        rate, optimizer = LEARNING_RATES[preset], OPTIMIZERS[settings.initialization]
        if source := settings.start or settings.teacher:  # a student is as wide as its teacher
            size = architecture_in(find_folder(source)).config.load(find_folder(source))
            rate = rate_of_size(size.num_hidden_layers, size.hidden_size)
        training = {"learning_rate": rate, "optimizer": optimizer, **TRAINING.get(preset, {})}
        training |= {**defaults_of_device(given.get("device", "auto")), **take(given, TrainingSettings), "seed": seed}
        if given:
            raise UserError(f"there is no option {next(iter(given))!r}.")
        settings_of_training = TrainingSettings(**training)
        settings_of_training.check_machine()
        return cls(corpus, settings, settings_of_training, Budget(**budget), Path(folder), resume)

    def save(self) -> None:
        """Write run.json into the folder."""
        values = {"corpus": self.corpus, **asdict(self.settings), **asdict(self.training), **asdict(self.budget)}
        write_json(self.folder / PLAN, values)

    @staticmethod
    def read(folder: str | Path) -> dict[str, Any]:
        """The options in a run folder's run.json. Raises UserError where it has none."""
        path = Path(folder) / PLAN
        if not path.exists():
            raise UserError(f"{folder} has no {PLAN}: give a folder that `bertedu pretrain` wrote.")
        kinds = (PretrainingSettings, TrainingSettings, Budget)
        types = {name: kind for of in kinds for name, kind in get_type_hints(of).items()}
        values = check_object(read_json(path, finite=True), {}, path)
        refuse_other_run(Path(folder), values, "pretrain")
        check_object(values, {"corpus": list[str], **types}, path)
        return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
