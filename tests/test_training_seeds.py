"""Seeds of steps and processes: none is shared, and all machines have the same."""

import subprocess
import sys
from itertools import product

import torch
from support.tiny_run import tiny_task, tiny_trainer

from bertedu.training.seeds import derive_seed


def test_two_seeds_or_steps_draw_differently():
    places = [*product(range(-3, 30), range(30)), *product(("masks", "dropout"), range(-3, 30)), (1,), ("1",), ("1", 1)]
    seeds = {derive_seed(*parts) for parts in places}
    assert len(seeds) == len(places)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert torch.Generator().manual_seed(max(seeds))


def test_another_python_draws_the_same():
    assert derive_seed(0, "masks", 7) == 3929552222499900739
    code = "from bertedu.training.seeds import derive_seed; print(derive_seed(0, 'masks', 7))"
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "3"}, capture_output=True, text=True, check=True
    )
    assert int(run.stdout) == derive_seed(0, "masks", 7)


def test_two_seeds_make_different_masks():
    first, second = (tiny_task(seed=seed).epoch(0) for seed in (1, 2))
    second.batches = first.batches  # the same pairs
    assert not torch.equal(first[0]["mask_order"], second[0]["mask_order"])


def test_two_seeds_drop_different_numbers(tmp_path):
    """From the same weights, on the same masked batch: only dropout can make a difference."""
    task, models = tiny_task(), []
    for seed in (1, 2):
        trainer = tiny_trainer(tmp_path / str(seed), 1, task, dropout=0.5, seed=seed, warmup=0.0)
        trainer.bare_model.load_state_dict(tiny_trainer(tmp_path / "start", 1, task).bare_model.state_dict())
        trainer.run()
        models.append(torch.cat([weight.detach().flatten() for weight in trainer.bare_model.parameters()]))
    assert not torch.equal(*models)
