"""What is leaner for a GPU computes the same, and leaves the model as it was."""

import pytest
import torch
from support.stopped_runs import assert_same
from support.tiny_run import make_text, model_for, random_documents, tiny_task, tiny_trainer
from torch import nn

from bertedu.config import BertConfig
from bertedu.model import BertModel
from bertedu.model.attention import SelfAttention
from bertedu.training.layers import layers_of, training_layers
from bertedu.training.lean_modules import OneProductAttention, SixteenBitNorm, lean_modules
from bertedu.training.operations import CountedOperations

OF_BERTS_KIND = ("bert", "roberta", "albert", "distilbert", "electra")


@pytest.fixture
def running_ahead(monkeypatch):
    """The CPU as a device that runs ahead."""
    for module in ("feeding", "loop", "muon"):
        monkeypatch.setattr(f"bertedu.training.{module}.runs_ahead", lambda device: True)


def learned(task, model, batch) -> tuple[float, dict]:
    """The loss and all gradients."""
    model.zero_grad()
    torch.manual_seed(0)
    loss = sum(value for name, value in task.sums(model, batch).items() if name.endswith("_loss"))
    loss.backward()
    return float(loss), {
        name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None
    }


@pytest.mark.parametrize("member", OF_BERTS_KIND)
def test_one_product_gives_the_gradients_of_three(member):
    """With dropout, and under the same names."""
    task = tiny_task(architecture=member)
    model, batch = model_for(task, 0.1, seed=0).train(), task.prepare(task.epoch(0)[0], 0, 0.0)
    with CountedOperations() as before:
        loss, gradients = learned(task, model, batch)
    names, classes = list(model.state_dict()), [type(module) for module in model.modules()]
    with lean_modules(model, sixteen_bit_stream=False):
        assert list(model.state_dict()) == names and OneProductAttention in map(type, model.modules())
        with CountedOperations() as after:
            found, ours = learned(task, model, batch)
    assert [type(module) for module in model.modules()] == classes
    assert found == pytest.approx(loss, rel=1e-6) and ours.keys() == gradients.keys()
    for name, gradient in gradients.items():
        assert torch.allclose(ours[name], gradient, rtol=1e-5, atol=1e-5), name
    attentions = sum(isinstance(module, SelfAttention) for module in model.modules())
    assert before.products - after.products == 6 * attentions  # of nine forward and backward, three are left


def dtypes_between_layers(model, ids) -> list[torch.dtype]:
    with torch.autocast("cpu", torch.bfloat16):
        return [states.dtype for states in model(ids, output_hidden_states=True).hidden_states]


def test_between_the_layers_there_are_16_bits_where_asked():
    model, ids = BertModel(BertConfig.preset("tiny", vocab_size=50)), torch.randint(5, 50, (2, 8))
    assert dtypes_between_layers(model, ids) == [torch.float32] * 3
    with lean_modules(model, sixteen_bit_stream=True):
        assert dtypes_between_layers(model, ids) == [torch.float32, torch.bfloat16, torch.bfloat16]
        assert model(ids).last_hidden_state.dtype == torch.float32  # outside of autocast nothing changes
    assert dtypes_between_layers(model, ids) == [torch.float32] * 3


def test_layers_that_normalise_first_keep_their_stream():
    """What they add up from the first layer to the last would lose its small numbers."""
    model = model_for(tiny_task(architecture="modernbert"), 0.0, seed=0)
    with lean_modules(model, sixteen_bit_stream=True):
        assert not any(isinstance(module, SixteenBitNorm) for module in model.modules())
        assert any(isinstance(module, nn.LayerNorm) for module in model.modules())


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_run_as_on_a_gpu_learns_what_one_on_the_cpu_learns(tmp_path, running_ahead, monkeypatch, precision):
    """All of it together: batches in few shapes, lean modules, layers compiled for each shape, Muon in stacks."""
    real = torch.compile
    monkeypatch.setattr(torch, "compile", lambda function, **options: real(function, backend="aot_eager", **options))
    monkeypatch.setattr("bertedu.training.loop.check_compiler", lambda device: None)
    changes = {"dropout": 0.0, "optimizer": "muon", "precision": precision}
    trainer = tiny_trainer(tmp_path / "ahead", compile=True, **changes)
    trainer.run()
    assert not any(isinstance(part, OneProductAttention | SixteenBitNorm) for part in trainer.bare_model.modules())
    assert not any("forward" in layer.__dict__ for layer in layers_of(trainer.bare_model))
    for module in ("feeding", "loop", "muon"):
        monkeypatch.setattr(f"bertedu.training.{module}.runs_ahead", lambda device: False)
    tiny_trainer(tmp_path / "cpu", **changes).run()
    if precision == "fp32":
        assert_same(tmp_path / "ahead", tmp_path / "cpu")
    found, right = (tiny_trainer(tmp_path / name, **changes) for name in ("ahead", "cpu"))
    assert found.load().progress.tokens == right.load().progress.tokens  # resumed without --compile, too


def test_a_run_is_compiled_for_full_batches_and_once_for_all_others(monkeypatch):
    """Whatever the lengths and the rows of the last batch of a pass, and with validation in between."""
    graphs, real = [], torch.compile

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", lambda function, **options: real(function, backend=backend, **options))
    torch._dynamo.reset()
    task, longer = tiny_task(max_length=68, batch_size=5), make_text(random_documents(20, sentences=40))
    task.maker = task.maker_of(longer)
    model = model_for(task, 0.0, seed=0)
    model.bert.embeddings.position = nn.Embedding(68, 16)
    shapes = set()
    with lean_modules(model, False), training_layers(model, compiled=True, checkpointing=False, few_shapes=True):
        for epoch in range(3):
            for number, batch in enumerate(task.epoch(epoch)):
                shaped = task.in_few_shapes(task.prepare(batch, 0, number / 30), rounded=True)
                learned(task, model.train(), shaped)
                shapes.add((*shaped["labels"].shape, "attention_mask" in shaped))
            with torch.no_grad():
                task.validate(model, torch.device("cpu"))
    padded = {(rows, length) for rows, length, masked in shapes if masked}
    full = {(rows, length) for rows, length, masked in shapes if not masked}
    assert len(padded) > 4 and (5, 68) in full
    # One of the lengths is 16, as the hidden size: torch makes code for that alone.
    assert len(graphs) <= 2 + sum(rows >= 4 for rows, _ in full) < len(padded)
