"""Where a run computes, and with which numbers."""

from typing import Any

import torch

from bertedu.errors import UserError

DEVICES = ("auto", "cpu", "cuda", "mps")
PRECISIONS = ("auto", "fp32", "bf16", "fp16")
FIRST_TENSOR_CORES = (7, 0)  # Volta: fp16 products at several times the rate of fp32; bf16 came with Ampere, (8, 0)
HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}  # what matrix products compute with, weights staying fp32


def choose_device(wish: str) -> str:
    """The device for a wish of auto, cpu, cuda or mps. Raises UserError for one that this machine lacks."""
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if wish == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if there[name])
    if wish not in there:
        raise UserError(f"there is no device {wish!r}: choose one of {', '.join(DEVICES)}.")
    if not there[wish]:
        raise UserError(
            f"this machine has no {wish} device that torch {torch.__version__} can use: choose auto or cpu."
        )
    return wish


def runs_ahead(device: str) -> bool:
    """Whether the device computes what it was asked for while Python asks for more, so that every question for a number
    makes Python wait: where that is so, a step asks for none.
    """
    return device == "cuda"


def computes_bf16(device: str) -> bool:
    """Whether matrix products in bfloat16 are faster here than in float32; where hardware lacks them they are slower.

    Intel's processors are fast at them with AMX only: with AVX-512 alone (a virtual machine may hide AMX) a product
    took twice as long in bfloat16 as in float32, and training 1.6 times as long (Xeon, torch 2.13).
    """
    if device == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device == "cpu":
        capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
        fast = ("amx_bf16",) if "Intel" in capabilities.get("cpu_name", "") else ("avx512_bf16", "amx_bf16", "bf16")
        return any(capabilities.get(name) for name in fast)
    return False


def choose_precision(wish: str, device: str) -> str:
    """fp32, bf16 or fp16 for a wish of one of them, or of auto: bf16 where the hardware computes it; on a GPU that is
    older than that fp16 where it has units for it; else fp32. A CPU emulates fp16.

    Raises UserError where the device has no fp16.
    """
    if wish not in PRECISIONS:
        raise UserError(f"there is no precision {wish!r}: choose one of {', '.join(PRECISIONS)}.")
    if wish == "auto":
        if computes_bf16(device):
            return "bf16"
        return "fp16" if device == "cuda" and torch.cuda.get_device_capability() >= FIRST_TENSOR_CORES else "fp32"
    if wish == "fp16" and device not in ("cuda", "cpu"):
        raise UserError(f"fp16 is for cuda, and to try it out for cpu, not for {device}: choose --precision auto.")
    return wish


def describe_machine(trainer: Any) -> dict[str, Any]:
    """What a run's speed depends on."""
    return {
        "device": torch.cuda.get_device_name() if trainer.device == "cuda" else trainer.device,
        "threads": torch.get_num_threads(),
        "processes": trainer.accelerator.num_processes,
        "precision": trainer.precision,
        "torch": torch.__version__,
    }
