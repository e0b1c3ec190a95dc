"""The loss of a chunk at a time: that of all scores at once, with its gradients, in a part of the memory."""

import pytest
import torch
from support.tiny_run import tiny_model, tiny_task, tiny_trainer
from torch import nn

from bertedu.model.heads import IGNORED, TiedDecoder
from bertedu.training import chunked_scores
from bertedu.training.activation_memory import kept_bytes
from bertedu.training.chunked_scores import ScoresToCome, loss_and_hits, scoring_in_chunks
from bertedu.training.operations import CountedOperations

N, D, V = 300, 16, 2000


@pytest.fixture(params=[1, 7 * V, 10**9])
def chunks(request, monkeypatch):
    """One token in a chunk, seven (the last chunk has six), all."""
    monkeypatch.setattr(chunked_scores, "MOST_SCORES", request.param)


def made() -> tuple[TiedDecoder, torch.Tensor, torch.Tensor]:
    """A decoder with a table and a bias, vectors, and labels of which some do not count."""
    torch.manual_seed(0)
    decoder = TiedDecoder(nn.Embedding(V, D)).train()
    nn.init.normal_(decoder.bias)
    labels = torch.randint(V, (N,)).masked_fill(torch.rand(N) < 0.2, IGNORED)
    return decoder, torch.randn(N, D, requires_grad=True), labels


def learned(decoder, vectors, labels, divided_by: float = 64.0) -> list[torch.Tensor]:
    """Loss, hits, and the gradients of what the loss comes from."""
    decoder.zero_grad()
    vectors.grad = None
    loss, hits = loss_and_hits(decoder(vectors), labels)
    (loss / divided_by).backward()
    return [loss.detach(), hits, vectors.grad, decoder.weight.grad.clone(), decoder.bias.grad.clone()]


def test_loss_and_gradients_are_those_of_all_scores_at_once(chunks):
    decoder, vectors, labels = made()
    right = learned(decoder, vectors, labels)
    with scoring_in_chunks(decoder):
        assert isinstance(decoder(vectors), ScoresToCome) and set(decoder.state_dict()) == {"bias", "weight"}
        found = learned(decoder, vectors, labels)
        assert decoder.eval()(vectors).shape == (N, V)
    assert type(decoder) is TiedDecoder and right[1] == found[1]
    for one, other in zip(right, found, strict=True):
        assert torch.allclose(other.float(), one.float(), rtol=1e-5, atol=1e-5)


def test_in_bfloat16_they_differ_by_rounding_alone(chunks):
    decoder, vectors, labels = made()
    with torch.autocast("cpu", torch.bfloat16):
        right = learned(decoder, vectors, labels)
        with scoring_in_chunks(decoder):
            found = learned(decoder, vectors, labels)
    for one, other in zip(right, found, strict=True):
        assert torch.allclose(other.float(), one.float(), rtol=2e-2, atol=2e-2)
        assert other.dtype == one.dtype


class LargestTensor(CountedOperations):
    """The numbers in the largest tensor that an operation made."""

    largest = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        found = super().__torch_dispatch__(operation, types, args, kwargs)
        made = found if isinstance(found, tuple | list) else (found,)
        self.largest = max([self.largest, *(one.numel() for one in made if isinstance(one, torch.Tensor))])
        return found


def test_neither_are_scores_kept_nor_more_than_a_chunk_of_them_made(monkeypatch):
    decoder, vectors, labels = made()
    monkeypatch.setattr(chunked_scores, "MOST_SCORES", 50 * V)
    kept, largest = [], []
    for chunked in (False, True):
        with scoring_in_chunks(decoder) if chunked else LargestTensor(), LargestTensor() as counted:
            kept.append(kept_bytes(decoder, lambda: loss_and_hits(decoder(vectors), labels)))
        largest.append(counted.largest)
    assert largest == [N * V, 50 * V]
    assert kept[0] >= 4 * N * V and kept[1] <= 4 * (N * D + V * D + V) + 8 * N  # bytes


@pytest.mark.parametrize(("precision", "in_chunks"), [("fp32", True), ("bf16", True), ("fp16", False)])
def test_a_run_as_on_a_gpu_scores_in_chunks_where_its_loss_is_not_scaled(tmp_path, monkeypatch, precision, in_chunks):
    """Gradients that are made before the loss is scaled up are too small for float16."""
    called = []
    monkeypatch.setattr("bertedu.training.loop.runs_ahead", lambda device: True)
    monkeypatch.setattr(ScoresToCome, "loss_and_hits", lambda self, labels: called.append(1) or real(self, labels))
    trainer = tiny_trainer(tmp_path, 2, precision=precision, validations=1)
    trainer.run()
    assert len(called) == (2 if in_chunks else 0)
    assert type(trainer.bare_model.masked_lm.decoder) is TiedDecoder


real = ScoresToCome.loss_and_hits


def test_on_the_cpu_nothing_is_postponed(tmp_path):
    task, model = tiny_task(), tiny_model()
    batch = task.prepare(task.epoch(0)[0], 0, 0.0)
    output = model.train()(batch["input_ids"], masked_positions=batch["labels"] != IGNORED)
    assert output.prediction_logits.shape[1] == len(task.tokenizer)
