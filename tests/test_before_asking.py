"""Filling a gap: what each model may use for it, and what its scores mean."""

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from bertedu import BertConfig, BertForMaskedLM
from bertedu.before.asking import AskedBert, AskedElmo, AskedGpt, AskedWords
from bertedu.before.elmo import Elmo
from bertedu.before.glove import Glove
from bertedu.before.gpt import Gpt, GptConfig
from bertedu.before.word2vec import SkipGram

SMALL = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 16, "max_position_embeddings": 12, "initializer_range": 0.3}  # fmt: skip
IDS = torch.tensor([[2, 7, 8, 4, 9, 10, 3], [2, 4, 11, 12, 3, 0, 0]])
MASK, AT = (IDS != 0).long(), torch.tensor([3, 1])
COUNTS = torch.arange(20) + 1


def asked():
    torch.manual_seed(0)
    skipgram = SkipGram(20, 8)
    torch.nn.init.normal_(skipgram.contexts.weight)
    return {
        "words": AskedWords(skipgram, COUNTS),
        "GloVe": AskedWords(Glove(20, 8), COUNTS),
        "ELMo": AskedElmo(Elmo(20, 8), COUNTS),
        "GPT": AskedGpt(Gpt(GptConfig(**SMALL))),
        "BERT": AskedBert(BertForMaskedLM(BertConfig(**SMALL))),
    }


ANSWERS = {"words": (True, True), "GloVe": (True, True), "ELMo": (True, True), "GPT": (True, False),
           "BERT": (True, True)}  # fmt: skip


@pytest.mark.parametrize("name", list(ANSWERS))
def test_a_gap_is_filled_from_its_side_and_never_from_its_own_word(name):
    model = asked()[name]
    scores = model.gap(IDS, MASK, AT)
    assert scores.shape == (2, 20)
    uses_left, uses_right = ANSWERS[name]
    for at, used in ((2, uses_left), (4, uses_right)):
        changed = IDS.clone()
        changed[0, at] = 15
        moved = (model.gap(changed, MASK, AT)[0] - scores[0]).abs().max() > 1e-6
        assert moved == used, (name, at)
    if name != "BERT":  # BERT reads [MASK] there: it is what it was trained on
        hidden = IDS.clone()
        hidden[0, 3] = 1 if name in ("words", "GloVe") else 15
        assert_close(model.gap(hidden, MASK, AT)[0], scores[0])


def test_a_bag_reaches_no_farther_than_its_window():
    model = asked()["words"]
    ids = torch.tensor([[2, 4, 6, 7, 8, 9, 10, 11, 3]])
    expected = model.frequency + model.fits[:, 6:11].sum(dim=1)
    assert_close(model.gap(ids, (ids != 0).long(), torch.tensor([1]))[0], expected)


def test_elmos_two_directions_count_the_frequency_once():
    model = asked()["ELMo"]
    left, right = model.sides(IDS, MASK, AT)
    assert_close(left.exp().sum(dim=1), torch.ones(2))
    assert_close(model.gap(IDS, MASK, AT), left + right - (COUNTS + 1).div(COUNTS.sum() + 20).log())


def test_rescoring_reads_what_follows_the_gap():
    model = asked()["GPT"]
    candidates = torch.tensor([[5, 6], [7, 8]])
    scores = model.rescored(IDS, MASK, AT, candidates)
    for row in range(2):
        for column in range(2):
            length = int(MASK[row].sum())
            ids = IDS[row : row + 1, :length].clone()
            ids[0, AT[row]] = candidates[row, column]
            with torch.no_grad():
                logits = model.model(ids).logits[0, :-1]
            assert_close(scores[row, column], -cross_entropy(logits, ids[0, 1:], reduction="sum"))


def test_rescoring_prefers_only_words_that_it_has_tried(monkeypatch):
    model = asked()["GPT"]
    every = model.rescored_gap(IDS, MASK, AT)
    assert_close(every, model.rescored(IDS, MASK, AT, torch.arange(20).expand(2, 20)))
    monkeypatch.setattr("bertedu.before.asking.RESCORED", 3)
    few, tried = model.rescored_gap(IDS, MASK, AT), model.gap(IDS, MASK, AT).topk(3, dim=-1).indices
    assert_close(few.gather(1, tried), every.gather(1, tried))
    assert torch.equal(few.topk(3, dim=-1).indices.sort().values, tried.sort().values)


def test_bert_scores_the_masked_position():
    model = asked()["BERT"]
    with torch.no_grad():
        logits = model.model(IDS, MASK).prediction_logits
    assert_close(model.gap(IDS, MASK, AT), logits[torch.arange(2), AT].log_softmax(dim=-1))
