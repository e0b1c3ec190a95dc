"""Smaller models: attention heads and layers are removed from a model that has learned its task.

Which heads matter: Michel et al. 2019, section 4.1 ("Are sixteen heads really better than one?"). A removed head is
gone for good: its rows of the query, key and value matrices and its columns of the output matrix, so that the products
are smaller. A config.json has one number of heads for all layers and a head size of D / H, so it can describe a model
with fewer layers and not one with fewer heads: `save_pruned` writes the numbers of heads into a file beside it.
Shapes: B batch, T tokens, D hidden size, H heads of a layer, d size of a head, L layers, C classes.
"""

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from bertedu.checkpoints.folder import find_folder, load_weights
from bertedu.config import TaskConfig
from bertedu.errors import UserError
from bertedu.files import read_json_object, write_json
from bertedu.model.architecture import architecture_in
from bertedu.model.attention import SelfAttention
from bertedu.model.evaluating import evaluating
from bertedu.model.pretrained import PretrainedModel

PRUNED = "pruned.json"
Model = TypeVar("Model", bound=PretrainedModel)
Heads = Mapping[int, Collection[int]]  # numbers of heads by the number of their layer, both from 0


def attentions_of(model: PretrainedModel) -> list[SelfAttention]:
    """The attention of each layer. Raises UserError for a member of the family whose attention is another."""
    found = [module for module in model.modules() if type(module) is SelfAttention]
    if len(found) != model.config.num_hidden_layers:
        raise UserError(
            f"a model of the type {model.config.model_type!r} cannot be pruned: give one whose layers have BERT's "
            "attention, each with weights of its own (BERT, RoBERTa, DistilBERT, ELECTRA)."
        )
    return found


@contextmanager
def gated(model: PretrainedModel, gates: Sequence[Tensor]) -> Iterator[None]:
    """Inside the block each head's mixed values are multiplied by its gate: 1 changes nothing, 0 ablates the head.

    gates: for each layer [H], or [B, H] with a gate for each text.
    """

    def gate_of(layer: int) -> Callable[..., tuple[Tensor]]:
        def multiply(_module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
            gate = gates[layer]
            heads = inputs[0].unflatten(-1, (gate.size(-1), -1))  # [B, T, D] -> [B, T, H, d]
            gate = gate if gate.dim() == 1 else gate.unsqueeze(1)  # [H] or [B, 1, H]
            return ((heads * gate.unsqueeze(-1)).flatten(-2),)

        return multiply

    with ExitStack() as stack:
        for number, attention in enumerate(attentions_of(model)):
            stack.enter_context(attention.output.register_forward_pre_hook(gate_of(number)))
        yield


def head_importance(
    model: PretrainedModel, batches: Iterable[Any], losses: Callable[[PretrainedModel, Any], Tensor]
) -> list[Tensor]:
    """How much the loss of a text changes with each head's gate, |∂loss / ∂gate|, the mean over all texts: [H] a layer.

    losses(model, batch) gives the losses of a batch's texts, summed; batches have "input_ids" [B, T]. Each text has
    gates of its own, so that gradients of unlike sign do not cancel. Dropout is off, the weights keep their gradients.
    Raises UserError where there is no text.
    """
    attentions, texts = attentions_of(model), 0
    totals = [torch.zeros(attention.num_heads) for attention in attentions]
    with evaluating(model) as device:
        for batch in batches:
            size = len(batch["input_ids"])
            gates = [torch.ones(size, one.num_heads, device=device, requires_grad=True) for one in attentions]
            with gated(model, gates):
                slopes = torch.autograd.grad(losses(model, batch), gates)  # [B, H] for each layer
            totals = [total + slope.abs().sum(dim=0).cpu() for total, slope in zip(totals, slopes, strict=True)]
            texts += size
    if not texts:
        raise UserError("there is no text to measure the importance of heads on: give at least one batch.")
    return [total / texts for total in totals]


def least_important(importance: Sequence[Tensor], share: float) -> dict[int, tuple[int, ...]]:
    """The heads to remove: this share of all heads, the least important first; each layer keeps its best head.

    Importances are compared between layers after division by their layer's norm (section 4.1 there, after Molchanov
    et al. 2017). Raises UserError for a share that is not from 0 up to 1, or that would empty a layer.
    """
    total = sum(len(layer) for layer in importance)
    count = round(share * total) if 0 <= share < 1 else -1
    if not 0 <= count <= total - len(importance):
        raise UserError(
            f"share is {share!r}: of these {total} heads in {len(importance)} layers at most "
            f"{total - len(importance)} can be removed, since each layer keeps one; give a share from 0 to "
            f"{1 - len(importance) / total:.2f}."
        )
    ranked = []
    for layer, values in enumerate(importance):
        scaled = values / values.norm().clamp_min(1e-20)
        best = int(scaled.argmax())
        ranked += [(float(value), layer, head) for head, value in enumerate(scaled) if head != best]
    chosen = sorted(ranked)[:count]
    return {layer: tuple(sorted(head for _, at, head in chosen if at == layer)) for layer in range(len(importance))}


def remove_heads(model: Model, heads: Heads) -> Model:
    """A copy of a model without these heads; it says what the model says with their gates at 0.

    A layer without H' of its H heads has query, key and value matrices [(H - H')·d, D] and an output matrix
    [D, (H - H')·d]. Raises UserError for a head or layer that is not there, and where a layer would keep none.
    """
    smaller = copy.deepcopy(model)
    attentions = attentions_of(smaller)
    for layer, removed in heads.items():
        if not 0 <= layer < len(attentions):
            raise UserError(f"there is no layer {layer}: give numbers from 0 to {len(attentions) - 1}.")
        count = attentions[layer].num_heads
        if not all(0 <= head < count for head in removed):
            raise UserError(f"layer {layer} has the heads 0 to {count - 1}, and not all of {sorted(removed)}.")
        kept = [head for head in range(count) if head not in removed]
        if not kept:
            raise UserError(f"layer {layer} would keep no head: leave it one, or remove the layer.")
        keep_heads(attentions[layer], kept)
    return smaller


@torch.no_grad()
def keep_heads(attention: SelfAttention, kept: Sequence[int]) -> None:
    """Cut one layer's attention down to these of its heads."""
    size = attention.query.out_features // attention.num_heads
    rows = torch.cat([torch.arange(head * size, (head + 1) * size) for head in kept])
    for name in ("query", "key", "value", "output"):
        old = getattr(attention, name)
        if name == "output":  # its bias is no head's
            weight, bias = old.weight[:, rows], old.bias
        else:
            weight, bias = old.weight[rows], old.bias[rows]
        setattr(attention, name, linear(weight, bias))
    attention.num_heads = len(kept)


def linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """A layer with copies of these weights [out, in] and this bias [out]."""
    made = nn.Linear(weight.size(1), weight.size(0), device=weight.device, dtype=weight.dtype)
    made.weight.copy_(weight)
    made.bias.copy_(bias)
    return made


def remove_layers(model: Model, kept: Sequence[int]) -> Model:
    """A copy of a model with only these of its layers, in this order, counted from 0: range(k) keeps the lower k.

    What stands above reads the last layer that is kept (Sajjad et al. 2023 compare which to keep: the lower ones do
    best). It is a model like others: saved, opened by `transformers`, exported. Raises UserError for no layer, and for
    one that is not there or stands in kept twice or out of order.
    """
    attentions_of(model)
    total, kept = model.config.num_hidden_layers, list(kept)
    if not kept or kept != sorted(set(kept)) or not 0 <= kept[0] <= kept[-1] < total:
        raise UserError(f"the layers to keep are {kept}: give rising numbers from 0 to {total - 1}, at least one.")
    smaller = copy.deepcopy(model)
    config = replace(model.config, num_hidden_layers=len(kept))
    for part in smaller.modules():
        if isinstance(part, PretrainedModel):
            part.config = config
    encoder: Any = smaller.get_submodule(smaller.encoder_name)
    encoder.encoder.layers = nn.ModuleList(encoder.encoder.layers[layer] for layer in kept)
    return smaller


def save_pruned(model: PretrainedModel, folder: str | Path) -> None:
    """Save a model, and in pruned.json how many heads each layer has, which config.json cannot say."""
    heads = [attention.num_heads for attention in attentions_of(model)]
    model.save_pretrained(folder)
    write_json(Path(folder) / PRUNED, {"heads": heads})


def open_pruned(kind: type[Model], folder: str | Path) -> Model:
    """The model that `save_pruned` wrote, as a kind such as TextClassifier. Raises UserError for a damaged folder."""
    folder = find_folder(folder)
    path = folder / PRUNED
    if not path.is_file():
        raise UserError(f"{folder} holds no {PRUNED}: open it with {kind.__name__}.from_pretrained.")
    counts = read_json_object(path, {"heads": list[int]}).get("heads", [])
    member = architecture_in(folder)
    model = kind.from_config(member.config.load(folder), TaskConfig.load(folder))
    attentions = attentions_of(model)
    fitting = len(counts) == len(attentions) and all(
        1 <= count <= attention.num_heads for count, attention in zip(counts, attentions, strict=True)
    )
    if not fitting:
        raise UserError(f"{path}: the heads are {counts}, which do not fit the config.json beside it: save it again.")
    for attention, count in zip(attentions, counts, strict=True):
        keep_heads(attention, range(count))  # which ones is of no matter: the weights are about to be loaded
    load_weights(model, folder, member.names)
    return model.eval()
