"""Muon: the same updates as torch's, which rounds to bfloat16; and an update that is orthogonal."""

import pytest
import torch

from bertedu.training.muon import Muon, orthogonalize
from bertedu.training.operations import CountedOperations


def trained(optimizer_of, shape: tuple[int, int]) -> torch.Tensor:
    """A weight after five steps on made-up gradients."""
    random = torch.Generator().manual_seed(0)
    weight = torch.nn.Parameter(torch.randn(shape, generator=random))
    optimizer = optimizer_of([{"params": [weight], "weight_decay": 0.1}])
    for _ in range(5):
        weight.grad = torch.randn(shape, generator=random)
        optimizer.step()
    return weight.detach()


@pytest.mark.parametrize("shape", [(24, 24), (48, 12), (12, 48)])
def test_muon_takes_the_steps_of_torchs(shape):
    def reference(groups):
        return torch.optim.Muon(groups, lr=0.02, adjust_lr_fn="match_rms_adamw")

    wanted = trained(reference, shape)
    rounded, exact = (
        trained(lambda groups, dtype=dtype: Muon(groups, lr=0.02, dtype=dtype), shape)
        for dtype in (torch.bfloat16, torch.float32)
    )
    assert torch.equal(rounded, wanted)
    moved = (wanted - trained(lambda groups: torch.optim.SGD(groups, lr=0.0), shape)).abs().max()
    assert 0 < (exact - wanted).abs().max() < 0.03 * moved


SHAPES = ((16, 16), (16, 16), (48, 12), (12, 48), (48, 12), (2, 3, 5), (16, 16), (48, 12))


def trained_together(dtype: torch.dtype) -> tuple[list[torch.Tensor], CountedOperations]:
    """Weights of several shapes after five steps, and the operations of the last one."""
    random = torch.Generator().manual_seed(0)
    weights = [torch.nn.Parameter(torch.randn(shape, generator=random)) for shape in SHAPES]
    optimizer = Muon([{"params": weights, "weight_decay": 0.1}], lr=0.02, dtype=dtype)
    for _ in range(5):
        for weight in weights:
            weight.grad = torch.randn(weight.shape, generator=random)
        with CountedOperations() as counted:
            optimizer.step()
    return [weight.detach() for weight in weights], counted


@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-6), (torch.bfloat16, 1e-3)])
def test_on_a_gpu_matrices_of_one_shape_are_updated_together_and_alike(monkeypatch, dtype, near):
    """Three products for each iteration and shape in place of each matrix."""
    alone, counted = trained_together(dtype)
    monkeypatch.setattr("bertedu.training.muon.runs_ahead", lambda device: True)
    together, fewer = trained_together(dtype)
    for one, other in zip(alone, together, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=near)
    assert counted.products == 3 * 5 * len(SHAPES) and fewer.products == 3 * 5 * len(set(SHAPES))
    assert fewer.kernels < 0.6 * counted.kernels


def test_the_update_of_a_tall_matrix_is_orthogonal():
    for shape in ((64, 16), (16, 64)):
        values = torch.linalg.svdvals(orthogonalize(torch.randn(shape, generator=torch.Generator().manual_seed(1))))
        assert values.min() > 0.65 and values.max() < 1.25


def test_a_weight_without_a_gradient_stays():
    still = torch.nn.Parameter(torch.ones(3, 3))
    Muon([{"params": [still], "weight_decay": 0.5}], lr=0.1, dtype=torch.float32).step()
    assert torch.equal(still.detach(), torch.ones(3, 3))
