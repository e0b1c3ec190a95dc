"""SPLADE: pooling against a loop, FLOPS by hand, the inverted index against all products."""

import math
from pathlib import Path

import pytest
import torch
from support.search_models import KINDS, PASSAGES, QUESTIONS, TOKENIZER, small

from bertedu.errors import UserError
from bertedu.model.evaluating import evaluating
from bertedu.model.heads import MaskedLM
from bertedu.search.levels import level_logits
from bertedu.search.retriever import score_all
from bertedu.search.sparse import SparseRetriever, SparseSearch, flops, term_weights
from bertedu.tokenization import BertTokenizer

CHECKPOINT = str(Path(__file__).resolve().parents[1] / "data/checkpoints/mixed-mini")


def test_padding_has_no_part_in_the_pooling_and_words_take_their_maximum():
    torch.manual_seed(0)
    logits, lengths = 3 * torch.randn(4, 6, 9), [6, 1, 3, 4]
    logits[1, 0] = -1.0  # a text in which no word weighs anything
    for row, length in enumerate(lengths):
        logits[row, length:] += 50  # padding would weigh most
    mask = (torch.arange(6) < torch.tensor(lengths)[:, None]).long()
    found = term_weights(logits, mask)
    for row, length in enumerate(lengths):
        for word in range(9):
            at_tokens = [math.log(1 + max(0.0, logits[row, token, word].item())) for token in range(length)]
            assert found[row, word].item() == pytest.approx(max(at_tokens), abs=1e-5)
    assert found.shape == (4, 9) and (found[1] == 0).all()


def test_flops_is_the_sum_of_squared_means():
    """Two words: the first weighs 2 and 0 (mean 1), the second 3 and 1 (mean 2): 1² + 2² = 5."""
    weights = torch.tensor([[2.0, 3.0], [0.0, 1.0]], requires_grad=True)
    assert flops(weights).item() == 5.0
    assert flops(torch.cat([weights, weights])).item() == 5.0  # twice as many texts cost no more each
    flops(weights).backward()
    assert weights.grad.tolist() == [[1.0, 2.0], [1.0, 2.0]]  # 2 · mean / 2 texts


def test_words_that_all_texts_have_cost_more_than_words_of_one_text():
    """The same weights in all: L1 would be equal."""
    shared = torch.tensor([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert flops(shared).item() == pytest.approx(1.0)
    assert flops(torch.eye(3)).item() == pytest.approx(3 * (1 / 3) ** 2)


def test_question_and_passage_have_penalties_of_their_own():
    retriever = SparseRetriever(question_weight=0.5, passage_weight=0.25)
    found = retriever.penalties(torch.full((2, 3), 1.0), torch.full((4, 3), 2.0))
    assert found["question_flops_loss"].item() == 3.0 and found["passage_flops_loss"].item() == 12.0
    assert dict(retriever.penalty_weights) == {"question_flops_loss": 0.5, "passage_flops_loss": 0.25}


def test_the_inverted_index_scores_as_the_whole_vectors(monkeypatch):
    model = small(KINDS["sparse"])
    with torch.no_grad():
        model.masked_lm.decoder.bias.sub_(1.9)  # most words weigh nothing, and some texts share none
    expected = torch.cat([score_all(SparseRetriever(), model, TOKENIZER, QUESTIONS, [one]) for one in PASSAGES], dim=1)
    assert (expected == 0).any() and (expected > 0).any()
    monkeypatch.setattr("bertedu.search.retriever.READ_AT_ONCE", 3)
    search = SparseSearch(model, TOKENIZER, PASSAGES)
    for row, scores in zip(search.search(QUESTIONS, len(PASSAGES)), expected, strict=True):
        ordered = scores.sort(descending=True)
        count = int((scores > 0).sum())
        assert [number for number, _ in row] == ordered.indices[:count].tolist()
        assert [score for _, score in row] == pytest.approx(ordered.values[:count].tolist(), rel=1e-4)
    encoding = TOKENIZER(PASSAGES)
    weights = term_weights(
        model(encoding.input_ids, encoding.attention_mask).prediction_logits, encoding.attention_mask
    )
    assert search.words_a_passage == pytest.approx((weights > 0).sum().item() / len(PASSAGES))
    assert 0 < search.words_a_passage < len(TOKENIZER) / 2


def test_the_words_told_are_those_that_weigh_most():
    model = small(KINDS["sparse"])
    search = SparseSearch(model, TOKENIZER, PASSAGES)
    encoding = TOKENIZER(["a b c"])
    weights = term_weights(model(encoding.input_ids).prediction_logits, encoding.attention_mask)[0]
    best = weights.topk(3)
    assert search.words("a b c", 3) == [
        (TOKENIZER.convert_ids_to_tokens([number])[0], pytest.approx(weight, abs=1e-5))
        for number, weight in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def test_the_level_of_logits_is_taken_off_without_changing_the_encoder():
    """In the checkpoint of the box nearly every word stands below 0, though it knows the words that it reads."""
    model, tokenizer = MaskedLM.from_pretrained(CHECKPOINT).train(), BertTokenizer.from_pretrained(CHECKPOINT)
    texts = ["The old farmer sold his horse in the town.", "Where was the lamb born?", "A letter came from London."]
    encoding = tokenizer(texts)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def looked_at() -> tuple[float, int]:
        """How far the tokens are from ln V, and how many of them weigh something."""
        with torch.no_grad(), evaluating(model):
            logits = model(**encoding).prediction_logits
        levels = logits.logsumexp(dim=-1)[encoding.attention_mask.bool()] - math.log(len(tokenizer))
        weights = term_weights(logits, encoding.attention_mask)
        return levels.abs().mean().item(), int((weights.gather(1, encoding.input_ids) > 0).sum())

    far, few = looked_at()
    level_logits(model, tokenizer, texts, steps=30)
    near, many = looked_at()
    assert far > 10 and near < far / 2 and many > 2 * few
    changed = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed and model.training
    assert all(name.startswith("masked_lm") and name != "masked_lm.decoder.weight" for name in changed)


def test_no_text_is_refused_in_words():
    with pytest.raises(UserError, match="no text to level"):
        level_logits(small(KINDS["sparse"]), TOKENIZER, [])
