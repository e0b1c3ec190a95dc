"""What the comparison of the family decides: budgets, the same text and rows for all, what is kept, what is noise."""

import math
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from bertedu.config import BertConfig
from bertedu.corpora.documents import Corpus, Document
from bertedu.errors import UserError
from bertedu.files import read_json, write_json
from bertedu.model.architecture import architecture
from bertedu.model.heads import MaskedLM
from bertedu.tokenization import BertTokenizer
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer
from bertedu.training.optimization import EMBEDDING_RATE

BENCHMARKS = str(Path(__file__).resolve().parents[1] / "benchmarks")


@pytest.fixture(scope="module")
def harness() -> Iterator[SimpleNamespace]:
    """The modules of the comparison, which import each other as a script's neighbours do."""
    sys.path.insert(0, BENCHMARKS)
    names = ("family", "family_members", "family_scores", "family_speed", "family_table")
    yield SimpleNamespace(**{name: import_module(name) for name in names})
    sys.path.remove(BENCHMARKS)


def sentence(number: int) -> str:
    """One of the sentences of a small text, always the same."""
    words = ["the", "a", "house", "garden", "river", "bank", "child", "old", "green", "runs", "sees", "near", "stone"]
    return " ".join(random.Random(number).choices(words, k=9)) + "."


@pytest.fixture
def workshop(harness, tmp_path):
    """A workshop on a text of 240 sentences, for runs of a second."""
    of = harness.family_members
    recipe = of.Recipe(seconds=0.4, search_seconds=0.2, bert_tokens=1000, vocab_size=80, max_length=16, batch_size=4)
    made = of.Workshop(tmp_path / "state", tmp_path, recipe)
    documents = [Document(tuple(sentence(8 * number + line) for line in range(8)), "made") for number in range(30)]
    made.__dict__["corpus"] = Corpus("made", documents[:26], documents[26:28], {"held-out documents": documents[28:]})
    return made


def silent(line: str) -> None:
    """Says nothing."""


def test_a_budget_is_measured_in_the_members_own_time(harness, monkeypatch):
    clock = {"process": 0.0}
    progress = SimpleNamespace(tokens=0)

    def step(portion: None, share: float) -> None:
        progress.tokens += 100
        clock["process"] += 0.5

    trainer = SimpleNamespace(
        model=torch.nn.Linear(1, 1),
        progress=progress,
        budget=SimpleNamespace(share=lambda progress: 0.0),
        _portions=lambda: iter([None] * 100),
        _step=step,
    )
    monkeypatch.setattr(harness.family_speed.time, "process_time", lambda: clock["process"])
    assert next(harness.family_speed.steps_of(trainer)) == pytest.approx(200)


def test_a_member_is_given_the_tokens_of_its_own_speed(harness, workshop):
    # Measured while something else slowed the machine down: its share of BERT's speed counts, not its tokens a second.
    write_json(workshop.state / "speed" / "deberta.json", {"tokens_per_second": 300.0, "share_of_bert": 0.6})
    comparison = harness.family.Comparison(workshop, workshop.state, ["deberta"], 1, silent)
    assert comparison.tokens("deberta", 20) == 12_000


def test_members_are_trained_with_one_recipe(harness, workshop):
    own = {"architecture", "objective", "pairs", "mask_rates", "start", "teacher"}
    names = harness.family.here_already(
        [name for name, one in harness.family_members.MEMBERS.items() if not one.student]
    )
    found = {name: asdict(workshop.settings(name, seed=3)) for name in names}
    shared = {name: {key: value for key, value in one.items() if key not in own} for name, one in found.items()}
    assert len(names) >= 8
    assert all(one == shared["bert"] for one in shared.values())
    assert shared["bert"]["seed"] == 3


@pytest.mark.parametrize("name", ["bert", "roberta", "electra", "distilbert-alone", "albert", "xlnet"])
def test_every_member_gets_the_initialization_that_spares_it_the_plateau(harness, workshop, name):
    workshop.recipe = replace(workshop.recipe, vocab_size=300)  # 256 of them are bytes, in RoBERTa's
    settings = workshop.settings(name, seed=2)
    tokenizer, train, validation = workshop.texts(name)
    task = harness.family_members.OBJECTIVES[settings.objective](train, validation, tokenizer, settings)
    model = task.reader(workshop.model(task))
    find = architecture(model.config.model_type).matching
    assert (find is None) == (name in ("albert", "xlnet"))
    if find is not None:
        weights = find(getattr(model, model.encoder_name))
        assert torch.equal(weights.query, weights.key)


@pytest.mark.parametrize("name", ["bert", "spanbert", "electra", "xlnet"])
def test_embeddings_learn_at_their_own_rate(harness, workshop, tmp_path, name):
    workshop.recipe = replace(workshop.recipe, optimizer="muon")
    trainer = workshop.trainer(name, 1, 1e-3, Budget(steps=1), tmp_path)
    names = {id(weight): path for path, weight in trainer.bare_model.named_parameters()}
    groups = [group for optimizer in trainer.optimizers for group in optimizer.param_groups]
    scales = {names[id(weight)]: group["scale"] for group in groups for weight in group["params"]}
    (tokens,) = (path for path, scale in scales.items() if scale != 1)
    assert scales[tokens] == EMBEDDING_RATE
    assert trainer.bare_model.get_parameter(tokens).size(0) == len(trainer.task.tokenizer)


def test_the_students_start_with_one_shape_and_vocabulary(harness, workshop):
    alone, taught = (workshop.settings(name, seed=1) for name in ("distilbert-alone", "distilbert-taught"))
    tokenizers = {
        workshop.tokenizer(harness.family_members.MEMBERS[name]).vocab.keys()
        == BertTokenizer.from_pretrained(harness.family_members.TEACHER).vocab.keys()
        for name in ("distilbert-alone", "distilbert-taught")
    }
    assert tokenizers == {True} and taught.teacher and not taught.start
    config = read_json(Path(alone.start) / "config.json")
    teacher = read_json(harness.family_members.TEACHER / "config.json")
    assert config["dim"] == teacher["hidden_size"] and 2 * config["n_layers"] == teacher["num_hidden_layers"]


def test_two_members_are_examined_on_the_same_rows(harness):
    scores = harness.family_scores
    exam = replace(scores.EXAMS["reviews"], rows=50, most_test=30)
    random.seed(1)
    first = scores.rows_of(exam, Path("nowhere"))
    random.seed(2)
    assert scores.rows_of(exam, Path("nowhere")) == first
    assert [len(part) for part in first] == [50, 15, 30]
    train, validation, test = ({row.text for row in part} for part in first)
    assert not train & test and not validation & test


def test_a_unit_that_is_finished_is_not_computed_again(harness, workshop):
    comparison = harness.family.Comparison(workshop, workshop.state, ["bert"], 1, silent)
    assert comparison.unit("rates/bert/0.001", lambda: {"quality": 1.5}) == {"quality": 1.5}
    again = harness.family.Comparison(workshop, workshop.state, ["bert"], 1, silent)
    assert again.unit("rates/bert/0.001", lambda: pytest.fail("computed again")) == {"quality": 1.5}


def test_figures_of_two_recipes_are_not_mixed(harness, workshop):
    harness.family.Comparison(workshop, workshop.state, ["bert"], 1, silent)
    workshop.recipe = replace(workshop.recipe, seconds=2)
    with pytest.raises(UserError, match=r"recipe.json is of another comparison \(seconds was 0.4, is now 2\)"):
        harness.family.Comparison(workshop, workshop.state, ["bert"], 1, silent)


@pytest.fixture
def one_exam(harness, monkeypatch):
    """One small task, and probes that need no public sets."""
    exams = {"reviews": replace(harness.family_scores.EXAMS["reviews"], rows=24, epochs=1, most_test=24)}
    for module in (harness.family, harness.family_table):
        monkeypatch.setattr(module, "EXAMS", exams)
    monkeypatch.setattr(harness.family, "probed", lambda *given: dict.fromkeys(harness.family_table.PROBES, 0.5))


def test_the_checkpoint_that_is_to_be_scored_is_kept_for_another_machine(
    harness, workshop, one_exam, monkeypatch, tmp_path
):
    units = tmp_path / "units"
    write_json(units / "speed" / "bert.json", {"share_of_bert": 1.0})
    write_json(units / "cost" / "bert.json", {"parameters": 1})
    for rate in workshop.recipe.rates:
        write_json(units / "rates" / "bert" / f"{rate:g}.json", {"rate": rate, "quality": -rate})
    before = sorted(units.rglob("*.json"))

    def killed(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(harness.family, "examined", killed)
        harness.family.Comparison(workshop, units, ["bert"], 1, silent).member_and_seed("bert", 0)
    assert (workshop.state / "seed-0" / "bert" / "run" / "checkpoint" / "model.safetensors").exists()
    assert sorted(units.rglob("*.json")) == sorted([*before, units / "recipe.json"])  # nothing that needs a checkpoint
    elsewhere = harness.family_members.Workshop(tmp_path / "elsewhere", workshop.datasets, workshop.recipe)
    elsewhere.__dict__["corpus"] = workshop.corpus
    harness.family.Comparison(elsewhere, units, ["bert"], 1, silent).member_and_seed("bert", 0)
    unit = read_json(units / "seed-0" / "bert.json")
    assert set(unit) == {"pretraining", "text", "probes", "exams"} and 0 <= unit["exams"]["reviews"]["test"] <= 1
    said: list[str] = []
    harness.family.Comparison(workshop, units, ["bert"], 1, said.append).member_and_seed("bert", 0)
    assert not said, "trained or scored again on the first machine"


def test_scored_checkpoints_are_removed(harness, workshop, one_exam, tmp_path):
    harness.family.Comparison(workshop, tmp_path / "units", ["bert"], 1, silent).member_and_seed("untrained", 0)
    assert (tmp_path / "units" / "seed-0" / "untrained.json").exists()
    assert not list(workshop.state.rglob("seed-0/**/*.safetensors"))


@pytest.mark.parametrize("name", ["bert", "electra"])
def test_a_run_that_was_killed_ends_as_the_whole_one(harness, workshop, monkeypatch, tmp_path, name):
    made = harness.family_members.TrainingSettings
    monkeypatch.setattr(harness.family_members, "TrainingSettings", lambda **given: made(**given, save_seconds=0.0))
    step = Trainer._step

    def killed(trainer, portion, share):
        if trainer.progress.step == 7:
            raise MemoryError  # nothing in the loop waits for this
        step(trainer, portion, share)

    whole = workshop.pretrain(name, 0, 1e-3, 900, tmp_path / "whole")
    with monkeypatch.context() as patched, pytest.raises(MemoryError):
        patched.setattr(Trainer, "_step", killed)
        workshop.pretrain(name, 0, 1e-3, 900, tmp_path / "killed")
    again = workshop.pretrain(name, 0, 1e-3, 900, tmp_path / "killed")
    assert again["steps"] == whole["steps"] > 8 and whole["measured_tokens"] == whole["tokens"]
    assert 0 < again["measured_tokens"] < again["tokens"]  # it went on, and did not begin anew
    assert again["validation"] == whole["validation"]
    weights = ((tmp_path / of / "checkpoint" / "model.safetensors").read_bytes() for of in ("whole", "killed"))
    assert len(set(weights)) == 1


def test_a_run_that_was_stopped_does_not_count_as_finished(harness, workshop, monkeypatch, tmp_path):
    step = Trainer._step

    def stopped(trainer, portion, share):
        step(trainer, portion, share)
        if trainer.progress.step == 3:
            trainer._stop()  # as Ctrl-C and SIGTERM do

    monkeypatch.setattr(Trainer, "_step", stopped)
    comparison = harness.family.Comparison(workshop, workshop.state, ["bert"], 1, silent)
    with pytest.raises(KeyboardInterrupt):
        comparison.unit("seed-0/bert/pretraining", lambda: workshop.pretrain("bert", 0, 1e-3, 900, tmp_path / "run"))
    assert not (workshop.state / "seed-0" / "bert" / "pretraining.json").exists()


def test_a_member_that_fails_does_not_stop_the_others(harness, workshop):
    said = []
    comparison = harness.family.Comparison(workshop, workshop.state, ["bert"], 1, said.append)
    comparison.attempt("albert", lambda: 1 / 0)
    assert comparison.failed == ["albert"] and "ZeroDivisionError" in said[0]
    with pytest.raises(KeyboardInterrupt):
        comparison.attempt("albert", raise_interrupt)


def raise_interrupt() -> None:
    """As Ctrl-C does."""
    raise KeyboardInterrupt


def test_the_rate_is_chosen_by_the_validation_text_alone(harness, workshop, monkeypatch):
    comparison = harness.family.Comparison(workshop, workshop.state, ["bert"], 1, silent)
    write_json(workshop.state / "speed" / "bert.json", {"share_of_bert": 1.0})
    tried = []

    def pretrain(name, seed, rate, tokens, folder):
        tried.append((rate, seed, tokens))
        if rate == max(workshop.recipe.rates):
            raise UserError("the weights ran away")
        return {"rate": rate, "quality": -rate}

    monkeypatch.setattr(workshop, "pretrain", pretrain)
    assert comparison.rate("bert") == min(workshop.recipe.rates)
    assert tried == [(rate, harness.family_members.SEARCH_SEED, 200) for rate in workshop.recipe.rates]
    assert harness.family_members.SEARCH_SEED >= 100  # no seed of the table


def test_the_table_marks_what_welch_does_not_tell_from_bert(harness):
    table = harness.family_table
    scores = {"bert": [0.60, 0.62, 0.64], "electra": [0.63, 0.65, 0.67], "albert": [0.70, 0.72, 0.74]}
    assert table.within_noise(scores, "electra", "bert") and not table.within_noise(scores, "albert", "bert")
    assert table.cell(scores, "electra") == "≈0.650 ± 0.020"
    assert table.cell(scores, "albert") == "0.720 ± 0.020"
    assert table.within_noise({"bert": [0.1], "albert": [0.9]}, "albert", "bert")  # one seed tells nothing


def test_the_noise_of_one_member_is_not_that_of_another(harness):
    scores = {"bert": [0.70, 0.66, 0.71], "electra": [0.29, 0.59, 0.47], "albert": [0.60, 0.61, 0.59]}
    table = harness.family_table
    assert table.within_noise(scores, "electra", "bert")  # the larger gap, and not told from noise
    assert not table.within_noise(scores, "albert", "bert")


def test_the_rest_of_a_word_does_not_give_its_pieces_away(harness):
    tokenizer = BertTokenizer.train(["an embankment by the bank"] * 3, vocab_size=30)
    seen = []

    def network(input_ids, masked_positions, **rest):
        seen.append((input_ids, masked_positions))
        return SimpleNamespace(prediction_logits=torch.zeros(int(masked_positions.sum()), 30))

    nats = harness.family_scores.hidden_nats(network, tokenizer, "bank embankment")
    (ids, hidden), pieces = seen[0], tokenizer.tokenize("bank embankment")
    second = next(place for place, piece in enumerate(pieces) if place and not piece.startswith("##"))
    assert len(ids) == len(pieces) and len(pieces) - second > 2
    assert nats == pytest.approx(len(pieces) * math.log(30), rel=1e-5)
    for row in range(second, len(pieces)):  # of "embankment" this piece and those after it, and nothing of "bank"
        expected = [False] * (row + 1) + [True] * (len(pieces) - row) + [False]  # [CLS] and [SEP] around them
        assert hidden[row].tolist() == expected
        assert (ids[row] == tokenizer.mask_token_id).tolist() == expected


@pytest.mark.parametrize("text", ["an embankment by the bank " * 5, "the bank . "])
def test_a_review_that_is_too_long_or_ends_in_a_space_is_read(harness, text):
    tokenizer = BertTokenizer.train([text] * 3, vocab_size=30)
    model = MaskedLM.from_config(BertConfig(len(tokenizer), 8, 1, 2, 12, max_position_embeddings=8))
    vectors, labels = harness.family_scores.of_texts(model, tokenizer, [SimpleNamespace(text=text, label="good")])
    assert vectors.shape == (1, 2, 8) and labels == ["good"]
    for most in (5, 20, 1000):
        shorter = harness.family_scores.that_fits(text, tokenizer, most)
        assert text.startswith(shorter) and 2 < tokenizer(shorter).input_ids.size(1) <= most
    assert shorter == text.strip(), "a text that fits is not cut"


@pytest.mark.slow(cases=0)  # 14 seconds
def test_the_whole_comparison_ends_with_a_table(harness, workshop, one_exam, tmp_path, capsys):
    said: list[str] = []
    comparison = harness.family.Comparison(workshop, workshop.state, ["bert", "electra"], 2, said.append)
    comparison.run()
    assert said[-1] == "done; failed: nothing", "\n".join(said)
    harness.family_table.report(workshop.state, tmp_path / "results")
    printed = capsys.readouterr().out
    assert "| ELECTRA | " in printed and "BERT, not pre-trained" in printed and "bag of words" in printed
    results = read_json(tmp_path / "results" / "results.json")
    assert [run["seed"] for run in results["runs"]["electra"]] == [0, 1]
    assert (tmp_path / "results" / "results.png").stat().st_size > 10_000
    of_electra = [line for line in printed.splitlines() if line.startswith("| ELECTRA |")]
    assert of_electra[1].endswith(" | – | – |")  # its generator is another network: no pseudo-perplexity
    # Nothing is computed a second time.
    again: list[str] = []
    harness.family.Comparison(workshop, workshop.state, ["bert", "electra"], 2, again.append).run()
    assert [line for line in again if ": {" in line] == []
