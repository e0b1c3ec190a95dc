"""ELECTRA's objective: what is masked, sampled and scored, and a whole run with its folder and report."""

import pytest
import torch
import transformers
from support.made_up_text import plan
from support.tiny_run import tiny_pair, tiny_task, tiny_trainer

from bertedu.cli.pretrain import show_results
from bertedu.family.electra import ElectraForPreTraining
from bertedu.family.electra_pair import GeneratorAndDiscriminator
from bertedu.files import read_json
from bertedu.inference import fill_mask, open_filler, open_model
from bertedu.model.heads import IGNORED, MaskedLM
from bertedu.pretraining.objectives.replaced_tokens import found_figures
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_model, pretrain
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.training.feeding import cut_rows
from bertedu.training.metrics import read_metrics
from bertedu.visualization.report import write_report
from bertedu.visualization.results import results, verdicts

pytestmark = pytest.mark.usefixtures("made_up")


@pytest.fixture
def task():
    return tiny_task(objective="replaced-tokens", max_length=32, mask_rates=(0.15, 0.15))


def test_no_random_words_are_put_in(task):
    """15 % are chosen: 85 % of them [MASK], 15 % as they are."""
    chosen = masked = kept = real = 0
    for number in range(30):
        for row in task.epoch(number):
            batch = task.prepare(row, 0, 0.0)
            here = batch["labels"] != IGNORED
            seen, right = batch["input_ids"][here], batch["labels"][here]
            chosen, real = chosen + len(right), real + int(batch["attention_mask"].sum())
            masked += int((seen == task.tokenizer.mask_token_id).sum())
            kept += int((seen == right).sum())
    assert masked + kept == chosen > 5000
    assert chosen / real == pytest.approx(0.15, abs=0.02) and masked / chosen == pytest.approx(0.85, abs=0.015)


def test_what_is_sampled_in_a_row_does_not_depend_on_the_rows_beside_it(task):
    """Cut over two processes, a batch would then be another."""
    whole, pair = task.epoch(0)[0], tiny_pair().eval()
    inputs = ("input_ids", "attention_mask", "token_type_ids", "labels", "sample_at")
    seen = [pair(*(task.prepare(part, 0, 0.0)[name] for name in inputs)).seen for part in (whole, *cut_rows(whole, 2))]
    assert torch.equal(seen[0], torch.cat(seen[1:]))
    again, other = task.epoch(0)[0], task.epoch(0)[1]
    assert torch.equal(whole["sample_at"], again["sample_at"])
    assert not torch.equal(whole["sample_at"].flatten()[:50], other["sample_at"].flatten()[:50])
    assert not torch.equal(whole["sample_at"], whole["mask_fate"]), "or masks would decide what is sampled"


def test_the_loop_trains_the_joint_loss(task, tmp_path):
    """Without the weight of 50, the generator would be all that learns."""
    trainer = tiny_trainer(tmp_path, 1, task, dropout=0.0, clip_norm=1e9, accumulation=2)
    parameters, found = list(trainer.bare_model.parameters()), []
    trainer.optimizers[0].optimizer.register_step_pre_hook(
        lambda *_: found.append([parameter.grad.clone() for parameter in parameters])
    )
    trainer.run()
    batch = task.prepare(task.epoch(0)[0], 0, 0.0)
    pair = tiny_pair(dropout=0.0)
    inputs = ("input_ids", "attention_mask", "token_type_ids", "labels", "sample_at")
    pair(*(batch[name] for name in inputs)).loss.backward()
    for mine, parameter in zip(found[0], pair.parameters(), strict=True):
        torch.testing.assert_close(mine, parameter.grad, atol=1e-5, rtol=1e-4)


def test_recall_and_f1_are_those_by_hand():
    """Of 100 tokens 10 are replaced; 12 are called so, 8 of them rightly: precision 8/12, recall 8/10."""
    figures = found_figures({"rtd_accuracy": 0.94, "rtd_replaced": 0.10, "rtd_found": 0.08})
    assert figures["rtd_recall"] == pytest.approx(0.8)
    assert figures["rtd_f1"] == pytest.approx(2 * (8 / 12) * 0.8 / (8 / 12 + 0.8))
    assert found_figures({"rtd_accuracy": 1.0, "rtd_replaced": 0.0, "rtd_found": 0.0})["rtd_f1"] == 0


def test_padding_counts_as_no_token(task):
    """Then the accuracy would be high for nothing. Counted by hand, token by token."""
    batch, pair = task.validation()[0], tiny_pair().eval()
    assert not batch["attention_mask"].all()
    sums, counts = task.sums(pair, batch), task.counts(batch)
    output = pair(*(batch[name] for name in ("input_ids", "attention_mask", "token_type_ids", "labels", "sample_at")))
    right = replaced = found = 0
    real = [tuple(at) for at in batch["attention_mask"].nonzero().tolist()]
    for at in real:
        text = batch["labels"][at] if batch["labels"][at] != IGNORED else batch["input_ids"][at]
        says, is_so = bool(output.detector_logits[at] > 0), bool(output.seen[at] != text)
        right, replaced, found = right + (says == is_so), replaced + is_so, found + (says and is_so)
    assert counts["rtd"] == len(real)
    assert [int(sums[f"rtd_{name}"]) for name in ("accuracy", "replaced", "found")] == [right, replaced, found]


def test_a_text_too_small_for_validation_does_not_end_the_run(tmp_path):
    task = tiny_task(objective="replaced-tokens")
    task.validation_batches = []
    assert tiny_trainer(tmp_path, 4, task, validations=2).run().step == 4


def test_electra_has_a_masking_rate_of_its_own():
    """There 40 % are masked since nothing else is learned from; here every token is."""
    assert PretrainingSettings.for_preset("tiny", objective="replaced-tokens").mask_rates == (0.15, 0.15)
    given = {"objective": "replaced-tokens", "mask_rates": (0.25, 0.25)}
    assert PretrainingSettings.for_preset("tiny", **given).mask_rates == (0.25, 0.25)
    assert PretrainingSettings.for_preset("tiny").mask_rates == (0.40, 0.30)


def test_generator_and_discriminator_begin_together(task):
    """Both start by matching, with one set of embeddings, and the generator knows how frequent each word is."""
    model = make_model(tiny_task(objective="replaced-tokens"))
    generator, discriminator = model.generator, model.discriminator
    assert (generator.config.hidden_size, discriminator.config.hidden_size) == (32, 128)
    for part in (generator, discriminator):
        first = part.encoder.encoder.layers[0].attention
        assert torch.equal(first.query.weight, first.key.weight)
    assert generator.encoder.token_embeddings is discriminator.encoder.token_embeddings
    assert generator.masked_lm.decoder.bias.std() > 0.1


def test_a_run_leaves_both_discriminator_and_generator(tmp_path, capsys):
    """checkpoint/ is fine-tuned, checkpoint/generator fills masks; both open here and in transformers."""
    metrics = pretrain(plan(tmp_path, objective="replaced-tokens", steps=6, log_steps=2, validations=2), lambda _: None)
    assert metrics is not None and metrics == read_json(tmp_path / "metrics.json")
    figures = metrics["evaluation"]["held-out documents"]["detection"]
    share = figures["rtd_replaced"]
    assert 0 < share < 0.3 and figures["tokens"] > 50
    assert figures["baselines"]["always “original”"]["rtd_accuracy"] == pytest.approx(1 - share)
    assert figures["baselines"]["always “replaced”"]["rtd_f1"] == pytest.approx(2 * share / (1 + share))
    names = {name for line in read_metrics(tmp_path) for name in line}
    assert {"mlm_accuracy", "rtd_loss", "rtd_accuracy", "rtd_replaced", "validation_rtd_f1"} <= names
    assert not any("nsp" in name for name in names)
    model, tokenizer = open_model(tmp_path)
    filler, _ = open_filler(tmp_path)
    assert type(model) is ElectraForPreTraining and type(filler) is MaskedLM
    assert len(fill_mask(filler, tokenizer, "cats like [MASK]", 3)[0]) == 3
    for auto, folder in (("PreTraining", "checkpoint"), ("MaskedLM", "checkpoint/generator")):
        _, said = getattr(transformers, f"AutoModelFor{auto}").from_pretrained(
            tmp_path / folder, output_loading_info=True
        )
        assert not any(said.values()), said
        assert transformers.AutoTokenizer.from_pretrained(tmp_path / folder).vocab_size == len(tokenizer)
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "What a small ELECTRA has learned" in text and "replaced tokens, F1" in text
    assert "checkpoint/generator" in text and "pairs of at most" not in text and "Sentence pairs" not in text
    show_results(tmp_path, metrics)
    assert "What its generator fills in:" in capsys.readouterr().out


def test_a_constant_answer_is_not_taken_for_skill():
    """Always "original" is right about most tokens: said beside the accuracy, and named where it is as good."""
    detection = {
        "tokens": 1000,
        "rtd_accuracy": 0.88,
        "rtd_replaced": 0.11,
        "rtd_recall": 0.2,
        "rtd_f1": 0.25,
        "baselines": {
            "always “original”": {"rtd_accuracy": 0.89, "rtd_recall": 0.0, "rtd_f1": 0.0},
            "always “replaced”": {"rtd_accuracy": 0.11, "rtd_recall": 1.0, "rtd_f1": 0.198},
        },
    }
    words = {"masked_words": 100, "mlm_accuracy": 0.2, "perplexity": 50.0, "baselines": {}}
    rows = results({"evaluation": {"held-out documents": {**words, "detection": detection}}})
    assert rows[0].measure == "masked words, accuracy of the generator"
    assert verdicts(rows) == [
        "replaced tokens, accuracy (held-out documents): the model 88.0%, always “original” 89.0%"
    ]


def test_going_on_from_a_run_keeps_the_generator(tmp_path):
    pretrain(plan(tmp_path / "first", objective="replaced-tokens"), lambda _: None)
    options = {"objective": "replaced-tokens", "start": str(tmp_path / "first"), "vocab_size": None}
    pretrain(plan(tmp_path / "second", learning_rate=1e-9, **options), lambda _: None)
    first, second = (GeneratorAndDiscriminator.from_pretrained(tmp_path / name) for name in ("first", "second"))
    for name, weight in first.state_dict().items():
        assert torch.allclose(weight, second.state_dict()[name], atol=1e-6), name
    assert Plan.read(tmp_path / "second")["objective"] == "replaced-tokens"
