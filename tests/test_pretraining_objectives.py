"""What holds for every objective: who adds one hears here what was forgotten. And one that is defined here."""

import html
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.tiny_run import save_teacher, tiny_task

from bertedu.cli import main
from bertedu.family import MEMBERS
from bertedu.files import read_json
from bertedu.pretraining.members import objectives_of, trained_for
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
from bertedu.registry import OBJECTIVES
from bertedu.visualization.report import write_report
from bertedu.visualization.results import results

pytestmark = pytest.mark.usefixtures("made_up")
REPOSITORY = Path(__file__).resolve().parents[1]


class RandomWords(MaskedWords):
    """Masked words without [MASK]: each of the chosen tokens is replaced by a random word."""

    help = "no [MASK]: random words in place of those that are asked for"
    mask_share, random_share = 0.0, 1.0
    chosen_are = "replaced by random words"
    about_curves = "Each word that is asked for was replaced by a random one."


@pytest.fixture(autouse=True)
def random_words(monkeypatch):
    monkeypatch.setitem(OBJECTIVES.places, "random-words", RandomWords)


EVERY = [*OBJECTIVES, "random-words"]


def options_for(objective: str, tmp_path) -> dict:
    if OBJECTIVES[objective].has_teacher:
        return {"objective": objective, "teacher": str(save_teacher(tmp_path / "teacher"))}
    return {"objective": objective, "architecture": trained_for(objective)[0]}


@pytest.mark.parametrize("objective", EVERY)
def test_every_objective_is_in_the_help_and_on_the_page_of_the_family(objective):
    said = CliRunner().invoke(main, ["pretrain", "--help"]).output
    assert f"  {objective} " in said and " ".join(OBJECTIVES.help_of(objective).split()[:4]) in " ".join(said.split())
    default = MEMBERS["bert"].objective, "words"
    if objective not in (*default, "random-words"):
        assert f"--objective {objective}" in (REPOSITORY / "docs" / "family.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("objective", EVERY)
def test_a_run_for_every_objective_has_its_figures_its_page_and_goes_on(objective, tmp_path):
    """A run by its options, its figures, its page and the command on it, and the same run gone on with."""
    given = {**options_for(objective, tmp_path), "steps": 2, "batch_size": 8, "max_length": 24, "device": "cpu"}
    options = {"vocab_size": 300} if "teacher" not in given else {}
    made = Plan.from_options(output=tmp_path / "run", corpus=("made up",), precision="fp32", **given, **options)
    metrics = pretrain(made, say=lambda said: None)
    assert metrics and metrics == read_json(tmp_path / "run/metrics.json")
    of, rows = OBJECTIVES[objective], results(metrics)
    figures = metrics["evaluation"]["held-out documents"]
    if of.section:
        assert of.section in figures, "what it adds is missing"
        of.check_figures(figures, "metrics.json")
    assert any("masked words" in row.measure for row in rows)
    text = html.unescape(write_report(tmp_path / "run").read_text(encoding="utf-8"))
    assert of.about_curves[:40] in text and f"<dd>{objective}</dd>" in text and f"<dt>{of.chosen_are}</dt>" in text
    again = Plan.from_options(resume=tmp_path / "run")
    assert again.settings.objective == objective
    assert pretrain(again, say=lambda said: None)["evaluation"] == metrics["evaluation"]


@pytest.mark.parametrize("objective", EVERY)
def test_figures_for_people_are_among_those_that_are_written(objective):
    of = OBJECTIVES[objective]
    made_of_others = {"cosine"}  # 1 - cos_loss, where both are as wide
    assert of.measures.keys() - made_of_others <= of.section_types.keys()
    assert all(measure.name and format(0.5, measure.form) for measure in of.measures.values())
    assert list(of.panels) and all("_" in figure for figure in of.panels)


def test_a_new_objective_is_known_to_the_members_that_can_learn_it():
    assert "random-words" in objectives_of("bert") and "random-words" in objectives_of("modernbert")
    assert "random-words" not in objectives_of("xlnet"), "it reads no [MASK], so it cannot be asked for one"


def test_random_words_stand_where_masks_would():
    task = tiny_task(objective="random-words", architecture="roberta")
    batch = task.prepare(task.epoch(0)[0], 0, 0.0)
    chosen = batch["labels"] != -100
    assert chosen.any() and not (batch["input_ids"][chosen] == task.tokenizer.mask_token_id).any()
    changed = (batch["input_ids"][chosen] != batch["labels"][chosen]).float().mean()
    assert changed > 0.7, "where a special token is drawn, a tenth of this vocabulary, the word stays"


@pytest.mark.parametrize("objective", [name for name in OBJECTIVES if not OBJECTIVES[name].has_teacher])
def test_the_best_weights_are_chosen_by_the_loss_that_is_trained(objective):
    """Each loss that is trained makes the quality worse, by its weight; pairs count in full when weights are chosen."""
    task = tiny_task(objective=objective, architecture=trained_for(objective)[0])
    trained = [f"{name}_loss" for name in task.counts(task.prepare(task.epoch(0)[0], 0, 0.0)) if name != "span"]
    figures = dict.fromkeys([*trained, "mlm_loss"], 1.0)
    before = task.quality(figures)
    for name in trained:
        weight = 1.0 if name == "nsp_loss" else task.loss_weights.get(name, 1.0)
        assert before - task.quality({**figures, name: 2.0}) == pytest.approx(weight), name
