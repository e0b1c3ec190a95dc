"""Where a run computes, and with which numbers."""

import torch

from bertedu.errors import UserError

DEVICES = ("auto", "cpu", "cuda", "mps")
PRECISIONS = ("auto", "fp32", "bf16", "fp16")
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


def computes_bf16(device: str) -> bool:
    """Whether matrix products in bfloat16 run in hardware here; where they do not they are slower, not faster."""
    if device == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device == "cpu":
        capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
        return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return False


def choose_precision(wish: str, device: str) -> str:
    """fp32, bf16 or fp16 for a wish of one of them, or of auto: bf16 where the hardware computes it, else fp32.

    fp16 is for GPUs that are older than bf16; a CPU emulates it. Raises UserError where the device has no fp16.
    """
    if wish not in PRECISIONS:
        raise UserError(f"there is no precision {wish!r}: choose one of {', '.join(PRECISIONS)}.")
    if wish == "auto":
        return "bf16" if computes_bf16(device) else "fp32"
    if wish == "fp16" and device not in ("cuda", "cpu"):
        raise UserError(f"fp16 is for cuda, and to try it out for cpu, not for {device}: choose --precision auto.")
    return wish
