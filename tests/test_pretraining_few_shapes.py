"""Batches for a device that runs ahead: the same loss and gradients, nothing to wait for, few shapes, no idle mask."""

import pytest
import torch
from support.tiny_run import model_for, tiny_task, tiny_trainer

from bertedu.model.heads import IGNORED, vectors_at
from bertedu.pretraining.few_shapes import positions_of, rounded_up, widened
from bertedu.training.feeding import cut_rows
from bertedu.training.operations import CountedOperations

MEMBERS = ("bert", "roberta", "albert", "distilbert", "modernbert", "deberta")
SPARE = {"max_length": 24, "batch_size": 8, "mask_rates": (0.4, 0.3)}


@pytest.fixture
def running_ahead(monkeypatch):
    """The CPU as a device that runs ahead."""
    monkeypatch.setattr("bertedu.training.feeding.runs_ahead", lambda device: True)


def prepared(task, number: int = 0, share: float = 1.0) -> dict:
    """A batch of the first pass, masked."""
    return task.prepare(task.epoch(0)[number], 0, share)


def learned(task, model, batch) -> tuple[dict, dict]:
    """Sums and gradients."""
    model.zero_grad()
    sums = task.sums(model, batch)
    sum(value for name, value in sums.items() if name.endswith("_loss")).backward()
    gradients = {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}
    return {name: value.detach() for name, value in sums.items()}, gradients


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("member", MEMBERS)
def test_a_batch_in_few_shapes_gives_the_same_loss_and_gradients(member, rounded):
    task = tiny_task(architecture=member, **SPARE)
    model, batch = model_for(task, 0.0, seed=0).train(), prepared(task)
    shaped = task.in_few_shapes(batch, rounded)
    assert shaped["positions"].size(1) > (batch["labels"] != IGNORED).sum(dim=1).max()  # some are spare
    (sums, gradients), (found, ours) = learned(task, model, batch), learned(task, model, shaped)
    assert found.keys() == sums.keys() and ours.keys() == gradients.keys() and len(ours) > 10
    for name, value in sums.items():
        assert torch.allclose(found[name], value, rtol=1e-6, atol=1e-5), name
    for name, gradient in gradients.items():
        assert torch.allclose(ours[name], gradient, rtol=1e-5, atol=1e-5), name


def test_the_parts_of_a_batch_in_few_shapes_add_up_to_it():
    task = tiny_task(**SPARE)
    model, shaped = model_for(task, 0.0, seed=0), task.in_few_shapes(prepared(task), rounded=True)
    whole = task.sums(model, shaped)
    parts = [task.sums(model, part) for part in cut_rows(shaped, 3)]
    for name, value in whole.items():
        assert torch.allclose(sum(part[name] for part in parts).float(), value.float(), rtol=1e-5), name


def counted_step(trainer) -> CountedOperations:
    """The operations of a run's first step."""
    trainer.model.train()
    portion = next(trainer._portions())
    with CountedOperations() as counted:
        trainer._step(portion, 0.5)
    return counted


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_step_waits_for_nothing(tmp_path, running_ahead, optimizer):
    """And the counter sees what the step on a CPU would wait for."""
    assert counted_step(tiny_trainer(tmp_path, optimizer=optimizer)).waits == {}


def test_the_counter_sees_what_would_be_waited_for(tmp_path):
    assert counted_step(tiny_trainer(tmp_path)).waits["nonzero"] >= 2
    with CountedOperations() as counted:
        assert torch.ones(3).sum().item() == 3
    assert counted.waits == {"_local_scalar_dense": 1}


def test_where_nothing_is_padded_attention_gets_no_mask():
    """Counted in torch's attention itself: Flash attention on a GPU takes none."""
    task = tiny_task(**SPARE)
    model, masks = model_for(task, 0.0, seed=0), []

    def noting(*tensors, attn_mask=None, **options):
        masks.append(attn_mask)
        return attention(*tensors, attn_mask=attn_mask, **options)

    full = [i for i in range(len(task.epoch(0))) if prepared(task, i)["attention_mask"].all()]
    padded = [i for i in range(len(task.epoch(0))) if i not in full]
    attention = torch.nn.functional.scaled_dot_product_attention
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bertedu.model.attention.scaled_dot_product_attention", noting)
        for number in (full[0], padded[0]):
            task.sums(model, task.in_few_shapes(prepared(task, number), rounded=False))
        task.sums(model, prepared(task, full[0]))
    assert [mask is None for mask in masks] == [True, False, False]


def test_a_pass_has_few_shapes():
    """Lengths are multiples of 8, and all batches of a length have as many positions, whatever was masked."""
    task = tiny_task(max_length=128, batch_size=2, mask_rates=(0.4, 0.3))
    batches = [prepared(task, i, share=i / len(task.epoch(0))) for i in range(len(task.epoch(0)))]
    shaped = [task.in_few_shapes(batch, rounded=True) for batch in batches]
    lengths = {batch["labels"].size(1) for batch in shaped}
    assert len(lengths) < 0.6 * len({batch["labels"].size(1) for batch in batches})
    assert {(batch["labels"].size(1), batch["positions"].size(1)) for batch in shaped} == {
        (length, round(0.4 * length)) for length in lengths if length % 8 == 0
    }


def test_a_length_is_rounded_up_to_no_more_than_the_model_reads():
    assert [rounded_up(length, 100) for length in (1, 8, 9, 97, 100)] == [8, 8, 16, 100, 100]


def test_widening_adds_padding_and_nothing_that_is_asked_for():
    batch = {"input_ids": torch.ones(1, 2), "labels": torch.ones(1, 2), "next_sentence_label": torch.ones(1)}
    wide = widened(batch, 3, pad_token_id=7)
    assert wide["input_ids"].tolist() == [[1, 1, 7]] and wide["labels"].tolist() == [[1, 1, IGNORED]]
    assert wide["next_sentence_label"] is batch["next_sentence_label"]


def test_positions_come_in_reading_order_and_spare_ones_have_no_label():
    labels = torch.tensor([[IGNORED, 5, IGNORED, 6], [IGNORED, IGNORED, IGNORED, 7]])
    positions = positions_of(labels, 3)
    assert positions.tolist() == [[1, 3, 0], [3, 0, 1]]
    assert labels.gather(1, positions).tolist() == [[5, 6, IGNORED], [7, IGNORED, IGNORED]]
    vectors = torch.arange(8.0).view(2, 4, 1)
    assert vectors_at(vectors, positions).flatten().tolist() == [1, 3, 0, 7, 4, 5]
    assert torch.equal(vectors_at(vectors, labels != IGNORED), vectors[labels != IGNORED])
