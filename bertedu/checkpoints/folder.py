"""A model as a folder, config.json + model.safetensors, that `transformers` opens as it is, and the way back.

Weights are safetensors: numbers only. Nothing is unpickled, since a pickle can run any program.
"""

import re
import warnings
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from bertedu.checkpoints.names import NameMap
from bertedu.checkpoints.weights import check_weights
from bertedu.errors import UserError
from bertedu.files import refuse_special, replacing

WEIGHTS = "model.safetensors"
GENERATOR = "generator"  # the folder beside a discriminator's files that holds the model it was trained with
HUB_ID = re.compile(r"([A-Za-z0-9_][\w.-]{0,95}/)?[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
PICKLE = "pytorch_model.bin"  # how weights were kept before safetensors


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


def read_tensors(path: str | Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file. Raises UserError when it is missing or damaged."""
    refuse_special(path)
    try:
        return load_file(path)
    except FileNotFoundError:
        raise UserError(f"{path} is missing: give the folder of a saved model.") from None
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} is damaged or cut short ({error}): copy or save the checkpoint again.") from error


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


def load_weights(model: Any, folder: Path, names: NameMap) -> None:
    """Fill a model with the weights in a folder, the encoder's written with or without their prefix.

    Numbers of another type (float16, bfloat16) become the model's own. Weights of a head or of the pooler that the
    file lacks stay as they are and are named in a warning, as are weights that the model has no place for. Raises
    UserError where the encoder's are missing or misshaped.
    """
    path = folder / WEIGHTS
    if not path.is_file():
        raise UserError(
            f"{folder} holds no {WEIGHTS}: give the folder of a saved model; if its weights are in {PICKLE} (a "
            "pickle, which can run any program and is never unpickled here), open it in transformers with "
            "AutoModelForPreTraining.from_pretrained and save it anew with save_pretrained."
        )
    places = model.state_dict()
    saved = {name: tensor for name, tensor in read_tensors(path).items() if not names.is_dropped(name)}
    check_weights(saved, path)
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
    _tell_missing(model, places, set(fitting), str(path))
    if unexpected := [name for name in found if name not in places]:
        warnings.warn(f"{path}: no place in this model for {_names(unexpected)}: left out.", stacklevel=3)


def _tell_missing(model: Any, places: dict[str, Tensor], fitting: set[str], origin: str) -> None:
    """Name what the file lacks, in a warning, or in an error where it is the encoder's."""
    filled = {places[name].data_ptr() for name in fitting}
    missing = [name for name, tensor in places.items() if tensor.data_ptr() not in filled]
    if lost := [name for name in missing if model.depth(name) <= model.config.num_hidden_layers]:
        raise UserError(f"{origin} lacks {_names(lost)}: it is not a whole encoder; give the folder of one.")
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
        return Path(snapshot_download(str(name), allow_patterns=["*.json", "*.txt", WEIGHTS]))
    except Exception as error:  # the hub library raises many kinds; all mean that the model cannot be had
        raise UserError(
            f"{name} is neither a folder nor a model that the hub hands out now ({type(error).__name__}): "
            "check the name and the network."
        ) from error
