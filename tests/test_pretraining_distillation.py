"""Distillation as an objective: its loss against a plain one of the paper, its teacher, a whole run and its report."""

import math
import pickle

import pytest
import torch
import transformers
from safetensors.torch import load_file
from support.made_up_text import plan
from support.tiny_run import (
    SIZES,
    ReportedTask,
    save_teacher,
    tiny_model,
    tiny_pair,
    tiny_task,
    tiny_tokenizer,
    tiny_trainer,
)

from bertedu.cli.pretrain import show_results
from bertedu.errors import UserError
from bertedu.family.distilbert import ARCHITECTURE, DistilBertConfig, student_of
from bertedu.family.xlnet import XLNetConfig, XLNetLMHeadModel
from bertedu.files import read_json
from bertedu.inference import fill_mask, open_model
from bertedu.model import BertForPreTraining
from bertedu.model.heads import IGNORED, MaskedLM
from bertedu.pretraining.objectives import distillation
from bertedu.pretraining.objectives.distillation import Distillation, cosine_distance, soft_divergence
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_model, pretrain
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import BertTokenizer
from bertedu.training.metrics import read_metrics
from bertedu.visualization.report import write_report
from bertedu.visualization.results import results, verdicts

pytestmark = pytest.mark.usefixtures("made_up")

NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def task_of(folder, **changes) -> Distillation:
    """A student of a new teacher in folder/teacher, on the made-up text."""
    names = {name: changes.pop(name) for name in list(changes) if name in SIZES}
    teacher = save_teacher(folder / "teacher", **names)
    task = tiny_task(objective="distillation", teacher=str(teacher), **changes)
    assert isinstance(task, Distillation)
    return task


@pytest.fixture
def task(tmp_path):
    return task_of(tmp_path)


def softmax(scores):
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum()


def plain_loss(student, teacher, batch):
    """Sanh et al. 2019, section 2, word by word in float64: `student` and `teacher` are those of `transformers`."""
    T, soft, hard, angles, tokens, hidden = 2.0, 0.0, 0.0, 0.0, 0, 0
    for ids, mask, labels in zip(batch["input_ids"], batch["attention_mask"], batch["labels"], strict=True):
        one = {"input_ids": ids[None], "attention_mask": mask[None], "output_hidden_states": True}
        said, taught = student(**one), teacher(**one)
        for at in range(int(mask.sum())):
            z_s, z_t = said.logits[0, at], taught.logits[0, at].detach()
            s, t = softmax(z_s / T), softmax(z_t / T)
            soft += (t * (t.log() - s.log())).sum() * T * T
            h_s, h_t = said.hidden_states[-1][0, at], taught.hidden_states[-1][0, at].detach()
            angles += 1 - (h_s @ h_t) / (h_s.square().sum().sqrt() * h_t.square().sum().sqrt())
            tokens += 1
            if labels[at] != IGNORED:
                hard -= softmax(z_s)[labels[at]].log()
                hidden += 1
    assert hidden < tokens < batch["input_ids"].numel()
    return 5 * soft / tokens + 2 * hard / hidden + 1 * angles / tokens


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"num_hidden_layers": 2, "hidden_size": 24, "num_attention_heads": 4},
        {"num_hidden_layers": 5, "hidden_size": 8, "num_attention_heads": 1, "hidden_act": "gelu_new"},
    ],
    ids=["4 layers", "2 layers, many heads", "5 narrow layers, tanh GELU"],
)
def test_the_loop_trains_the_loss_of_the_paper(sizes, tmp_path):
    """Loss and gradients of one step of the loop, by rows in two parts, against loops over tokens and words."""
    hidden_act = sizes.pop("hidden_act", "gelu")
    teacher = save_teacher(tmp_path / "teacher", hidden_act=hidden_act, **sizes)
    task = tiny_task(objective="distillation", teacher=str(teacher), batch_size=6)
    options = {"dropout": 0.0, "clip_norm": 1e9, "accumulation": 2, "validations": 1}
    trainer, found = tiny_trainer(tmp_path / "run", 1, task, **options), {}
    with torch.no_grad():  # away from the teacher, or the losses would be near zero
        for weight in trainer.bare_model.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
    trainer.bare_model.save_pretrained(tmp_path / "student")
    named = dict(trainer.bare_model.named_parameters())
    trainer.optimizers[0].optimizer.register_step_pre_hook(
        lambda *_: found.update({name: weight.grad.clone() for name, weight in named.items()})
    )
    trainer.run()
    batch = task.prepare(task.epoch(0)[0], 0, 0.0)
    assert not batch["attention_mask"].all(), "without padding it could not be counted"
    student = transformers.DistilBertForMaskedLM.from_pretrained(tmp_path / "student").double()
    expected = plain_loss(student, transformers.BertForMaskedLM.from_pretrained(teacher).double(), batch)
    expected.backward()
    line = read_metrics(tmp_path / "run")[0]
    assert 5 * 4 * line["kl_loss"] + 2 * line["mlm_loss"] + line["cos_loss"] == pytest.approx(
        float(expected.detach()), rel=1e-5
    )
    assert min(line["kl_loss"], line["mlm_loss"], line["cos_loss"]) > 0.01, "each must matter"
    theirs = dict(student.named_parameters())
    for name, gradient in found.items():
        its = theirs[ARCHITECTURE.names.to_transformers(name, "encoder", "ForMaskedLM")].grad.float()
        torch.testing.assert_close(gradient, its, atol=1e-5, rtol=1e-4, msg=lambda text, name=name: f"{name}: {text}")


def test_the_divergence_is_the_one_computed_by_hand():
    """A coin for which the teacher says 4 : 1 and the student 1 : 1. At T = 2 the teacher's is 2 : 1."""
    teacher, student = torch.tensor([[math.log(4.0), 0.0]]), torch.tensor([[0.0, 0.0]])
    forwards = 2 / 3 * math.log(2 / 3 / 0.5) + 1 / 3 * math.log(1 / 3 / 0.5)
    backwards = 0.5 * math.log(0.5 / (2 / 3)) + 0.5 * math.log(0.5 / (1 / 3))
    assert abs(forwards - backwards) > 1e-3
    assert float(soft_divergence(student, teacher)) == pytest.approx(forwards, rel=1e-5)
    assert float(soft_divergence(teacher, teacher)) == pytest.approx(0.0, abs=1e-7)
    twice = float(soft_divergence(student.repeat(2, 1), teacher.repeat(2, 1)))
    assert twice == pytest.approx(2 * forwards, rel=1e-5), "a sum over tokens, divided later"
    vectors = torch.tensor([[3.0, 4.0], [1.0, 0.0]]), torch.tensor([[6.0, 8.0], [0.0, 5.0]])
    assert float(cosine_distance(*vectors)) == pytest.approx(1.0)


def test_a_higher_temperature_keeps_the_size_of_the_gradient():
    """What T² is for: with it the gradient is about the same at T = 2 and at T = 20, without it a hundredth."""
    teacher = torch.randn(5, 30, generator=torch.Generator().manual_seed(0))
    sizes = []
    for T in (2.0, 20.0):
        student = torch.zeros(5, 30, requires_grad=True)
        (soft_divergence(student, teacher, T) * T**2).backward()
        sizes.append(float(student.grad.norm()))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.2)
    assert Distillation.loss_weights == {"kl_loss": 5 * 2**2, "mlm_loss": 2, "cos_loss": 1}


def test_figures_are_counted_over_the_right_tokens(task):
    """Token by token: what both think likeliest, what the teacher repeats, what it knows of the hidden words."""
    batch, student = task.validation()[0], make_model(task).eval()
    assert not batch["attention_mask"].all()
    sums, counts = task.sums(student, batch), task.counts(batch)
    ours, its = (
        model(*(batch[name] for name in INPUTS)).prediction_logits.argmax(-1) for model in (student, task.teacher)
    )
    found = dict.fromkeys(("kl_agreement", "kl_copied", "mlm_agreement", "mlm_teacher", "mlm_accuracy"), 0)
    words = 0
    for at in map(tuple, batch["attention_mask"].nonzero().tolist()):
        found["kl_agreement"] += int(ours[at] == its[at])
        found["kl_copied"] += int(its[at] == batch["input_ids"][at])
        if (right := batch["labels"][at]) != IGNORED:
            words += 1
            found["mlm_agreement"] += int(ours[at] == its[at])
            found["mlm_teacher"] += int(its[at] == right)
            found["mlm_accuracy"] += int(ours[at] == right)
    assert {name: int(sums[name]) for name in found} == found
    real = int(batch["attention_mask"].sum())
    assert counts == {"mlm": words, "kl": real, "cos": real}
    figures = {"kl_loss": 0.5, "mlm_loss": 3.0, "cos_loss": 0.25, "mlm_accuracy": 0.9}
    assert task.quality(figures) == -(20 * 0.5 + 2 * 3.0 + 0.25)


def test_a_copy_of_its_teacher_is_not_corrected_by_it(task):
    """A student of all layers says the same: no divergence, no angle, and one answer."""
    sums = task.sums(student_of(task.teacher, layers=range(4)), task.validation()[0])
    count = task.counts(task.validation()[0])
    assert float(sums["kl_loss"]) == pytest.approx(0, abs=1e-3) and float(sums["cos_loss"]) == pytest.approx(
        0, abs=1e-3
    )
    assert int(sums["kl_agreement"]) == count["kl"] and int(sums["mlm_agreement"]) == count["mlm"]


def test_the_teacher_has_no_dropout_does_not_learn_and_is_not_saved(task, tmp_path):
    """Trained for some steps: only the student's weights move, are counted, are written."""
    teacher = task.teacher
    assert teacher.config.hidden_dropout_prob > 0 and not teacher.training
    before = {name: weight.clone() for name, weight in teacher.state_dict().items()}
    modes: list[bool] = []
    teacher.register_forward_hook(lambda module, *_: modes.append(module.training or torch.is_grad_enabled()))
    trainer = tiny_trainer(tmp_path / "run", 4, task, validations=2)
    trainer.run()
    assert len(modes) > 4 and not any(modes)
    assert all(torch.equal(weight, before[name]) for name, weight in teacher.state_dict().items())
    assert not any(weight.requires_grad or weight.grad is not None for weight in teacher.parameters())
    names = {name.removeprefix("model.") for name in load_file(tmp_path / "run/resume.safetensors") if "model." in name}
    assert names == dict(trainer.bare_model.named_parameters()).keys()
    assert sorted(path.name for path in (tmp_path / "run/checkpoint").iterdir()) == ["config.json", "model.safetensors"]


def test_the_student_starts_from_the_teachers_layers_with_a_tied_head(tmp_path):
    """Half of the layers, copied, with the run's dropout; and what is saved has no table of words of the head's own."""
    task = task_of(tmp_path, dropout=0.25, initialization="matching")
    model, expected = make_model(task), student_of(task.teacher)
    assert type(model) is MaskedLM and model.config.model_type == "distilbert"
    assert (model.config.num_hidden_layers, model.config.hidden_dropout_prob) == (2, 0.25)
    for name, weight in expected.state_dict().items():
        assert torch.equal(model.state_dict()[name], weight), name
    assert model.masked_lm.decoder.weight is model.encoder.token_embeddings.weight
    assert all(weight.requires_grad for weight in model.parameters())
    trainer = tiny_trainer(tmp_path / "run", 2, task)
    trainer.run()
    assert trainer.bare_model.masked_lm.decoder.weight is trainer.bare_model.encoder.token_embeddings.weight
    assert "vocab_projector.weight" not in load_file(tmp_path / "run/checkpoint/model.safetensors")


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_teacher_computes_with_the_students_numbers_on_its_device(task, tmp_path, precision):
    kinds = {"student": set(), "teacher": set()}
    trainer = tiny_trainer(tmp_path / "run", 2, task, precision=precision, validations=1)
    for name, model in (("student", trainer.bare_model), ("teacher", task.teacher)):
        model.register_forward_hook(lambda _, __, output, name=name: kinds[name].add(output.prediction_logits.dtype))
    trainer.run()
    assert kinds["student"] == kinds["teacher"] == {torch.float32 if precision == "fp32" else torch.bfloat16}
    assert {weight.device.type for weight in task.teacher_on(torch.device("meta")).parameters()} == {"meta"}


def test_data_workers_get_no_teacher_and_change_nothing(task, tmp_path):
    """They mask words; a large teacher would be copied for each."""
    assert len(pickle.dumps(task)) < len(pickle.dumps(task.teacher))
    tiny_trainer(tmp_path / "alone", 6, task).run()
    tiny_trainer(tmp_path / "helped", 6, task, data_workers=1).run()
    weights = [load_file(tmp_path / name / "checkpoint/model.safetensors") for name in ("alone", "helped")]
    assert all(torch.equal(weight, weights[1][name]) for name, weight in weights[0].items())


class Killed(BaseException):
    """Stands for a kill."""


class KilledTask(ReportedTask):
    """Ends the run at its fourth step."""

    def __init__(self, inner):
        self.inner = inner

    def prepare(self, batch, step, share):
        if step == 4:
            raise Killed
        return self.inner.prepare(batch, step, share)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_killed_run_ends_with_the_same_bits_and_refuses_another_teacher(task, tmp_path, optimizer):
    """The teacher is known by its weights: elsewhere it is the same, and another one in its place is refused."""
    options = {"optimizer": optimizer, "save_seconds": 0, "steps": 9}
    tiny_trainer(tmp_path / "whole", task=task, **options).run()
    with pytest.raises(Killed):
        tiny_trainer(tmp_path / "killed", task=KilledTask(task), **options).run()
    path = tmp_path / "killed/resume.safetensors"
    saved = path.read_bytes()
    other = tiny_task(objective="distillation", teacher=str(save_teacher(tmp_path / "other", seed=1)))
    with pytest.raises(UserError, match=r"of another run \(teacher was '\w{16}', is now '\w{16}'\)"):
        tiny_trainer(tmp_path / "killed", task=other, **options).run(resume=True)
    assert path.read_bytes() == saved
    (tmp_path / "teacher").rename(tmp_path / "moved")
    again = tiny_task(objective="distillation", teacher=str(tmp_path / "moved"))
    tiny_trainer(tmp_path / "killed", task=again, **options).run(resume=True)
    ends = [load_file(tmp_path / name / "resume.safetensors") for name in ("whole", "killed")]
    assert ends[0].keys() == ends[1].keys() and all(
        torch.equal(value, ends[1][name]) for name, value in ends[0].items()
    )


def test_a_smaller_student_is_taught_without_a_cosine(tmp_path):
    """Of another width, with the teacher's vocabulary: two losses are left, and the run says so."""
    task = task_of(tmp_path)
    config = DistilBertConfig(**{**SIZES, "hidden_size": 8, "intermediate_size": 16})
    student, batch = MaskedLM(config).eval(), task.validation()[0]
    sums = task.sums(student, batch)
    assert "cos_loss" not in sums and {"kl_loss", "mlm_loss"} <= sums.keys()
    assert task.quality({"kl_loss": 1.0, "mlm_loss": 1.0}) == -22
    assert task.notes(student) == [
        "The student's hidden size is 8 and the teacher's 16: the cosine of their last hidden states was left out of "
        "the loss."
    ]
    assert "cos_loss" not in task.compared(student, [batch]) and not task.notes(make_model(task))


@torch.no_grad()
def test_a_folder_of_transformers_is_a_teacher(tmp_path):
    """Any BERT is one, whoever saved it, and predicts what it does there."""
    config = transformers.BertConfig(**SIZES)
    theirs = transformers.BertForMaskedLM(config).eval()
    theirs.save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    task = tiny_task(objective="distillation", teacher=str(tmp_path))
    batch = task.validation()[0]
    inputs, real = {name: batch[name] for name in INPUTS}, batch["attention_mask"].bool()
    said = task.teacher(**inputs, masked_positions=real).prediction_logits
    torch.testing.assert_close(said, theirs(**inputs).logits[real], atol=1e-5, rtol=1e-5)
    assert make_model(task).config.num_hidden_layers == 1, "of a teacher of one layer"


def test_a_teacher_that_cannot_teach_is_refused(tmp_path, monkeypatch):
    given = {"objective": "distillation", "teacher": str(save_teacher(tmp_path / "teacher"))}
    with pytest.raises(UserError, match=r"max_length is 33, and the teacher .* has 32 positions"):
        tiny_task(**given, max_length=33)
    xlnet = XLNetLMHeadModel(XLNetConfig(**SIZES))
    for model, told in (
        (xlnet, "which predicts no token that it can see"),
        (tiny_pair().discriminator, "fills no masks"),
    ):
        monkeypatch.setattr(distillation, "open_filler", lambda name, model=model: (model, None))
        with pytest.raises(UserError, match=told):
            tiny_task(**given)


def test_another_member_than_bert_can_teach_a_student_that_is_given(tmp_path):
    """A DistilBERT, say: of its layers no student is made here, but one that has its vocabulary learns from it."""
    save_teacher(tmp_path / "bert")
    student_of(open_model(tmp_path / "bert")[0]).save_pretrained(tmp_path / "teacher")
    for name in ("teacher", "student"):
        tiny_tokenizer().save_pretrained(tmp_path / name)
    given = {"objective": "distillation", "teacher": str(tmp_path / "teacher")}
    with pytest.raises(
        UserError, match="of the type 'distilbert', and layers are copied from a BERT only: give with --f"
    ):
        make_model(tiny_task(**given))
    torch.manual_seed(0)
    MaskedLM(DistilBertConfig(**SIZES)).save_pretrained(tmp_path / "student")
    task = tiny_task(**given, start=str(tmp_path / "student"))
    trainer = tiny_trainer(tmp_path / "run", 20, task, validations=10, learning_rate=0.01)
    trainer.run()
    divergences = [
        line["validation_kl_loss"] for line in read_metrics(tmp_path / "run") if "validation_kl_loss" in line
    ]
    assert divergences[-1] < 0.7 * divergences[0]


def test_a_student_of_other_words_is_refused(tmp_path):
    """Then the teacher's scores would be of other words."""
    save_teacher(tmp_path / "teacher")
    words = list(BertTokenizer.from_pretrained(tmp_path / "teacher").vocab)
    for name, tokens in (("same", words), ("swapped", [*words[:-2], words[-1], words[-2]])):
        tiny_model().save_pretrained(tmp_path / name)
        BertTokenizer(tokens).save_pretrained(tmp_path / name)
    given = {"objective": "distillation", "teacher": str(tmp_path / "teacher")}
    with pytest.warns(UserWarning, match="no place in this model"):
        assert make_model(tiny_task(**given, start=str(tmp_path / "same"))).config.model_type == "bert"
    with pytest.warns(UserWarning), pytest.raises(UserError, match="has another vocabulary than the teacher"):
        make_model(tiny_task(**given, start=str(tmp_path / "swapped")))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"objective": "distillation"}, "needs a teacher: give its folder with --teacher"),
        ({"teacher": "a"}, "a teacher is given, and the objective 'pairs' has none"),
        ({"objective": "distillation", "teacher": "a", "pairs": "order"}, "the objective 'distillation' has no pairs"),
        (
            {"objective": "distillation", "teacher": "a", "vocab_size": 90},
            "--vocab-size is set by the model that --teacher",
        ),
        (
            {"objective": "distillation", "teacher": "a", "preset": "mini"},
            "--preset is set by the model that --teacher",
        ),
        ({"start": "a", "preset": "mini"}, "--preset is set by the model that --from"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, told):
    with pytest.raises(UserError, match=told):
        Plan.from_options(**options)


def test_a_run_from_before_there_were_teachers_can_be_resumed():
    """Its settings name none."""
    assert "teacher" not in PretrainingSettings().data_identity()


def test_a_run_leaves_a_student_and_names_its_teacher(tmp_path, capsys):
    """From a run's folder: the student opens here and in transformers, and its report has the figures of both."""
    pretrain(plan(tmp_path / "teacher", steps=4, vocab_size=70), lambda _: None)  # fewer than the text would give
    teacher = BertForPreTraining.from_pretrained(tmp_path / "teacher")
    options = {"objective": "distillation", "teacher": str(tmp_path / "teacher"), "vocab_size": None, "log_steps": 2}
    said: list[str] = []
    metrics = pretrain(plan(tmp_path / "run", steps=6, validations=2, **options), said.append)
    assert metrics is not None and metrics == read_json(tmp_path / "run/metrics.json")
    model, tokenizer = open_model(tmp_path / "run")
    assert type(model) is MaskedLM and model.config.model_type == "distilbert"
    assert len(tokenizer) == 70
    assert tokenizer.vocab == BertTokenizer.from_pretrained(tmp_path / "teacher/checkpoint").vocab
    of_student, of_teacher = (sum(weight.numel() for weight in one.parameters()) for one in (model, teacher))
    assert metrics["run"]["parameters"] == of_student < of_teacher
    assert any(f"a student of {tmp_path / 'teacher'} with {of_student:,} parameters" in line for line in said)
    figures = metrics["evaluation"]["held-out documents"]
    found = figures["distillation"]
    assert found["teacher"]["parameters"] == of_teacher and found["teacher"]["masked_words"] == figures["masked_words"]
    assert found["kl_loss"] > 0 and 0 <= found["mlm_agreement"] <= 1 and 0 <= found["cos_loss"] <= 2
    names = {name for line in read_metrics(tmp_path / "run") for name in line}
    assert {"kl_loss", "kl_agreement", "cos_loss", "mlm_loss", "mlm_teacher", "validation_mlm_agreement"} <= names
    theirs, info = transformers.AutoModelForMaskedLM.from_pretrained(
        tmp_path / "run/checkpoint", output_loading_info=True
    )
    assert isinstance(theirs, transformers.DistilBertForMaskedLM) and not any(info.values()), info
    assert len(fill_mask(model, tokenizer, "cats like [MASK]", 3)[0]) == 3
    text = write_report(tmp_path / "run").read_text(encoding="utf-8")
    assert "What a small DistilBERT has learned from its teacher" in text and f"{of_teacher:,}" in text
    assert "same answer as the teacher" in text and "--objective distillation --teacher" in text
    assert "learned from the training text" not in text and "Sentence pairs" not in text
    show_results(tmp_path / "run", metrics)
    assert "What it fills in:" in capsys.readouterr().out


def test_repeating_the_text_is_not_taken_for_skill():
    """A teacher says of tokens that it sees that they stand there, and so does a student that learned no more."""
    teacher = {"masked_words": 100, "mlm_accuracy": 0.5, "perplexity": 9.0, "parameters": 1000}
    found = {
        "tokens": 900,
        "kl_loss": 0.25,
        "kl_agreement": 0.8,
        "kl_copied": 0.85,
        "mlm_agreement": 0.4,
        "cos_loss": 0.1,
    }
    words = {"masked_words": 100, "mlm_accuracy": 0.3, "perplexity": 20.0, "baselines": {}}
    rows = results({"evaluation": {"held-out documents": {**words, "distillation": {**found, "teacher": teacher}}}})
    shown = {row.measure: row.shown() for row in rows}
    assert shown["masked words, accuracy of the student"] == "30.0%"
    assert shown["masked words, accuracy of the teacher"] == "50.0%"
    assert shown["all tokens, KL divergence from the teacher (nats, T = 2)"] == "0.250"
    assert shown["all tokens, cosine with the teacher's last hidden states"] == "0.900"
    assert verdicts(rows) == [
        "all tokens, same answer as the teacher (held-out documents): the model 80.0%, repeating the text 85.0%"
    ]
