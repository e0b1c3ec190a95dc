"""The contrastive loss by hand, false negatives, penalties that grow, and that each of the searches learns."""

import math

import pytest
import torch
from support.search_models import KINDS, LETTERS, TOKENIZER, small

from bertedu.errors import UserError
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.search.collection import Asked
from bertedu.search.contrastive import ContrastiveTask, contrastive_scores
from bertedu.search.dense import DenseRetriever
from bertedu.search.late_interaction import LateRetriever
from bertedu.search.retriever import score_all
from bertedu.search.sparse import SparseRetriever, flops, term_weights
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer
from bertedu.training.settings import TrainingSettings

RETRIEVERS = {"dense": DenseRetriever, "late": LateRetriever, "sparse": SparseRetriever}
PASSAGES = ["a b c d", "e f", "g h i", "j k l m n o"]
ROWS = [Asked("a b", 0, (1,)), Asked("e", 1, (2,)), Asked("c d", 0, (3,)), Asked("g h i", 2, (0,))]
SETTINGS = FinetuningSettings(batch_size=4)


def task_of(name: str, rows=ROWS, validation=(), passages=PASSAGES, settings=SETTINGS) -> ContrastiveTask:
    return ContrastiveTask(RETRIEVERS[name](), rows, validation, passages, TOKENIZER, settings)


def test_the_right_passage_of_a_question_is_no_negative_of_its_own():
    scores = torch.arange(16.0).view(2, 8)
    passages, right = torch.tensor([5, 1, 6, 2, 5, 3, 7, 5]), torch.tensor([0, 2])
    hidden = contrastive_scores(scores, passages, right).isinf()
    assert hidden.nonzero().tolist() == [[0, 4], [0, 7]]
    assert torch.equal(contrastive_scores(scores, passages, right)[~hidden], scores[~hidden])


@pytest.mark.parametrize("name", RETRIEVERS)
def test_the_loss_counts_negatives_temperature_and_hides_false_negatives(name):
    task, model = task_of(name), small(KINDS[name])
    (batch,) = task.epoch(0)
    sums = task.sums(model, batch)
    table = score_all(task.retriever, model, TOKENIZER, [row.question for row in ROWS], PASSAGES).double()
    columns = [number for row in ROWS for number in (row.passage, *row.negatives)]
    expected, hits = 0.0, 0
    for q, row in enumerate(ROWS):
        right = table[q, row.passage].item() / task.retriever.temperature
        others = [table[q, number].item() / task.retriever.temperature for number in columns if number != row.passage]
        expected += math.log(sum(math.exp(score - right) for score in [right, *others]))
        hits += right > max(others)
    assert sums["contrast_loss"].item() == pytest.approx(expected, rel=1e-3)
    assert sums["contrast_accuracy"].item() == hits
    assert task.counts(batch)["contrast"] == 4


def test_a_bi_encoder_compares_directions_and_scales_its_cosines():
    """Vectors of length 1, and cosines times 20: e^20 against e^-20 is enough, where e against 1/e never is."""
    retriever, encoding = DenseRetriever(), TOKENIZER(PASSAGES)
    vectors = retriever.represent(
        small(KINDS["dense"]), encoding.input_ids, encoding.attention_mask, encoding.token_type_ids
    )
    assert vectors.norm(dim=-1).tolist() == pytest.approx([1.0] * len(PASSAGES), abs=1e-5)
    assert retriever.match(vectors, vectors).diag().tolist() == pytest.approx([1.0] * len(PASSAGES), abs=1e-5)
    assert 1 / retriever.temperature == pytest.approx(20)


def test_penalties_grow_from_0_to_their_full_weight():
    task, model = task_of("sparse"), small(KINDS["sparse"])
    (batch,) = task.epoch(0)
    encoding = TOKENIZER([row.question for row in ROWS])
    logits = model(encoding.input_ids, encoding.attention_mask).prediction_logits
    full = flops(term_weights(logits, encoding.attention_mask)).item()
    for share, pressure in ((0.0, 0.0), (0.25, 0.25), (0.5, 1.0), (1.0, 1.0)):
        prepared = task.prepare(batch, 0, share)
        found = task.sums(model, prepared)["question_flops_loss"].item() / task.counts(prepared)["question_flops"]
        assert found == pytest.approx(pressure * full, rel=1e-4)
    assert task.loss_weights["passage_flops_loss"] > 0 and not task_of("dense").loss_weights


def test_questions_with_different_numbers_of_negatives_are_refused():
    with pytest.raises(UserError, match="more hard negatives than others"):
        task_of("dense", [Asked("a", 0, (1,)), Asked("e", 1)])
    with pytest.raises(UserError, match="nothing to train on"):
        task_of("dense", [])


def test_another_retriever_or_other_negatives_do_not_resume_the_run():
    same = task_of("dense").identity()
    assert same == task_of("dense").identity()

    class Other(DenseRetriever):
        """Compares otherwise, at the same temperature."""

    assert same != ContrastiveTask(Other(), ROWS, (), PASSAGES, TOKENIZER, SETTINGS).identity()
    assert same != task_of("dense", [*ROWS[:3], Asked("g h i", 2, (1,))]).identity()
    assert same != task_of("dense", validation=ROWS[:1]).identity()


def test_validation_searches_among_the_passages_asked_for():
    model, rows = small(KINDS["dense"]), [Asked("a b", 0), Asked("e", 3)]
    figures = task_of("dense", validation=rows).validate(model, torch.device("cpu"))
    table = score_all(DenseRetriever(), model, TOKENIZER, ["a b", "e"], [PASSAGES[0], PASSAGES[3]])
    ranks = [1 + (table[0, 1] > table[0, 0]).item(), 1 + (table[1, 0] > table[1, 1]).item()]
    assert figures == {"recall_at_10": 1.0, "mrr": pytest.approx(sum(1 / rank for rank in ranks) / 2)}
    assert task_of("dense").validate(model, torch.device("cpu")) == {}


def translations() -> tuple[list[Asked], list[Asked], list[str]]:
    """Each letter of a question stands for another in its passage: they share none, so it must be learned."""
    generator = torch.Generator().manual_seed(0)
    passages, rows = [], []
    for number in range(260):
        letters = torch.randperm(8, generator=generator)[:3].tolist()
        passages.append(" ".join(LETTERS[8 + letter] for letter in letters))
        rows.append(Asked(" ".join(LETTERS[letter] for letter in reversed(letters)), number))
    first = {passage: number for number, passage in reversed(list(enumerate(passages)))}
    rows = [Asked(row.question, first[passages[row.passage]]) for row in rows]
    return rows[:200], rows[200:], passages


@pytest.mark.parametrize("name", RETRIEVERS)
def test_a_search_learns_what_shares_no_word(tmp_path, name):
    train, validation, passages = translations()
    settings = FinetuningSettings(batch_size=20)
    task = task_of(name, train, validation, passages, settings)
    model = small(KINDS[name])
    before = task.validate(model, torch.device("cpu"))["mrr"]
    training = TrainingSettings(learning_rate=3e-3, device="cpu", precision="fp32", validations=2)
    Trainer(model, task, training, Budget(steps=80), tmp_path).run()
    best = KINDS[name].from_pretrained(tmp_path / "checkpoint-best")
    after = task.validate(best, torch.device("cpu"))["mrr"]
    assert before < 0.3 and after > 0.6, (before, after)
