"""A checkpoint in float16 files that are small enough to be brought back, and that is whole at every moment.

Weights are cut into files of at most 15 MB, with the index that `transformers` and this course read. New files get new
names; then the index, which is replaced as a whole, names them, and only then the old ones go. So whoever ends the
process between two writes finds the old checkpoint or the new one, never half of each.
"""

from pathlib import Path

import torch
from torch import Tensor

from bertedu.checkpoints.folder import save_tensors
from bertedu.checkpoints.weights import INDEX
from bertedu.files import write_json
from bertedu.model import BertForPreTraining
from bertedu.model.architecture import architecture
from bertedu.tokenization import BertTokenizer

MOST_BYTES = 15_000_000  # of a file


def save_checkpoint(model: BertForPreTraining, tokenizer: BertTokenizer, folder: Path, step: int) -> None:
    """Write config.json, the vocabulary, the weights and their index."""
    member = architecture(model.config.model_type)
    tensors = {
        member.names.to_transformers(name, model.encoder_name, model.kind): tensor.detach().to("cpu", torch.float16)
        for name, tensor in model.state_dict().items()
        if not member.names.is_tied(name)
    }
    if not (folder / "config.json").is_file():
        model.config.save(folder, member.class_name(model.kind), model.task_config)
        tokenizer.save_pretrained(folder, model.config.max_tokens)
    parts = cut(tensors)
    files = [f"weights-{step}-{number}-of-{len(parts)}.safetensors" for number in range(1, len(parts) + 1)]
    for file, part in zip(files, parts, strict=True):
        save_tensors(folder / file, part, {"format": "pt"})
    where = {name: file for file, part in zip(files, parts, strict=True) for name in part}
    write_json(folder / INDEX, {"metadata": {"total_size": sum(map(size, tensors.values()))}, "weight_map": where})
    for old in folder.glob("weights-*.safetensors"):
        if old.name not in files:
            old.unlink()


def cut(tensors: dict[str, Tensor]) -> list[dict[str, Tensor]]:
    """The tensors in their order, in parts of at most MOST_BYTES (or of one tensor that is larger)."""
    parts: list[dict[str, Tensor]] = [{}]
    for name, tensor in tensors.items():
        if parts[-1] and sum(map(size, parts[-1].values())) + size(tensor) > MOST_BYTES:
            parts.append({})
        parts[-1][name] = tensor
    return parts


def size(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
