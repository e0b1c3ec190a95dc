"""Pre-training of every member of the family: what it can be trained for, how it starts, and a whole run of each."""

import random
from dataclasses import replace

import pytest
import torch
import transformers
from support.made_up_text import made_up_corpus, plan

from bertedu.corpora.documents import Corpus, Document, FactProbe, SenseExample
from bertedu.errors import UserError
from bertedu.family import MEMBERS
from bertedu.family.spanbert import SpanBert
from bertedu.inference import fill_mask, open_filler, open_model, word_vectors
from bertedu.model.architecture import architecture
from bertedu.pretraining import run
from bertedu.pretraining.baselines import NO_TOKEN
from bertedu.pretraining.initialization import POSITION_AMPLITUDE, initialize_for_matching, sinusoids
from bertedu.pretraining.masking import Draws
from bertedu.pretraining.members import article, objectives_of, options
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.probes import questions
from bertedu.pretraining.run import make_model, make_task, pretrain
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.registry import OBJECTIVES
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.xlm_roberta import XLMRobertaTokenizer
from bertedu.training.loop import Trainer
from bertedu.visualization.report import write_report

SIZES = {"vocab_size": 300, "max_length": 24, "batch_size": 8}
MATCHING = [name for name, one in MEMBERS.items() if "matching" in one.initializations]
FACT = FactProbe("Cats like warm [MASK].", "milk", "Milk")


def corpus() -> Corpus:
    """Made-up text, held-out text, a fact and a word with two senses."""
    senses = [
        SenseExample(f"{before} banks.", "banks", sense)
        for sense, before in (("river", "wide"), ("money", "warm"), ("river", "cold sea"), ("money", "warm milk"))
    ]
    found = made_up_corpus()
    about = Document(("Cats like warm Milk.", "wide banks.", "warm banks."), "made up")
    probes = {"fact_probes": [FACT], "sense_reference": senses[:2], "sense_heldout": senses[2:]}
    return replace(found, train=[*found.train, about, about, about], **probes)


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    monkeypatch.setattr(run, "load_corpus", lambda names: corpus())


# What each can be trained for ----------------------------------------------------------------------------------------


def test_every_member_is_registered_in_both_places():
    for name, one in MEMBERS.items():
        assert ("matching" in one.initializations) == (architecture(name).matching is not None), name
        assert "published" in one.initializations and one.objective in OBJECTIVES
    registered = {objective for name in MEMBERS for objective in objectives_of(name)}
    assert registered == set(OBJECTIVES) - {"distillation"}, "a student is any member that fills masks"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"architecture": "gpt"}, "no architecture 'gpt': choose one of bert, roberta"),
        (
            {"architecture": "roberta", "objective": "pairs"},
            "a RoBERTa cannot be trained for 'pairs': choose the objec",
        ),
        (
            {"architecture": "roberta", "objective": "pairs"},
            "objective words or spans, or for 'pairs' the architecture bert or albert",
        ),
        ({"architecture": "bert", "objective": "replaced-tokens"}, "for 'replaced-tokens' the architecture electra"),
        (
            {"architecture": "bert", "objective": "permutation"},
            "XLNet alone has that.: choose .* the architecture xlnet",
        ),
        (
            {"architecture": "roberta", "objective": "permutation"},
            "a RoBERTa cannot .* takes a second stream of vectors",
        ),
        ({"architecture": "xlnet", "objective": "words"}, "predicts words with its query stream"),
        (
            {"architecture": "xlnet", "objective": "spans"},
            "its content stream.* the objective permutation, or for 'spa",
        ),
        ({"architecture": "xlnet", "initialization": "matching"}, "'matching' does not fit .* XLNet: take published"),
        ({"architecture": "albert", "objective": "spans", "pairs": "order"}, "the objective 'spans' has no pairs"),
        ({"architecture": "albert", "initialization": "matching"}, "'matching' does not fit .* ALBERT: take published"),
        ({"architecture": "roberta", "initialization": "counted"}, "'counted' .* take matching or published"),
        ({"architecture": "modernbert", "pairs": "order"}, "the objective 'words' has no pairs"),
    ],
)
def test_a_combination_that_cannot_be_is_refused(changes, told):
    with pytest.raises(UserError, match=told):
        PretrainingSettings.for_preset("tiny", **changes)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("bert", "pairs", "next", "neighbors", "muon")),
        ({"objective": "replaced-tokens"}, ("electra", "replaced-tokens", "next", "matching", "muon")),
        ({"objective": "words"}, ("bert", "words", "next", "neighbors", "muon")),
        ({"objective": "spans"}, ("bert", "spans", "next", "neighbors", "muon")),
        ({"architecture": "albert", "objective": "spans"}, ("albert", "spans", "next", "published", "adamw")),
        ({"architecture": "albert"}, ("albert", "pairs", "order", "published", "adamw")),
        ({"architecture": "albert", "pairs": "next"}, ("albert", "pairs", "next", "published", "adamw")),
        ({"architecture": "albert", "objective": "words"}, ("albert", "words", "next", "published", "adamw")),
        ({"architecture": "distilbert"}, ("distilbert", "words", "next", "matching", "muon")),
        ({"architecture": "modernbert"}, ("modernbert", "words", "next", "published", "adamw")),
        ({"architecture": "xlnet"}, ("xlnet", "permutation", "next", "published", "adamw")),
        ({"objective": "permutation"}, ("xlnet", "permutation", "next", "published", "adamw")),
        ({"architecture": "electra", "preset": "base"}, ("electra", "replaced-tokens", "next", "published", "adamw")),
    ],
)
def test_every_member_gets_its_own_defaults(given, expected, tmp_path):
    asked = Plan.from_options(steps=1, output=tmp_path, **given)
    of = asked.settings
    assert (of.architecture, of.objective, of.pairs, of.initialization, asked.training.optimizer) == expected
    asked.save()
    again = Plan.from_options(resume=tmp_path)
    assert (again.settings, again.training) == (of, asked.training)


def test_base_of_a_member_is_made_by_its_own_recipe():
    settings = PretrainingSettings.for_preset("base", architecture="modernbert")
    assert (settings.vocab_size, settings.dropout, settings.mask_rates) == (50368, 0.0, (0.3, 0.3))
    assert PretrainingSettings.for_preset("base", architecture="electra").mask_rates == (0.15, 0.15)
    assert PretrainingSettings.for_preset("tiny", architecture="modernbert").mask_rates == (0.4, 0.3)
    spans = PretrainingSettings.for_preset("base", architecture="modernbert", objective="spans")
    assert (spans.mask_rates, spans.vocab_size) == ((0.15, 0.15), 50368), "spans grow into each other"
    assert PretrainingSettings.for_preset("base", architecture="roberta", vocab_size=9).vocab_size == 9


def test_a_run_of_one_member_is_not_written_over_that_of_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = [Plan.from_options(steps=1, **given).folder.as_posix() for given in ({}, {"architecture": "albert"})]
    assert folders == ["runs/documentation-tiny", "runs/documentation-albert-tiny"]


def test_a_name_gets_its_article():
    assert [article(MEMBERS[name].name) for name in ("bert", "roberta", "albert", "electra", "xlnet")] == [
        *("a BERT", "a RoBERTa", "an ALBERT", "an ELECTRA", "an XLNet")
    ]
    assert options("bert", "pairs") == options("bert", "") == ""
    assert options("albert", "words") == "--architecture albert --objective words "


# How a new model is made ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEMBERS)
def test_a_text_of_full_length_has_positions_enough(name):
    """RoBERTa counts from pad_token_id + 1. The tokenizer's padding is the model's, or it would be read as a word."""
    task = make_task(corpus(), PretrainingSettings(architecture=name, **SIZES))
    model = task.reader(make_model(task)).eval()
    config = model.config
    assert isinstance(task.tokenizer, architecture(name).tokenizer)
    assert (config.max_tokens, config.model_type) == (24, name)
    assert (config.vocab_size, config.pad_token_id) == (len(task.tokenizer), task.tokenizer.pad_token_id)
    ids = torch.randint(len(task.tokenizer), (2, 24), generator=torch.Generator().manual_seed(0))
    ids[ids == config.pad_token_id] += 1
    with torch.no_grad():
        output = model(ids)
    assert all(torch.isfinite(getattr(output, "prediction_logits", getattr(output, "logits", None))).flatten())


@pytest.mark.parametrize("name", MATCHING)
def test_matching_starts_queries_keys_and_positions_as_it_says(name):
    """RoBERTa's first token stands at position pad + 1: begun at row 0, its waves would start in the middle."""
    member = architecture(name)
    config = member.config.for_texts("tiny", 24, vocab_size=60, pad_token_id=1)
    torch.manual_seed(0)
    model = family_model(config)
    initialize_for_matching(model, torch.arange(60))
    encoder = getattr(model, model.encoder_name)
    first, embeddings = encoder.encoder.layers[0].attention, encoder.embeddings
    assert torch.equal(first.query.weight, first.key.weight) and first.query.weight.std() > 0.05
    inputs = embeddings.position_vectors(torch.full((1, 24), 7)).reshape(24, -1)
    assert torch.allclose(inputs, POSITION_AMPLITUDE * sinusoids(24, inputs.size(1)))
    assert not embeddings.token.weight[1].any()
    assert torch.allclose(model.masked_lm.decoder.bias.exp().sum(), torch.tensor(1.0), atol=1e-5)
    if name in ("roberta", "xlm-roberta"):
        assert not embeddings.position.weight[1].any(), "padding has no position"


def family_model(config):
    from bertedu.model.heads import MaskedLM

    return MaskedLM(config)


@pytest.mark.parametrize("name", ["albert", "deberta", "modernbert", "xlnet"])
def test_a_member_without_a_first_layer_or_positions_of_its_own_does_not_start_by_matching(name):
    config = architecture(name).config.for_texts("tiny", 24, vocab_size=60, pad_token_id=1)
    with pytest.raises(UserError, match="cannot start by matching"):
        initialize_for_matching(family_model(config), torch.arange(60))


@pytest.mark.parametrize("objective", ["words", "spans"])
def test_a_random_word_is_no_padding_and_moves_no_positions_of_roberta(objective):
    """Google's code draws from the whole vocabulary, fairseq leaves the special tokens out."""
    seen = {}
    for name in ("bert", "roberta"):
        task = make_task(corpus(), PretrainingSettings(architecture=name, objective=objective, **SIZES))
        batch = next(iter(task.batches(task.maker, random.Random(0), 8)))
        shape, pad = batch["input_ids"].shape, task.tokenizer.pad_token_id
        draws = Draws(torch.rand(shape), torch.ones(shape), torch.full(shape, pad))  # all chosen ones become padding
        rest = {name: batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
        rest |= {"span_lengths": torch.ones(shape, dtype=torch.long)} if objective == "spans" else {}
        masked = task.masked(rest, 0.5, draws)
        real = batch["attention_mask"].bool()
        seen[name] = int((masked["input_ids"][real] == pad).sum())
        assert (masked["labels"] != -100).any()
    assert seen["roberta"] == 0 and seen["bert"] > 0


@pytest.mark.parametrize("name", [name for name in MEMBERS if name != "xlnet"])  # which predicts tokens
def test_whole_words_stay_whole(name):
    settings = PretrainingSettings(architecture=name, whole_words=True, **{**SIZES, "max_length": 40})
    task = make_task(corpus(), settings)
    torn = 0
    for batch in task.fixed_batches(task.maker)[:2]:
        chosen = batch["labels"] != -100
        ids = torch.where(chosen, batch["labels"], batch["input_ids"])
        for row, marks in zip(ids.tolist(), chosen.tolist(), strict=True):
            tokens = task.tokenizer.convert_ids_to_tokens(row)
            for place in range(2, len(tokens)):
                special = {tokens[place], tokens[place - 1]} & set(task.tokenizer.all_special_tokens)
                if task.tokenizer.continues_word(tokens[place]) and not special:
                    torn += marks[place] != marks[place - 1]
        assert chosen.any()
    assert torn == 0


# Questions about facts and senses ------------------------------------------------------------------------------------


def pieces(*words: str) -> XLMRobertaTokenizer:
    """A Unigram tokenizer with these pieces, all as likely, and with single letters that are far less likely."""
    letters = [(letter, -30.0) for letter in "▁" + "".join(sorted(set("".join(words)) - {"▁"}))]
    special = [(token, 0.0) for token in ("<s>", "<pad>", "</s>", "<unk>")]
    return XLMRobertaTokenizer(
        [*special, *((word, -5.0) for word in words if len(word) > 1), *letters, ("<mask>", 0.0)]
    )


def test_the_answer_of_a_cased_tokenizer_is_looked_for_in_its_case():
    """And what follows the mask is what follows the answer in the text: "." and not "▁."."""
    tokenizer = pieces("▁Cats", "▁like", "▁warm", "▁Milk", "▁milk", ".", "▁.")
    hidden = questions(tokenizer, [FACT])
    assert [tokenizer.tokens[index] for index in hidden.answers] == ["▁Milk"]
    tokens = tokenizer.convert_ids_to_tokens(hidden.encoding.input_ids[0])
    assert tokens == ["<s>", "▁Cats", "▁like", "▁warm", "<mask>", ".", "</s>"]
    assert hidden.masked.tolist() == [[token == "<mask>" for token in tokens]]


def test_an_answer_that_is_no_token_of_its_own_counts_as_wrong():
    """As "▁Milk." is one token, and as it is two; both are asked with the mask, and count as wrong."""
    for tokenizer in (pieces("▁Cats", "▁like", "▁warm", "▁Milk."), pieces("▁Cats", "▁like", "▁warm", "▁Mi", "lk")):
        hidden = questions(tokenizer, [FACT, FACT])
        assert hidden.answers.tolist() == [NO_TOKEN] * 2
        assert hidden.masked.sum(dim=1).tolist() == [1, 1]


def test_a_word_in_one_piece_with_its_full_stop_has_a_vector():
    """Its vector is that of the piece; a word that is cut off is still refused."""
    tokenizer = pieces("▁wide", "▁banks.", "▁banks", "▁the")
    model = family_model(architecture("xlm-roberta").config.for_texts("tiny", 5, vocab_size=len(tokenizer)))
    assert word_vectors(model, tokenizer, ["wide banks.", "the wide banks"], "banks").shape == (2, 3, 128)
    assert tokenizer.tokenize("wide banks.") == ["▁wide", "▁banks."]
    with pytest.raises(UserError, match="is cut off"):
        word_vectors(model, tokenizer, ["the wide the wide banks."], "banks")


# A whole run ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MEMBERS if name != "bert"])
def test_a_run_ends_the_same_once_stopped_and_opens_elsewhere(tmp_path, monkeypatch, name):
    """Bit for bit after a stop; evaluated with facts and senses; a report in its name; the same in transformers."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    given = {"architecture": name, **SIZES, "steps": 3, "log_steps": 1, "validations": 1}
    expected = pretrain(plan(whole, **given), lambda line: None)
    step = Trainer._step

    def stop_behind_the_first(self, batch, share):
        step(self, batch, share)
        self.stopped = self.progress.step == 1

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", stop_behind_the_first)
        assert pretrain(plan(stopped, **given), lambda line: None) is None
    results = pretrain(Plan.from_options(resume=stopped), lambda line: None)
    assert results is not None and expected is not None
    assert results["evaluation"] == expected["evaluation"] and {"facts", "senses"} <= results["evaluation"].keys()
    weights = "checkpoint/model.safetensors"
    assert (stopped / weights).read_bytes() == (whole / weights).read_bytes()

    text = write_report(whole).read_text()
    assert f"What a small {MEMBERS[name].name} has learned" in text and f"pretrain --architecture {name} --min" in text
    model, tokenizer = open_filler(whole)
    prompt = tokenizer.with_mask("Cats like warm [MASK].")
    assert len(fill_mask(model, tokenizer, prompt)[0]) == 5
    of_words = whole / "checkpoint" / ("generator" if name == "electra" else "")
    kind = transformers.XLNetLMHeadModel if name == "xlnet" else transformers.AutoModelForMaskedLM
    theirs = kind.from_pretrained(of_words).eval()
    encoding = transformers.AutoTokenizer.from_pretrained(of_words)(prompt, return_tensors="pt")
    assert encoding["input_ids"].tolist() == tokenizer(prompt).input_ids.tolist()
    with torch.no_grad():
        ours = model(tokenizer(prompt).input_ids).prediction_logits
        assert torch.allclose(ours, theirs(encoding["input_ids"]).logits, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MEMBERS if "spans" in objectives_of(name)])
def test_spans_train_the_member_itself_and_keep_its_boundary_head(tmp_path, name):
    """The member's own encoder and vocabulary; it opens alone, and goes on with the head that was saved beside it."""
    given = {"architecture": name, "objective": "spans", **SIZES, "max_length": 40, "mask_rates": (0.3, 0.3)}
    metrics = pretrain(plan(tmp_path / "first", steps=3, **given), lambda line: None)
    assert metrics is not None and metrics["evaluation"]["held-out documents"]["boundary"]["words"] > 0
    text = write_report(tmp_path / "first").read_text(encoding="utf-8")
    assert f"What a small {MEMBERS[name].name} has learned" in text and f"{options(name, 'spans')}--min" in text
    model, tokenizer = open_model(tmp_path / "first")
    assert model.config.model_type == name and isinstance(tokenizer, architecture(name).tokenizer)
    assert len(fill_mask(model, tokenizer, tokenizer.with_mask("Cats like warm [MASK]."))[0]) == 5
    _, said = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "first/checkpoint", output_loading_info=True)
    assert not any(said.values()), said
    again = {"start": str(tmp_path / "first"), "objective": "spans", "vocab_size": None, "max_length": 24}
    pretrain(plan(tmp_path / "second", steps=1, learning_rate=1e-9, **again), lambda line: None)
    before, after = (SpanBert.from_pretrained(tmp_path / one).state_dict() for one in ("first", "second"))
    assert all(torch.allclose(weight, after[name], atol=1e-6) for name, weight in before.items())


def test_going_on_from_a_member_makes_the_same_member(tmp_path):
    pretrain(plan(tmp_path / "first", architecture="roberta", **{**SIZES, "steps": 1}), lambda line: None)
    start = str(tmp_path / "first/checkpoint")
    asked = plan(tmp_path / "second", start=start, vocab_size=None, steps=1, max_length=24)
    assert (asked.settings.architecture, asked.settings.objective) == ("roberta", "words")
    pretrain(asked, lambda line: None)
    assert open_model(tmp_path / "second")[0].config.model_type == "roberta"
    with pytest.raises(UserError, match="--architecture is set by the model that --from names"):
        plan(tmp_path / "third", start=start, vocab_size=None, architecture="bert")
    with pytest.raises(UserError, match="holds a model of the type 'roberta', and the architecture is 'bert'"):
        make_task(corpus(), PretrainingSettings(start=start))
    assert BertTokenizer is not type(open_model(tmp_path / "second")[1])
