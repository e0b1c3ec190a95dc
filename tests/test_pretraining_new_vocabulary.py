"""Going on from a model with the vocabulary of other texts, and vocabularies with capitals."""

import inspect
from dataclasses import replace

import pytest
import torch
from support.made_up_text import made_up_corpus, plan
from support.small_runs import POSITIONS, save_model, small_model, small_tokenizer

from bertedu.corpora.documents import Document
from bertedu.errors import UserError
from bertedu.family import MEMBERS
from bertedu.family.spanbert import SpanBert
from bertedu.inference import open_model
from bertedu.model.architecture import architecture
from bertedu.pretraining import run
from bertedu.pretraining.new_vocabulary import BEGIN, pieces_of, with_vocabulary
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_task, pretrain
from bertedu.pretraining.settings import LEARNING_RATES, PretrainingSettings, rate_of_size
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

OLD = BertTokenizer([*SPECIAL_TOKENS, "the", "soft", "##war", "##e", "##ing", "war"])


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    monkeypatch.setattr(run, "load_corpus", lambda names: made_up_corpus())


@pytest.mark.parametrize(
    "token, pieces",
    [
        ("[MASK]", ["[MASK]"]),
        ("the", ["the"]),
        ("The", ["the"]),
        ("software", ["soft", "##war", "##e"]),
        ("##ING", ["##ing"]),
        ("##ware", ["##war", "##e"]),
        ("dog", ["[UNK]"]),
    ],
)
def test_a_token_begins_as_its_own_pieces(token, pieces):
    """ "##ware" goes on with a word, so it must not begin as "war", which begins one."""
    assert [OLD.tokens[index] for index in pieces_of(token, OLD, {BEGIN, *OLD.vocab})] == pieces


def test_rows_keep_their_tokens_and_other_weights_stay():
    model, old = small_model(), small_tokenizer()
    first, second = old.tokens[5:7]
    whole = f"{first}s"
    new = BertTokenizer([*SPECIAL_TOKENS, second, whole, first], lowercase=False)
    counts = torch.tensor([0, 0, 0, 0, 0, 7, 1, 2])
    changed = with_vocabulary(model, old, new, counts)
    rows, table = model.bert.token_embeddings.weight, changed.bert.token_embeddings.weight
    assert changed.config.vocab_size == 8 and table.shape == (8, 16)
    assert torch.equal(table[5], rows[old.vocab[second]]) and torch.equal(table[7], rows[old.vocab[first]])
    assert torch.allclose(table[6], (rows[old.vocab[first]] + rows[old.vocab["##s"]]) / 2)
    assert torch.equal(table[4], rows[old.mask_token_id]) and table is changed.masked_lm.decoder.weight
    assert torch.allclose(changed.masked_lm.decoder.bias.exp()[5:], torch.tensor([8.0, 2.0, 3.0]) / 18)
    ids = torch.tensor([[2, 5, 3]])
    theirs = torch.tensor([[old.cls_token_id, old.vocab[second], old.sep_token_id]])
    assert torch.allclose(changed.eval().bert(ids).pooler_output, model.bert(theirs).pooler_output, atol=1e-6)


def test_a_run_with_a_new_vocabulary_has_the_new_one(tmp_path):
    start = save_model(tmp_path / "start")
    asked = {"start": str(start), "new_vocabulary": True, "cased": True, "vocab_size": 60, "max_length": POSITIONS}
    assert pretrain(plan(tmp_path / "run", steps=2, **asked), lambda line: None) is not None
    model, tokenizer = open_model(tmp_path / "run")
    assert model.config.vocab_size == len(tokenizer) <= 60 and model.config.hidden_size == 16
    assert not tokenizer.normalization.lowercase and tokenizer.tokens != small_tokenizer().tokens
    again = Plan.from_options(resume=str(tmp_path / "run"))
    assert again.settings.new_vocabulary and again.settings.cased
    assert pretrain(again, lambda line: None) is not None


@pytest.mark.parametrize("change", ["as many rows as the vocabulary", "a padded table", "two heads"])
def test_weights_that_look_like_rows_of_the_vocabulary_are_kept(change):
    old = small_tokenizer()
    if change == "two heads":
        model = small_model(SpanBert)
    elif change == "a padded table":
        model = small_model(vocab_size=len(old.tokens) + 8)
    else:
        model = small_model(intermediate_size=len(old.tokens))
    new = BertTokenizer([*old.tokens[:5], *old.tokens[6:9]])
    changed = with_vocabulary(model, old, new, torch.ones(8))
    before, after = model.state_dict(), changed.state_dict()
    by_word = [name for name, weight in after.items() if weight.shape != before[name].shape]
    assert all(name.endswith(("token.weight", "decoder.weight", "decoder.bias")) for name in by_word)
    assert all(torch.equal(after[name], before[name]) for name in after if name not in by_word)
    assert all(after[name].std() < 1e-6 for name in by_word if name.endswith("bias"))  # all are as frequent


@pytest.mark.parametrize("cased", [True, False])
def test_capitals_are_kept_as_asked_for(cased):
    made = made_up_corpus()
    text = replace(made, train=[*made.train, Document(("Anna met Bell.", "Bell met Anna."), "names")])
    tokenizer = make_task(text, PretrainingSettings(vocab_size=120, max_length=24, cased=cased)).tokenizer
    assert tokenizer.normalization.lowercase is not cased
    assert any(token[0].isupper() for token in tokenizer.tokens[5:]) is cased


def test_wordpiece_lists_the_members_that_can_lowercase():
    kinds = {name: architecture(name).tokenizer for name in MEMBERS}
    assert {name for name, one in MEMBERS.items() if one.wordpiece} == {
        name for name, kind in kinds.items() if "lowercase" in inspect.signature(kind.train).parameters
    }


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(UserError, match="cased is set, and the tokenizer of RoBERTa decides on capitals by itself"):
        PretrainingSettings(architecture="roberta", cased=True)
    for wrong in ({}, {"start": "x", "architecture": "roberta"}):
        with pytest.raises(UserError, match="new_vocabulary is set: it gives a BERT that is pre-trained already"):
            PretrainingSettings(new_vocabulary=True, **wrong)
    with pytest.raises(UserError, match="new_vocabulary is set, and a student has its teacher's vocabulary"):
        PretrainingSettings(new_vocabulary=True, teacher="t", objective="distillation")
    for option in ("vocab_size", "cased"):
        wanted = f"--{option.replace('_', '-')} is set by the model that --from names: .*, or add --new-vocabulary"
        with pytest.raises(UserError, match=wanted):
            plan(tmp_path / "run", start=str(save_model(tmp_path / option)), **{"vocab_size": None, option: 50})


def test_a_wide_model_that_is_given_learns_at_its_own_rate(tmp_path):
    """2e-3 would destroy a bert-base in its first hundred steps."""
    assert [rate_of_size(2, width) for width in (16, 256, 768, 2048)] == [
        LEARNING_RATES[name] for name in ("tiny", "mini", "base", "large")
    ]
    start = str(save_model(tmp_path / "wide", hidden_size=200))
    asked = plan(tmp_path / "run", start=start, vocab_size=None, max_length=POSITIONS)
    assert asked.training.learning_rate == LEARNING_RATES["mini"]
    taught = plan(tmp_path / "student", teacher=start, vocab_size=None, max_length=POSITIONS, objective="distillation")
    assert taught.training.learning_rate == LEARNING_RATES["mini"]
    assert rate_of_size(8, 512) == LEARNING_RATES["medium"] < rate_of_size(4, 512)


def test_a_given_model_counts_pairs_with_their_full_weight(tmp_path):
    """The default of neighbors is for weights that begin with neighbors."""
    start = str(save_model(tmp_path / "start"))
    assert plan(tmp_path / "run", start=start, vocab_size=None, max_length=POSITIONS).settings.pair_weight == 1.0
