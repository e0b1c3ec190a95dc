"""The weights in a folder: which files hold them, and what they must be before any of them is used: finite floats, and
as many as the model has.
"""

from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from bertedu.errors import UserError, shown
from bertedu.files import read_json_object, refuse_special

WEIGHTS = "model.safetensors"
INDEX = f"{WEIGHTS}.index.json"  # says which file holds which weight, where a model is cut into several
SHARDS = "model-*.safetensors"  # how `transformers` calls those
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
HEAD = 10_000_000  # weights that a new head may add to those in a file
PICKLE = (
    "a pickle, which can run any program and is never unpickled here: open it in transformers with "
    "AutoModelForPreTraining.from_pretrained and save it anew with save_pretrained"
)
OTHER = "the format of another library: open it in transformers 4 with from_tf=True or from_flax=True and save it anew"
ADAPTER = "an adapter without its model: merge both with merge_and_unload() of peft and save the result"
# What a folder may hold in place of WEIGHTS, and what can be done about it.
ELSEWHERE = {
    "pytorch_model.bin": PICKLE,
    "pytorch_model.bin.index.json": f"the index of {PICKLE}",
    "pytorch_model-*.bin": PICKLE,
    "adapter_model.*": ADAPTER,
    "tf_model.h5": OTHER,
    "flax_model.msgpack": OTHER,
    SHARDS: f"a part of a model whose {INDEX} is missing: copy all files of the folder again",
    "*.safetensors": f"weights under another name: call them {WEIGHTS} where they are the ones that you mean",
}


def read_tensors(path: str | Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file. Raises UserError when it is missing or damaged."""
    refuse_special(path)
    try:
        return load_file(path)
    except FileNotFoundError:
        raise UserError(f"{path} is missing: give the folder of a saved model.") from None
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} is damaged or cut short ({error}): copy or save the checkpoint again.") from error


def weight_files(folder: Path) -> list[Path]:
    """The files that hold the weights of a folder: model.safetensors, or those that the index beside it names.

    Raises UserError where there are none, naming what there is, and where one of them is missing.
    """
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if not (folder / INDEX).is_file():
        found = ((path.name, what) for name, what in ELSEWHERE.items() for path in sorted(folder.glob(name)))
        name, what = next(found, ("", ""))
        instead = f"; it has {name} ({what})" if name else ""
        raise UserError(f"{folder} holds no {WEIGHTS}: give the folder of a saved model{instead}.")
    path = folder / INDEX
    places = read_json_object(path, {"weight_map": dict[str, str]}).get("weight_map") or {}
    names = sorted(set(places.values()))
    if strange := [name for name in names if Path(name).name != name]:
        raise UserError(f"{path}: weight_map has {shown(strange[0])}: name files beside it.")
    if not names:
        raise UserError(f"{path}: weight_map names no file: fetch or save the model again.")
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise UserError(
            f"{path} names {len(names)} files, and {len(missing)} of them are missing ({', '.join(missing[:4])}): copy "
            "the whole folder again."
        )
    return [folder / name for name in names]


def read_weights(folder: Path) -> tuple[dict[str, Tensor], Path]:
    """All weights of a folder, and the file to name where something is wrong with them: the index, where there is one.

    Raises UserError for a weight that two files have, and for one that the index names and no file has.
    """
    files = weight_files(folder)
    tensors: dict[str, Tensor] = {}
    for path in files:
        for name, tensor in read_tensors(path).items():
            if name in tensors:
                raise UserError(f"{path}: {name} stands in another file of {INDEX} too: save the model again.")
            tensors[name] = tensor
    if files == [folder / WEIGHTS]:
        return tensors, files[0]
    places = read_json_object(folder / INDEX, {"weight_map": dict[str, str]})["weight_map"]
    if lost := [name for name in places if name not in tensors]:
        raise UserError(f"{folder / places[lost[0]]} lacks {lost[0]}, which {INDEX} has there: copy the folder again.")
    return tensors, folder / INDEX


def check_weights(tensors: dict[str, Tensor], path: Path) -> None:
    """Raise UserError for weights that are of another type than floats, NaN or infinite (also as float32), and for
    those of an adapter that was not merged.
    """
    for name, tensor in tensors.items():
        if "lora_" in name:
            raise UserError(
                f"{path}: {name} is of an adapter: merge it with merge_and_unload() of peft and save again."
            )
        if tensor.dtype not in FLOATS:
            raise UserError(
                f"{path}: {name} is of the type {str(tensor.dtype).removeprefix('torch.')}: weights are float32, "
                "float16, bfloat16 or float64 here; save them so."
            )
        if not torch.isfinite(tensor.float()).all():
            raise UserError(f"{path}: {name} holds infinite numbers or NaN: take an earlier checkpoint.")


def check_size(build: Callable[[], nn.Module], folder: Path) -> None:
    """Raise UserError where the model of config.json is far larger than its weights, before memory is taken for it."""
    files = weight_files(folder)
    with torch.device("meta"):  # shapes without numbers
        wanted = sum(parameter.numel() for parameter in build().parameters())
    room = sum(path.stat().st_size for path in files) // 2  # bytes of the smallest numbers
    if wanted > 2 * room + HEAD:
        raise UserError(
            f"{', '.join(map(str, files[:4]))} has room for {room:,} numbers, and the model of the config.json beside "
            f"it has {wanted:,}: config.json and the weights are not of the same model."
        )
