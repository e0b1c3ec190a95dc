"""What a step of pre-training asks of a device, before and after what is leaner for a GPU. Run on a CPU:
python benchmarks/step_operations.py [--sizes tiny mini base]

A step of `bertedu pretrain` with the defaults of a size is taken twice, once as on a CPU and once as on a GPU (without
compiling), and every operation is counted that torch is asked for, in the forward and the backward pass, clipping and
the optimizers: a lower bound for the kernels that Python launches. Rows and tokens do not change the counts, so batches
are small here: 2 pairs of 128 tokens. There is no dropout, with which a CPU has no attention in one operation. Clipping
is counted as on a GPU in both, where torch clips all gradients at once.
"""

import argparse
import tempfile
from pathlib import Path
from unittest.mock import patch

import torch
from torch.nn.utils import clip_grad_norm_

from bertedu.corpora import load_corpus
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_model, make_task
from bertedu.training.feeding import Portion
from bertedu.training.loop import Trainer
from bertedu.training.operations import CountedOperations

AHEAD = ("feeding", "loop", "muon")  # the modules that ask whether a device runs ahead
ATTENTION = "_scaled_dot_product_"


class Counted(CountedOperations):
    """Also how often attention gets a mask, and the products of the forward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.attentions = self.masks = self.forward = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation.overloadpacket.__name__
        if name.startswith(ATTENTION) and "backward" not in name:
            self.attentions += 1
            self.masks += (kwargs or {}).get("attn_mask") is not None
        return super().__torch_dispatch__(operation, types, args, kwargs)


def full_portion(trainer: Trainer) -> Portion:
    """The first batch of the run in which nothing is padded."""
    for portion in trainer._portions():
        mask = portion.batch.get("attention_mask")
        if mask is None or bool(mask.all()):
            return portion
    raise SystemExit("no batch of the text is without padding")


def count(size: str, ahead: bool, folder: Path) -> dict[str, int]:
    """The counts of a step, as on a CPU or as on a GPU."""
    plan = Plan.from_options(
        corpus=("world",),
        preset=size,
        batch_size=2,
        max_length=128,
        dropout=0.0,
        steps=1,
        precision="bf16",
        output=folder,
    )
    task = make_task(load_corpus(list(plan.corpus)), plan.settings)
    model = make_model(task)
    patches = [patch(f"bertedu.training.{module}.runs_ahead", lambda device: ahead) for module in AHEAD]
    clip = patch.object(
        torch.nn.utils, "clip_grad_norm_", lambda weights, most, **how: clip_grad_norm_(weights, most, foreach=True)
    )
    for one in (*patches, clip, patch("bertedu.model.attention.fused_is_slower", lambda query: False)):
        one.start()
    try:
        trainer = Trainer(model, task, plan.training, plan.budget, folder)
        trainer.model.train()
        portion = full_portion(trainer)
        with trainer._modules():
            trainer._step(portion, 0.5)  # makes what the optimizers keep, and is not counted
            with Counted() as counted:
                trainer._step(portion, 0.5)
    finally:
        patch.stopall()
    products = sum(counted.of[name] for name in ("mm", "addmm", "bmm", "baddbmm"))
    in_muon = 15 * counted_matrices(trainer, ahead)
    return {
        "operations": counted.kernels,
        "products": products - in_muon,
        "products in Muon": in_muon,
        "attentions": counted.attentions,
        "of them with a mask": counted.masks,
        "waits": sum(counted.waits.values()),
    }


def counted_matrices(trainer: Trainer, ahead: bool) -> int:
    """How many matrices, or stacks of them, Muon updates."""
    for optimizer in trainer.optimizers[1:]:
        shapes = [weight.shape for group in optimizer.param_groups for weight in group["params"]]
        return len(set(shapes)) if ahead else len(shapes)
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Operations of a training step.")
    parser.add_argument("--sizes", nargs="+", default=["tiny", "mini", "base"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            before, after = (count(size, ahead, Path(folder) / str(ahead)) for ahead in (False, True))
        for name, number in before.items():
            print(f"{size:6} {name:22} {number:7,} {after[name]:7,}", flush=True)


if __name__ == "__main__":
    main()
