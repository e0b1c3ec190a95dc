"""The shortest loop: it learns, repeats, and decays its learning rate."""

import torch
from torch import nn

from bertedu.chapters.ch18_deberta_and_xlnet.fitting import fit


def line(seed=0, **settings):
    torch.manual_seed(0)

    def loss_of(model, generator):
        x = torch.randn(32, 2, generator=generator)
        return (model(x)[:, 0] - (3 * x[:, 0] - x[:, 1])).square().mean()

    return fit(nn.Linear(2, 1), loss_of, seed, **settings)


def test_a_line_is_learned():
    model = line(learning_rate=0.1)
    assert not model.training
    torch.testing.assert_close(model.weight.detach(), torch.tensor([[3.0, -1.0]]), atol=0.01, rtol=0)


def test_a_seed_repeats_and_seeds_differ():
    assert torch.equal(line(1, steps=5).weight, line(1, steps=5).weight)
    assert not torch.equal(line(1, steps=5).weight, line(2, steps=5).weight)


def test_the_first_and_the_last_steps_are_small(monkeypatch):
    rates = []
    step = torch.optim.Adam.step
    monkeypatch.setattr(
        torch.optim.Adam, "step", lambda self, *a: (rates.append(self.param_groups[0]["lr"]), step(self, *a))
    )
    line(learning_rate=1.0, steps=100)
    assert rates[0] < 0.05 and rates[-1] < 0.05 and max(rates) > 0.5
    assert rates.index(max(rates)) in range(25, 35)
