"""FSDP, fully sharded data parallel: each process keeps a share of the weights, gradients and optimizer states.

ZeRO stage 3 (Rajbhandari et al. 2020), by torch's `fully_shard` (FSDP2). A layer's weights are put together right
before the layer computes, and given up right after; its gradients are added up and cut apart again at once. So what the
optimizer needs, 16 bytes a weight in float32 with Adam, is shared out among the processes.

The model that the trainer was given stays whole: it gets the weights whenever they are validated or saved.
"""

import copy
from typing import cast

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from bertedu.errors import UserError
from bertedu.model.pretrained import PretrainedModel
from bertedu.training.layers import layers_of


def sharded(model: PretrainedModel, device: torch.device, processes: int) -> PretrainedModel:
    """A copy of the model of which this process has its share, each layer a unit, all else another.

    Raises UserError where there is one process.
    """
    if processes < 2:
        raise UserError(
            "--fsdp shares a model among processes, and there is one: start several, as in `torchrun "
            "--nproc_per_node=2 -m bertedu …`, or leave --fsdp out."
        )
    mesh, shared = init_device_mesh(device.type, (processes,)), copy.deepcopy(model)
    for layer in layers_of(shared):
        fully_shard(layer, mesh=mesh)
    return cast(PretrainedModel, fully_shard(shared, mesh=mesh))


def whole(tensor: Tensor) -> Tensor:
    """The whole of a tensor of which this process may have a share. All processes must ask together."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def shared_like(tensor: Tensor, weight: Tensor) -> Tensor:
    """This process's share of a whole tensor that belongs to a weight; the whole of one number, such as a count."""
    if isinstance(weight, DTensor) and tensor.dim():
        return distribute_tensor(tensor, weight.device_mesh, weight.placements, src_data_rank=None)
    return tensor


@torch.no_grad()
def put_together(shared: nn.Module, model: nn.Module) -> None:
    """Give a whole model the weights of its sharded copy. All processes must take part."""
    for weight, share in zip(model.parameters(), shared.parameters(), strict=True):
        weight.copy_(whole(share))
