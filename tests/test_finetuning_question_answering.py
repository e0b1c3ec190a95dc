"""Answers as spans: windows that lose nothing, spans by brute force, the same logits as `transformers`."""

import json
import random

import numpy as np
import pytest
import torch
from transformers import AutoModelForQuestionAnswering

from bertedu.config import BertConfig, TaskConfig
from bertedu.corpora.readers import Answer, Question
from bertedu.errors import UserError
from bertedu.finetuning.asking import answer_or_none, answer_question
from bertedu.finetuning.run import judge
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tasks.question_answering import BertForQuestionAnswering, QuestionAnsweringTask
from bertedu.finetuning.windows import (
    WINDOW,
    Answered,
    Candidate,
    Window,
    best_over_windows,
    best_spans,
    label_of,
    windows,
)
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.layout import FIRST, SECOND, Layout
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings

LETTERS = "abcdefghijklmnop"
TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *LETTERS, *(f"##{letter}" for letter in LETTERS)])


def words(rng: random.Random, count: int) -> str:
    return " ".join("".join(rng.choices(LETTERS, k=rng.randint(1, 3))) for _ in range(count))


def test_windows_keep_every_token_of_the_context_and_their_length():
    rng = random.Random(0)
    for _ in range(300):
        question, context = words(rng, 3), words(rng, rng.randint(1, 40))
        length = rng.randint(16, 40)
        room = length - len(TOKENIZER.encode(question)) - 3
        stride = rng.randint(1, room)
        found = windows(TOKENIZER, question, context, length, stride)
        ids, offsets = TOKENIZER.encode_with_offsets(context)
        for number, window in enumerate(found):
            assert len(window.input_ids) <= length
            start = number * stride
            assert window.input_ids[window.first : -1] == ids[start : start + room]
            assert window.offsets == offsets[start : start + room]
        covered = {offset for window in found for offset in window.offsets}
        assert covered == set(offsets)
        assert len(found) == 1 or (len(found) - 2) * stride + room < len(ids)  # no window for nothing


def test_a_stride_that_skips_tokens_is_refused():
    with pytest.raises(UserError, match="stride is 12"):
        windows(TOKENIZER, "a b", "c d e", 16, 12)
    with pytest.raises(UserError, match="stride is 0"):
        windows(TOKENIZER, "a b", "c d e", 16, 0)


def test_the_label_points_to_the_answer():
    rng = random.Random(1)
    for _ in range(300):
        context = words(rng, 30)
        pieces = context.split()
        i = rng.randrange(30)
        j = rng.randint(i, min(29, i + 3))
        start = len(" ".join(pieces[:i])) + (i > 0)
        answer = (start, start + len(" ".join(pieces[i : j + 1])))
        found = windows(TOKENIZER, "a b", context, 24, 8)
        labelled = [(window, label_of(window, answer)) for window in found]
        whole = [(window, label) for window, label in labelled if label != (0, 0)]
        for window, (first, last) in whole:
            characters = window.offsets[first - window.first][0], window.offsets[last - window.first][1]
            assert characters == answer
        for window, label in labelled:
            inside = window.offsets[0][0] <= answer[0] and answer[1] <= window.offsets[-1][1]
            assert inside == (label != (0, 0))
    assert label_of(found[0], None) == (0, 0)


def test_an_answer_with_a_space_or_a_dropped_mark_at_its_end_is_labelled():
    """Ends of an answer that no token stands for must not decide whether a window holds it."""
    context = "a b\u0301 c\u200b d"  # the uncased tokenizer drops the accent and the space without width

    def label(text: str) -> tuple[int, int]:
        row = Question("1", "e f", context, (Answer(text, context.index(text)),))
        (example,) = QuestionAnsweringTask([row], [], TOKENIZER, FinetuningSettings(max_length=72)).examples
        return example["start_positions"] - 4, example["end_positions"] - 4  # behind [CLS] e f [SEP]

    assert label(" b") == label("b\u0301") == (1, 1)
    assert label("a ") == (0, 0) and label("c\u200b") == (2, 2) and label("b\u0301 c\u200b ") == (1, 2)
    assert label("\u200b") == (-4, -4), "[CLS]: no token stands for it"


def brute_force(window: Window, starts: np.ndarray, ends: np.ndarray, longest: int) -> list[tuple[float, int, int]]:
    length = len(window.offsets)
    first = window.first
    spans = [
        (float(starts[first + a] + ends[first + b]), a, b)
        for a in range(length)
        for b in range(a, min(length, a + longest))
    ]
    return sorted(spans, key=lambda span: (-span[0], span[1], span[2]))


@pytest.mark.slow
def test_the_best_spans_are_those_by_brute_force(thorough):
    rng = np.random.default_rng(0)
    for case in range(10_000 if thorough else 1_000):
        length, first, longest = int(rng.integers(1, 9)), int(rng.integers(2, 5)), int(rng.integers(1, 6))
        window = Window([0] * (first + length + 1), first, [(2 * i, 2 * i + 1) for i in range(length)])
        starts, ends = (rng.integers(-3, 4, first + length + 1).astype(float) for _ in range(2))
        if case % 2:
            starts, ends = starts + rng.random(len(starts)), ends + rng.random(len(ends))
        expected = brute_force(window, starts, ends, longest)[:5]
        got = best_spans(window, starts, ends, longest, n_best=20)[:5]
        assert [(c.score, c.start // 2, c.end // 2) for c in got] == expected


def test_a_span_in_two_windows_counts_once_and_no_answer_comes_from_the_least_sure_window():
    one = Window([0] * 6, 2, [(0, 1), (2, 3), (4, 5)])
    two = Window([0] * 6, 2, [(2, 3), (4, 5), (6, 7)])
    starts = [np.array([5.0, 0, 1, 2, 3, 0]), np.array([1.0, 0, 4, 0, 0, 0])]
    ends = [np.array([5.0, 0, 1, 2, 3, 0]), np.array([1.0, 0, 4, 0, 0, 0])]
    best, no_answer = best_over_windows([(one, starts[0], ends[0]), (two, starts[1], ends[1])])
    assert best[0] == Candidate(2, 3, 8.0)
    assert len({(candidate.start, candidate.end) for candidate in best}) == len(best)
    assert no_answer == 2.0


def test_no_answer_is_looked_for_at_cls_wherever_it_stands():
    """XLNet's question <sep> context <sep> <cls>: the label of no answer and its score stand at the end of each window,
    which is shorter where the context ends.
    """
    tokenizer = BertTokenizer(TOKENIZER.tokens)
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    tokenizer.layout = Layout(((FIRST, 0), (sep, 0), (cls, 2)), ((FIRST, 0), (sep, 0), (SECOND, 1), (sep, 1), (cls, 2)))
    found = windows(tokenizer, "a b", "c d e f g", 8, 3)
    assert [len(window.input_ids) for window in found] == [8, 7]
    logits = []
    for number, window in enumerate(found):
        at = window.input_ids.index(cls)
        assert label_of(window, None) == label_of(window, (4, 9)) == (at, at)  # "e f g" is cut in two
        scores = np.full(len(window.input_ids), -9.0)
        scores[at] = 3.0 - number
        logits.append((window, scores, scores))
    assert label_of(found[0], (0, 1)) == (3, 3)
    assert best_over_windows(logits)[1] == 4.0
    task = QuestionAnsweringTask([Question("1", "a b", "c d", ())], [], tokenizer, FinetuningSettings(max_length=72))
    (example,) = task.examples
    assert example["start_positions"] == example["end_positions"] == len(example["input_ids"]) - 1


def test_the_threshold_runs_in_the_right_direction():
    answered = Answered([Candidate(2, 5, 1.0)], no_answer_score=0.5)
    assert answered.text("a bcd e", threshold=0.6) == "bcd"
    assert answered.text("a bcd e", threshold=0.4) == ""
    assert Answered([], -5.0).text("a", threshold=1.0) == ""


def made_model(layers: int = 2, hidden_size: int = 16) -> BertForQuestionAnswering:
    torch.manual_seed(0)
    config = BertConfig(
        len(TOKENIZER), hidden_size, layers, 2, 32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    return BertForQuestionAnswering.from_config(config).eval()


def test_transformers_says_the_same(tmp_path):
    model = made_model()
    model.save_pretrained(tmp_path)
    reference = AutoModelForQuestionAnswering.from_pretrained(tmp_path).eval()
    ids, types = torch.randint(5, 30, (2, 9)), torch.tensor([[0] * 4 + [1] * 5] * 2)
    mask = torch.tensor([[1] * 9, [1] * 6 + [0] * 3])
    positions = {"start_positions": torch.tensor([5, 0]), "end_positions": torch.tensor([7, 0])}
    ours = model(ids, mask, types, **positions)
    theirs = reference(ids, attention_mask=mask, token_type_ids=types, **positions)
    assert torch.allclose(ours.start_logits, theirs.start_logits, atol=1e-5)
    assert torch.allclose(ours.end_logits, theirs.end_logits, atol=1e-5)
    assert ours.loss.item() == pytest.approx(theirs.loss.item(), abs=1e-5)


def test_the_shares_of_answers_are_those_of_their_scores():
    model = made_model()
    question, context = "a b", "c d e " * 200  # many windows
    answers, none = answer_question(model, TOKENIZER, question, context, top=20)
    assert [share for _, share in answers] == sorted((share for _, share in answers), reverse=True)
    assert sum(share for _, share in answers) + none == pytest.approx(1.0, abs=1e-5)
    assert all(span in context for span, _ in answers)
    assert answer_question(model, TOKENIZER, question, "", top=3) == ([], 1.0)
    rows = [Question("1", question, context, ()), Question("2", question, "", ())]
    task = QuestionAnsweringTask(rows, [], TOKENIZER, FinetuningSettings(max_length=WINDOW), WINDOW // 3)
    found, nothing = task.predictions(model, rows)
    assert found.probability(True) == pytest.approx(answers[0][1], abs=1e-5)
    assert found.probability(False) == pytest.approx(none, abs=1e-5) and nothing.probability(False) == 1.0
    told = task.explain(rows, [found, nothing])[0]["no_answer_score"]
    assert told == found.no_answer_score, "the threshold is one of these: rounded, a score would lie on its other side"


def test_no_answer_is_longer_than_allowed():
    model = made_model()
    row = Question("1", "a b", "c d e " * 20, ())
    for longest in (1, 3):
        task = QuestionAnsweringTask([row], [], TOKENIZER, FinetuningSettings(max_length=32), 8, longest)
        spans = {candidate.end - candidate.start for candidate in task.predictions(model, [row])[0].candidates}
        assert max(spans) == 2 * longest - 1  # letters with a blank between them


def test_an_answer_that_a_letter_gives_away_is_found(tmp_path):
    """The answer is the word p, in contexts of two to three windows; some have none."""
    rng = random.Random(3)
    rows = []
    for number in range(160):
        pieces = [word.replace("p", "a") for word in words(rng, 20).split()]
        answers: tuple[Answer, ...] = ()
        if rng.random() < 0.7:
            place = rng.randrange(20)
            pieces[place] = "p"
            answers = (Answer(pieces[place], len(" ".join(pieces[:place])) + (place > 0)),)
        rows.append(Question(str(number), "a b", " ".join(pieces), answers, not answers))
    settings = FinetuningSettings(batch_size=16, max_length=32)
    task = QuestionAnsweringTask(rows, rows[:40], TOKENIZER, settings, stride=16)
    assert len(task.examples) > 160
    model = made_model(hidden_size=32)
    training = TrainingSettings(learning_rate=1e-2, device="cpu", precision="fp32", validations=2)
    Trainer(model, task, training, Budget(steps=120), tmp_path).run()
    best = BertForQuestionAnswering.from_pretrained(tmp_path / "checkpoint-best")
    figures = task.score(best, rows)
    assert figures["f1"] > 0.9 and figures["has_answer_f1"] > 0.85 and figures["no_answer_f1"] > 0.8
    assert figures["f1_at_best_threshold"] >= figures["f1"]
    assert figures["exact_match"] <= figures["f1"]


class Scripted(QuestionAnsweringTask):
    """A task whose predictions are given: the span "p" with a score of no answer, by the question's text."""

    def predictions(self, model, rows):
        return [Answered([Candidate(0, 1, 0.0)], float(row.question)) for row in rows]


def scripted(*scores: tuple[float, bool]) -> list[Question]:
    return [
        Question(f"{n}", f"{score}", "p a b", (Answer("p", 0),) if answered else (), not answered)
        for n, (score, answered) in enumerate(scores)
    ]


def test_the_threshold_is_chosen_on_validation_and_kept(tmp_path):
    validation = scripted((-3.0, True), (-2.0, True), (-1.0, False), (1.0, False))
    test = scripted((-3.0, True), (-1.5, True), (-1.2, True), (1.0, False))
    task = Scripted(validation, validation, TOKENIZER, FinetuningSettings(max_length=32), stride=8)
    model = made_model()
    found = judge(model, task, validation, test, tmp_path)
    assert found["decided"] == {"no_answer_threshold": -2.0}
    assert found["validation"]["f1"] == found["quality"] == 1.0
    assert found["test"]["f1"] == 0.5, "with -2; the best on these rows would be right every time"
    assert found["test"]["f1_at_best_threshold"] == 1.0 and found["test"]["best_threshold"] == -1.2
    assert (
        BertForQuestionAnswering.from_pretrained(tmp_path / "checkpoint-best").task_config.no_answer_threshold == -2.0
    )
    said = [json.loads(line)["prediction"] for line in (tmp_path / "predictions.jsonl").read_text().splitlines()]
    assert said == ["p", "", "", ""]
    assert task.validate(model, torch.device("cpu"))["f1"] == 1.0, "the best weights are chosen by another figure"


def test_a_question_of_a_set_where_each_has_an_answer_gets_one(tmp_path):
    validation, test = scripted((5.0, True), (2.0, True)), scripted((9.0, True), (1.0, False))
    task = Scripted(validation, validation, TOKENIZER, FinetuningSettings(max_length=32), stride=8)
    found = judge(made_model(), task, validation, test, tmp_path)
    assert found["validation"]["f1"] == 1.0 and found["test"]["f1"] == 0.5
    assert AutoModelForQuestionAnswering.from_pretrained(tmp_path / "checkpoint-best").config.no_answer_threshold > 1e8


def test_a_model_that_learned_to_abstain_answers_where_validation_needs_it():
    train, validation = scripted((0.0, True), (0.0, False)), scripted((5.0, True), (2.0, True))
    task = Scripted(train, validation, TOKENIZER, FinetuningSettings(max_length=32), stride=8)
    assert task.decide(validation, task.predictions(made_model(), validation)) == {"no_answer_threshold": 0.0}


def test_no_answer_is_given_against_the_threshold():
    model = made_model()
    context = "c d e"
    (answer, _), *_ = answer_question(model, TOKENIZER, "a b", context)[0]
    for threshold, said in ((-1e9, ""), (1e9, answer)):
        model.task_config = TaskConfig(no_answer_threshold=threshold)
        assert answer_or_none(model, TOKENIZER, "a b", context) == said
    assert answer_or_none(model, TOKENIZER, "a b", "") == ""


def test_an_empty_part_of_a_batch_has_a_loss_of_0():
    """As when a batch has fewer windows than there are processes."""
    empty = {name: torch.zeros((0, 8), dtype=torch.long) for name in ("input_ids", "attention_mask", "token_type_ids")}
    positions = {name: torch.zeros(0, dtype=torch.long) for name in ("start_positions", "end_positions")}
    output = made_model()(**empty, **positions)
    assert output.summed_loss == 0 and output.loss.isnan()
