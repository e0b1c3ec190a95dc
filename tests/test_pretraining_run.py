"""A whole run on a handful of made-up documents: the folder it leaves, a second run there, and going on."""

import pytest
import torch
import transformers
from support.made_up_text import made_up_corpus, plan
from support.small_runs import save_model

from bertedu.corpora.documents import Corpus, Document
from bertedu.errors import UserError
from bertedu.files import read_json
from bertedu.inference import open_model
from bertedu.model import BertForMaskedLM, BertForPreTraining
from bertedu.pretraining import run
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_model, make_task, pretrain
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import BertTokenizer
from bertedu.training import loop
from bertedu.training.loop import Trainer
from bertedu.training.metrics import read_metrics
from bertedu.training.run_folder import LOCK, holding
from bertedu.visualization.report import write_report

pytestmark = pytest.mark.usefixtures("made_up")


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ({"initialization": "matching"}, 6.0),
        ({}, 1.0),
        ({"optimizer": "adamw"}, 1.0),
        ({"start": True, "vocab_size": None}, 6.0),
    ],
)
def test_positions_learn_slower_beside_heads_that_need_them(tmp_path, monkeypatch, options, scale):
    """Beside Muon they would learn six times as fast, and AdamW alone has no such factor to take from them. A model
    that is given does not begin with neighbors.
    """
    scales: list[float] = []
    if "start" in options:
        options = {**options, "start": str(save_model(tmp_path / "given"))}

    def seen(trainer, resume):
        names = {id(weight): name for name, weight in trainer.bare_model.named_parameters()}
        scales.extend(
            group["scale"]
            for optimizer in trainer.optimizers
            for group in optimizer.param_groups
            if any(names[id(weight)] == "bert.embeddings.position.weight" for weight in group["params"])
        )
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "run", seen)
    with pytest.raises(KeyboardInterrupt):
        pretrain(plan(tmp_path / "run", **options))
    assert scales == [scale]


def test_a_run_leaves_a_folder_with_all_of_it(tmp_path):
    """The training text has far fewer pairs than the baselines would like to learn from."""
    said: list[str] = []
    results = pretrain(plan(tmp_path), said.append)
    assert results is not None and results == read_json(tmp_path / "metrics.json")
    assert results["run"]["step"] == 4
    assert 0 <= results["evaluation"]["held-out documents"]["mlm_accuracy"] <= 1
    assert BertTokenizer.from_pretrained(tmp_path / "checkpoint").vocab
    assert (tmp_path / "run.json").exists() and (tmp_path / "metrics.jsonl").exists()
    with pytest.warns(UserWarning, match="no place in this model"):
        BertForMaskedLM.from_pretrained(tmp_path)
    assert said[0] == "reading documentation"


def test_going_on_from_a_model_keeps_its_weights_and_vocabulary(tmp_path):
    pretrain(plan(tmp_path / "first"), lambda line: None)
    first = BertForPreTraining.from_pretrained(tmp_path / "first")
    of_the_first = {"vocab_size": None, "start": str(tmp_path / "first/checkpoint")}
    pretrain(plan(tmp_path / "second", learning_rate=1e-9, **of_the_first), lambda line: None)
    second = BertForPreTraining.from_pretrained(tmp_path / "second")
    for name, weight in first.state_dict().items():
        assert torch.allclose(weight, second.state_dict()[name], atol=1e-6), name
    with pytest.raises(UserError, match=r"max_length is 25, and .* has 24 positions"):
        pretrain(plan(tmp_path / "third", max_length=25, **of_the_first), lambda line: None)


def test_a_folder_that_holds_a_run_is_not_overwritten(tmp_path):
    pretrain(plan(tmp_path), lambda line: None)
    before = (tmp_path / "resume.safetensors").read_bytes()
    with pytest.raises(UserError, match=f"holds a run already: go on with --resume {tmp_path}"):
        pretrain(plan(tmp_path), lambda line: None)
    assert (tmp_path / "resume.safetensors").read_bytes() == before


class Killed(BaseException):
    """Stands for a kill."""


@pytest.mark.parametrize("again", ["resume", "start"])
@pytest.mark.parametrize("lost", ["save_state", "save_pretrained", "save"])
def test_a_run_killed_before_its_first_state_can_be_started_again(tmp_path, monkeypatch, again, lost):
    """Between run.json and the first state, the folder could neither be resumed nor started in."""

    def killed(*anything, **more):
        raise Killed

    place = {"save_state": loop, "save_pretrained": BertTokenizer, "save": Plan}[lost]
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(place, lost, killed)
        pretrain(plan(tmp_path / "run"), lambda line: None)
    whole = pretrain(plan(tmp_path / "whole"), lambda line: None)
    if again == "start":
        results = pretrain(plan(tmp_path / "run"), lambda line: None)
    elif lost == "save_state":
        results = pretrain(Plan.from_options(resume=tmp_path / "run"), lambda line: None)
    else:
        with pytest.raises(UserError, match=r"has no run\.json"):
            Plan.from_options(resume=tmp_path / "run")
        return
    assert whole and results and results["evaluation"] == whole["evaluation"]
    weights = "checkpoint/model.safetensors"
    assert (tmp_path / "run" / weights).read_bytes() == (tmp_path / "whole" / weights).read_bytes()


def test_a_run_whose_state_was_deleted_is_not_trained_over_its_weights(tmp_path):
    pretrain(plan(tmp_path), lambda line: None)
    before = (tmp_path / "checkpoint/model.safetensors").read_bytes()
    (tmp_path / "resume.safetensors").unlink()
    with pytest.raises(UserError, match="holds a run already"):
        pretrain(plan(tmp_path), lambda line: None)
    with pytest.raises(UserError, match=r"resume\.safetensors is missing"):
        pretrain(Plan.from_options(resume=tmp_path), lambda line: None)
    assert (tmp_path / "checkpoint/model.safetensors").read_bytes() == before


def test_two_runs_in_one_folder_are_kept_apart(tmp_path):
    with holding(tmp_path), pytest.raises(UserError, match="is in use by another run"):
        pretrain(plan(tmp_path), lambda line: None)
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]
    assert pretrain(plan(tmp_path), lambda line: None), "the lock was not given back"
    before = (tmp_path / "metrics.json").stat().st_mtime_ns
    with holding(tmp_path), pytest.raises(UserError, match="is in use by another run"):
        pretrain(Plan.from_options(resume=tmp_path), lambda line: None)
    assert (tmp_path / "metrics.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("objective", ["pairs", "words", "spans", "replaced-tokens", "permutation"])
def test_a_stopped_run_says_how_to_go_on_and_ends_the_same(tmp_path, monkeypatch, objective):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    expected = pretrain(plan(whole, objective=objective), lambda line: None)
    step = Trainer._step

    def stop_behind_the_second(self, batch, share):
        step(self, batch, share)
        self.stopped = self.progress.step == 2

    monkeypatch.setattr(Trainer, "_step", stop_behind_the_second)
    said: list[str] = []
    assert pretrain(plan(stopped, objective=objective), said.append) is None
    assert said[-1] == f"stopped and saved: go on with `bertedu pretrain --resume {stopped}`"
    assert not (stopped / "metrics.json").exists()
    monkeypatch.undo()
    monkeypatch.setattr(run, "load_corpus", lambda names: made_up_corpus())
    results = pretrain(Plan.from_options(resume=stopped), lambda line: None)
    assert results is not None and expected is not None
    assert results["evaluation"] == expected["evaluation"]
    weights = "checkpoint/model.safetensors"
    assert (stopped / weights).read_bytes() == (whole / weights).read_bytes()


@pytest.mark.parametrize("change", [{"batch_size": 4}, {"vocab_size": 90}, {"seed": 1}, {"learning_rate": 0.5}])
def test_a_refused_resume_leaves_the_run_as_it_was(tmp_path, change):
    """Written before the check, run.json would keep the refused option, and the run could never go on."""
    pretrain(plan(tmp_path), lambda line: None)
    kept = ["run.json", "checkpoint/vocab.txt", "resume.safetensors"]
    before = [(tmp_path / name).read_bytes() for name in kept]
    name, value = next(iter(change.items()))
    with pytest.raises(UserError, match=f"{name} was .*, is now {value}"):
        pretrain(Plan.from_options(resume=tmp_path, **change), lambda line: None)
    assert [(tmp_path / name).read_bytes() for name in kept] == before


def test_a_corpus_without_text_is_refused():
    with pytest.raises(UserError, match="nothing holds no training text"):
        make_task(Corpus("nothing", [Document((), "a")], [], {}), PretrainingSettings())


def test_the_model_has_the_size_and_start_that_were_asked_for():
    settings = {"vocab_size": 120, "max_length": 24, "dropout": 0.2, "seed": 5}
    task = make_task(made_up_corpus(), PretrainingSettings(**settings))
    model, again = make_model(task), make_model(task)
    config = model.config
    assert (config.vocab_size, config.max_position_embeddings) == (len(task.tokenizer), 24)
    assert config.hidden_dropout_prob == config.attention_probs_dropout_prob == 0.2
    assert all((a == b).all() for a, b in zip(model.parameters(), again.parameters(), strict=True))
    assert model.masked_lm.decoder.bias.std() > 0.1
    published = make_model(make_task(made_up_corpus(), PretrainingSettings(initialization="published", **settings)))
    assert not published.masked_lm.decoder.bias.any()
    assert float(published.bert.pooler.dense.weight.detach().std()) == pytest.approx(0.88 * 0.02, rel=0.05)


def test_masked_words_alone_are_trained_without_pairs_and_leave_their_own_model(tmp_path):
    """The folder opens as a masked language model, here and in transformers, and its report says nothing of pairs."""
    results = pretrain(plan(tmp_path, objective="words", log_steps=1, max_length=64), lambda line: None)
    assert results is not None
    figures = results["evaluation"]["held-out documents"]
    assert figures["masked_words"] > 0 and not any("nsp" in name or name == "pairs" for name in figures)
    assert "word overlap" not in figures["baselines"]
    assert not any("nsp" in name for line in read_metrics(tmp_path) for name in line)
    model, _ = open_model(tmp_path)
    assert type(model) is BertForMaskedLM
    _, said = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "checkpoint", output_loading_info=True)
    assert not any(said.values())
    text = write_report(tmp_path).read_text()
    assert "pairs of at most" not in text and "Accuracy on pairs" not in text and "Sentence pairs" not in text


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"objective": "rhymes"}, "no objective 'rhymes': choose one of distillation, pairs"),
        ({"objective": "words", "pairs": "order"}, "pairs is 'order', and the objective 'words' has no pairs"),
        ({"objective": "replaced-tokens", "pairs": "order"}, "the objective 'replaced-tokens' has no pairs"),
        ({"objective": "replaced-tokens", "initialization": "counted"}, "take matching or published"),
    ],
)
def test_an_objective_that_cannot_be_is_refused(changes, told):
    with pytest.raises(UserError, match=told):
        PretrainingSettings(**changes)
