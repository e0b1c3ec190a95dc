"""A model as a folder, config.json + model.safetensors, that `transformers` opens as it is, and the way back.

Weights are safetensors: numbers only. Nothing is unpickled, since a pickle can run any program.
"""

import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch
from huggingface_hub import snapshot_download
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from bertedu.checkpoints.names import NameMap, unwrapped
from bertedu.checkpoints.weights import SHARDS, WEIGHTS, check_weights, read_weights
from bertedu.config import architecture_of
from bertedu.errors import UserError
from bertedu.files import replacing

GENERATOR = "generator"  # the folder beside a discriminator's files that holds the model it was trained with
HUB_ID = re.compile(r"([A-Za-z0-9_][\w.-]{0,95}/)?[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)


class Trained(NamedTuple):
    """Weights that a model must not lack, by how their names begin ("": all), and what it does with them, in words."""

    weights: str
    does: str


def save_tensors(path: str | Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write one safetensors file, whole or not at all. Tensors that share memory must be given once."""
    with replacing(path) as beside:
        _write_tensors(beside, tensors, metadata)


def _write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    try:
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, path, metadata)
        path.chmod(0o644)  # the library makes files that only their owner can read
    except SafetensorError as error:  # how the library reports a full disk
        raise OSError(str(error)) from error


def save_model(model: Any, folder: str | Path, names: NameMap, class_name: str) -> None:
    """Write config.json and model.safetensors under the names of `transformers`; class_name is the model's there.

    An older checkpoint in the folder stays as it is until the new one is written.
    """
    tensors = {
        names.to_transformers(name, model.encoder_name, model.kind): tensor
        for name, tensor in model.state_dict().items()
        if not names.is_tied(name)
    }
    with replacing(Path(folder) / WEIGHTS) as beside:
        _write_tensors(beside, tensors, metadata={"format": "pt"})
        model.config.save(folder, class_name, model.task_config)


def load_weights(model: Any, folder: Path, names: NameMap, trained: Trained | None = None) -> None:
    """Fill a model with the weights in a folder, the encoder's written with or without their prefix.

    Numbers of another type (float16, bfloat16) become the model's own. Weights of a head or of the pooler that the
    file lacks stay as they are and are named in a warning, as are weights that the model has no place for. Raises
    UserError where the encoder's are missing or misshaped, and those that must be trained are missing.
    """
    tensors, path = read_weights(folder)
    places = model.state_dict()
    saved = {name: tensor for name, tensor in tensors.items() if not names.is_dropped(name)}
    check_weights(saved, path)
    saved = without_wrappers(saved, names, model, path)
    found: dict[str, Tensor] = {}
    first: dict[str, str] = {}  # the name in the file under which each weight was found
    for name, tensor in saved.items():
        possible = names.places(name, model.encoder_name, model.kind)
        place = next((place for place in possible if place in places), possible[-1])
        if not torch.equal(found.setdefault(place, tensor), tensor):
            raise UserError(f"{path}: {first[place]} and {name} are two names of one weight and differ: remove one.")
        first.setdefault(place, name)
    fitting = {name: tensor for name, tensor in found.items() if name in places}
    _refuse_misfits(fitting, places, str(path))
    with torch.no_grad():
        for name, tensor in fitting.items():
            places[name].copy_(tensor)
    _tell_missing(model, places, set(fitting), path, trained)
    if unexpected := [name for name in found if name not in places]:
        warnings.warn(f"{path}: no place in this model for {_names(unexpected)}: left out.", stacklevel=3)


def without_wrappers(saved: dict[str, Tensor], names: NameMap, model: Any, path: Path) -> dict[str, Tensor]:
    """The weights without what was put before their names when the model was wrapped in another one.

    Raises UserError where the file holds the encoders of several models, since it cannot be known which is meant.
    """
    encoder = getattr(model, model.encoder_name) if model.encoder_name else model
    table = names.to_transformers(next(iter(encoder.state_dict())))
    outer = names.wrappers(saved, table)
    if len(outer) > 1:
        raise UserError(
            f"{path} holds several encoders ({', '.join(f'{name}{table}' for name in sorted(outer)[:4])}): save the "
            "one that is meant by itself."
        )
    wrapper = next(iter(outer), "")
    return {unwrapped(name).removeprefix(wrapper): tensor for name, tensor in saved.items()}


def _tell_missing(
    model: Any, places: dict[str, Tensor], fitting: set[str], origin: Path, trained: Trained | None
) -> None:
    """Name what the file lacks, in a warning, or in an error where it is the encoder's or must be trained."""
    filled = {places[name].data_ptr() for name in fitting}
    missing = [name for name, tensor in places.items() if tensor.data_ptr() not in filled]
    if lost := [name for name in missing if model.depth(name) <= model.config.num_hidden_layers]:
        raise UserError(f"{origin} lacks {_names(lost)}: it is not a whole encoder; give the folder of one.")
    if trained and (untrained := [name for name in missing if name.startswith(trained.weights)]):
        kind = architecture_of(origin.parent) or "model without a name"
        raise UserError(
            f"{origin.parent} holds a {kind}, whose weights lack {_names(untrained)}: give a model that {trained.does}."
        )
    if missing:
        warnings.warn(f"{origin} lacks {_names(missing)}: they start untrained.", stacklevel=4)


def _refuse_misfits(fitting: dict[str, Tensor], places: dict[str, Tensor], origin: str) -> None:
    misshaped = [
        f"{name} {list(tensor.shape)} instead of {list(places[name].shape)}"
        for name, tensor in fitting.items()
        if tensor.shape != places[name].shape
    ]
    if misshaped:
        raise UserError(f"{origin}: {_names(misshaped)}: config.json and the weights are not of the same model.")
    first: dict[int, str] = {}  # where each piece of memory is filled from
    for name, tensor in fitting.items():
        twin = first.setdefault(places[name].data_ptr(), name)
        if not torch.equal(fitting[twin], tensor):
            raise UserError(
                f"{origin}: {twin} and {name} differ, and here they are one: give a model with a tied decoder."
            )


def _names(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def may_be_on_the_hub(name: str) -> bool:
    """Whether a name can be a model of the hub: NAME or USER/NAME, and not the path of what was expected here.

    A path is what ends in a separator, lies in a folder that is here, or in runs/, where runs are written.
    """
    user = name.partition("/")[0]
    return HUB_ID.fullmatch(name) is not None and ("/" not in name or (user != "runs" and not Path(user).is_dir()))


def find_folder(name: str | Path) -> Path:
    """The folder that `name` means: a folder, a run folder with its checkpoint/, or a hub id, which is fetched."""
    folder = Path(name)
    for candidate in (folder, folder / "checkpoint"):
        if (candidate / "config.json").is_file():
            return candidate
    if folder.exists():
        raise UserError(f"{folder} holds no config.json: give the folder of a saved model.")
    if not may_be_on_the_hub(str(name)):
        raise UserError(f"{folder} does not exist: give a saved model's folder, or a hub id such as bert-base-uncased.")
    try:
        return Path(snapshot_download(str(name), allow_patterns=["*.json", "*.txt", WEIGHTS, SHARDS]))
    except Exception as error:  # the hub library raises many kinds; all mean that the model cannot be had
        raise UserError(
            f"{name} is neither a folder nor a model that the hub hands out now ({type(error).__name__}): "
            "check the name and the network."
        ) from error
