"""SpanBERT's objective: which words are hidden, what is asked of whom, and a whole run with its folder and report."""

import math
import random
from collections import Counter

import pytest
import torch
import transformers
from support.made_up_text import made_up_corpus, plan
from support.tiny_run import make_text, random_documents, tiny_spans, tiny_task, tiny_trainer

from bertedu.cli.pretrain import show_results
from bertedu.family.spanbert import BOUNDARY_HEAD, NO_BOUNDARY, SpanBert, SpanOutput
from bertedu.files import read_json
from bertedu.inference import fill_mask, open_model
from bertedu.model.heads import IGNORED, MaskedLM
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.masking import Draws
from bertedu.pretraining.objectives.spans import Spans
from bertedu.pretraining.run import make_model, pretrain
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.pretraining.span_masking import (
    apply_span_masks,
    boundaries,
    choose_spans,
    draw_lengths,
    length_probabilities,
    spans_of_row,
)
from bertedu.tokenization import AlbertTokenizer, RobertaTokenizer
from bertedu.training.feeding import cut_rows
from bertedu.training.metrics import read_metrics
from bertedu.visualization.report import write_report
from bertedu.visualization.results import results

pytestmark = pytest.mark.usefixtures("made_up")

INPUTS = ("input_ids", "attention_mask", "token_type_ids", "labels", "left", "right")


@pytest.fixture
def task():
    return tiny_task(objective="spans", max_length=32, mask_rates=(0.15, 0.15))


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def runs(row: list[bool]) -> list[tuple[int, int]]:
    """First and last place of each run of True."""
    found, start = [], None
    for place, one in enumerate([*row, False]):
        if one and start is None:
            start = place
        if not one and start is not None:
            found.append((start, place - 1))
            start = None
    return found


def test_the_lengths_of_spans_end_at_ten_and_are_renormalized():
    """P(n) = 0.2 · 0.8^(n - 1) / (1 - 0.8^10): by hand 22.4 % have one word, 3.0 % ten, and the mean is 3.797."""
    shares = length_probabilities()
    by_hand = [0.2 * 0.8 ** (n - 1) / (1 - 0.8**10) for n in range(1, 11)]
    assert shares.tolist() == pytest.approx(by_hand) and float(shares.sum()) == pytest.approx(1)
    assert float(shares[0]) == pytest.approx(0.2241, abs=1e-4) and float(shares[9]) == pytest.approx(0.0301, abs=1e-4)
    drawn = draw_lengths(torch.Size([400, 500]), seed=3)
    assert drawn.shape == (400, 500) and (drawn.min(), drawn.max()) == (1, 10)
    assert float(drawn.double().mean()) == pytest.approx(3.797, abs=0.02)
    counted = drawn.flatten().bincount(minlength=11)[1:] / drawn.numel()
    assert counted.tolist() == pytest.approx(by_hand, abs=0.004)
    assert torch.equal(drawn, draw_lengths(drawn.shape, 3)) and not torch.equal(drawn, draw_lengths(drawn.shape, 4))


def test_spans_in_a_long_text_have_the_drawn_lengths():
    """Measured in the text: where few spans meet, their mean is the drawn one. Words of one to three pieces."""
    length, rng = 6000, random.Random(0)
    starts = []
    while len(starts) < length:
        starts += [True] + [False] * rng.randrange(3)
    continuation = ~torch.tensor([starts[:length]])
    candidates = torch.ones_like(continuation)
    found: Counter[int] = Counter()
    for seed in range(30):
        order, lengths = torch.rand(1, length, generator=generator(seed)), draw_lengths(torch.Size([1, length]), seed)
        chosen = choose_spans(candidates, continuation, torch.tensor([200]), order, lengths)[0].tolist()
        assert 198 <= sum(chosen) <= 200
        for first, last in runs(chosen):
            found[sum(starts[first : last + 1])] += 1
    spans = sum(found.values())
    assert spans > 500
    assert sum(n * times for n, times in found.items()) / spans == pytest.approx(3.8, abs=0.25)
    assert found[1] / spans == pytest.approx(0.224, abs=0.05)


def plain_spans(anchors, words, lengths, budget):
    """Section 3.1 with sets. words: for each word its places, None between words that are no neighbours."""
    word_of = {place: number for number, word in enumerate(words) if word for place in word}
    hidden: set[int] = set()
    for anchor in anchors:
        if anchor not in word_of or anchor in hidden:
            continue
        first = word_of[anchor]
        for word in words[first : first + lengths[anchor]]:
            if word is None or len(hidden | set(word)) > budget:
                break
            hidden |= set(word)
    return hidden


def test_a_span_goes_over_no_gap_and_begins_with_a_word():
    """Against a second implementation, on 300 random rows with special tokens and padding in them."""
    rng = random.Random(1)
    for _ in range(300):
        words, flat = [], []  # the words with their places, and for each place the word's number or 0
        for _ in range(rng.randint(1, 14)):
            if rng.random() < 0.15:
                words.append(None)
                flat.append(0)
                continue
            size = rng.choice([1, 1, 1, 2, 3])
            words.append(list(range(len(flat), len(flat) + size)))
            flat += [1 + sum(word is not None for word in words)] * size
        anchors, lengths = rng.sample(range(len(flat)), len(flat)), [rng.randint(1, 5) for _ in flat]
        for budget in (1, 3, 7):
            found = spans_of_row(anchors, flat, lengths, budget)
            expected = plain_spans(anchors, words, lengths, budget)
            assert {place for place, one in enumerate(found) if one} == expected
            assert len(expected) <= budget


def test_a_word_beyond_the_budget_is_left_out_whole():
    """By hand: the words are aa b c dd e. Anchor 6 (e) begins a span of 3 that ends with the text; then anchor 1, the
    second piece of aa, hides aa and b; d and its second piece would exceed the budget of 5, and c fills it up.
    """
    words = [0, 1, 1, 2, 3, 4, 4, 5, 0]
    lengths = [9, 9, 2, 9, 1, 2, 9, 3, 9]
    chosen = spans_of_row([7, 0, 8, 2, 5, 4, 1, 3, 6], words, lengths, 5)
    assert [place for place, one in enumerate(chosen) if one] == [1, 2, 3, 4, 7]


def test_whole_words_are_hidden_and_no_special_tokens(task):
    """15 % are, in whole words, whatever the tokenizer: pieces here begin with ##."""
    tokenizer, chosen, real = task.tokenizer, 0, 0
    for number in range(10):
        for row in task.epoch(number):
            batch = task.prepare(row, 0, 0.0)
            assert not {"span_lengths", *Draws._fields} & batch.keys()
            check_rows(tokenizer, row["input_ids"], batch["labels"], row["attention_mask"])
            chosen += int((batch["labels"] != IGNORED).sum())
            real += int(batch["attention_mask"].sum())
    assert chosen / real == pytest.approx(0.15, abs=0.02)


def test_special_tokens_that_a_text_spells_out_are_not_hidden():
    """Documentation of tokenizers says "[MASK]" and "[SEP]", which are read as one token. Unknown words are hidden."""
    documents = [[[7, 8, 4, 9], [3, 7, 1, 8, 0, 9]] for _ in range(40)]
    task = tiny_task(objective="spans", mask_rates=(0.6, 0.6))
    task.maker = task.maker_of(make_text(documents))
    hidden: Counter[int] = Counter()
    for row in task.epoch(0):
        labels = task.prepare(row, 0, 0.0)["labels"]
        hidden.update(labels[labels != IGNORED].tolist())
    assert hidden.keys() == {1, 7, 8, 9}


def check_rows(tokenizer, ids, labels, mask):
    """No part of a word is hidden, and no special token is."""
    special = set(tokenizer.all_special_tokens) - {tokenizer.unk_token}
    hidden = 0
    for row, right, real in zip(ids.tolist(), labels.tolist(), mask.tolist(), strict=True):
        tokens = tokenizer.convert_ids_to_tokens(row)
        for place, (token, label) in enumerate(zip(tokens, right, strict=True)):
            is_hidden = label != IGNORED
            hidden += is_hidden
            assert not is_hidden or (real[place] and token not in special and label == row[place])
            if place and tokenizer.continues_word(token) and tokens[place - 1] not in special:
                assert is_hidden == (right[place - 1] != IGNORED), tokens
    return hidden


@pytest.mark.parametrize("kind", [RobertaTokenizer, AlbertTokenizer])
def test_words_of_other_tokenizers_are_hidden_whole(kind):
    """Byte-level BPE marks the beginnings of words, and Unigram too: there ## would find no word at all."""
    documents = made_up_corpus().train
    tokenizer = kind.train([sentence for one in documents for sentence in one.sentences], vocab_size=300)
    text = tokenize_documents(documents, tokenizer)
    settings = PretrainingSettings(max_length=40, batch_size=8, objective="spans", mask_rates=(0.3, 0.3))
    task = Spans(text, text, tokenizer, settings)
    hidden = 0
    for row in task.epoch(0):
        batch = task.prepare(row, 0, 0.0)
        hidden += check_rows(tokenizer, row["input_ids"], batch["labels"], row["attention_mask"])
    assert hidden > 50


def test_the_fate_of_a_span_is_drawn_once():
    """80 % of the spans become [MASK], 10 % random words and 10 % stay, each as a whole."""
    ids = torch.full((3000, 42), 7)
    ids[:, 0], ids[:, -1] = 1, 2
    candidates = ids == 7
    shape = ids.shape
    order, fate = (torch.rand(shape, generator=generator(seed)) for seed in (0, 1))
    draws = Draws(order, fate, torch.full(shape, 9))
    lengths = draw_lengths(shape, 2)
    seen, chosen = apply_span_masks(ids, candidates, 0.15, 4, draws, lengths, torch.zeros_like(candidates))
    assert torch.equal(seen[~chosen], ids[~chosen]) and not (chosen & ~candidates).any()
    fates: Counter[int] = Counter()
    sizes: dict[int, list[int]] = {4: [], 7: [], 9: []}
    for row, hidden in zip(seen.tolist(), chosen.tolist(), strict=True):
        for first, last in runs(hidden):
            (one,) = set(row[first : last + 1])
            fates[one] += 1
            sizes[one].append(last - first + 1)
    total = sum(fates.values())
    assert total > 5000
    for word, share in ((4, 0.8), (9, 0.1), (7, 0.1)):
        assert fates[word] / total == pytest.approx(share, abs=0.02)
    means = [sum(of) / len(of) for of in sizes.values()]
    assert max(means) - min(means) < 0.3, "the length of a span must not decide its fate"


def test_the_boundary_of_a_span_is_visible_text():
    """By hand. Spans that touch are one; those beside [CLS], [SEP] or padding are not asked for, and of the long one
    the first 15 tokens.
    """
    rows = [
        "C..##.#..S",  # two spans
        "C##..##S..",  # at [CLS] and at [SEP], then padding
        "C.###.#.S.",
        "C.##.#####",  # no [SEP] at all
    ]
    chosen = torch.tensor([[mark == "#" for mark in row] for row in rows])
    candidates = torch.tensor([[mark in "#." for mark in row] for row in rows])
    candidates[1, 8:] = candidates[2, 9:] = False
    left, right = boundaries(chosen, candidates)
    no = NO_BOUNDARY
    assert left.tolist() == [
        [no, no, no, 2, 2, no, 5, no, no, no],
        [no] * 10,
        [no, no, 1, 1, 1, no, 5, no, no, no],
        [no, no, 1, 1, no, no, no, no, no, no],
    ]
    assert right.tolist() == [
        [no, no, no, 5, 5, no, 7, no, no, no],
        [no] * 10,
        [no, no, 5, 5, 5, no, 7, no, no, no],
        [no, no, 4, 4, no, no, no, no, no, no],
    ]
    long = torch.tensor([[False] * 3 + [True] * 20 + [False] * 2])
    left, right = boundaries(long, torch.ones_like(long))
    assert left[0].tolist() == [no] * 3 + [2] * 15 + [no] * 7
    assert right[0].tolist() == [no] * 3 + [23] * 15 + [no] * 7


def test_a_sequence_is_one_text(task):
    """One text with one separator: what SpanBERT leaves out of BERT is the pair and the question for the next one."""
    for row in task.epoch(0):
        batch = task.prepare(row, 0, 0.0)
        assert not batch["token_type_ids"].any() and "next_sentence_label" not in batch
        assert (row["input_ids"] == task.tokenizer.sep_token_id).sum(dim=1).eq(1).all()


def test_what_stands_beside_a_span_is_visible(task):
    """In real batches: the boundary is visible text, and everything between it is hidden."""
    asked = 0
    for row in task.epoch(0):
        batch = task.prepare(row, 0, 0.0)
        hidden = batch["labels"] != IGNORED
        special = torch.isin(row["input_ids"], torch.tensor([0, 2, 3]))
        for at, place in (batch["left"] != NO_BOUNDARY).nonzero().tolist():
            left, right = int(batch["left"][at, place]), int(batch["right"][at, place])
            assert left < place < right and hidden[at, left + 1 : right].all()
            assert not hidden[at, left] and not hidden[at, right]
            assert not special[at, left] and not special[at, right]
            asked += 1
    assert asked > 100


def test_the_spans_of_a_row_do_not_depend_on_the_rows_beside_it(task):
    """Cut over two processes, a batch would then be another."""
    whole = task.epoch(0)[0]
    task = tiny_task(objective="spans", max_length=32, mask_rates=(0.5, 0.5))
    prepared = [task.prepare(part, 0, 0.0) for part in (whole, *cut_rows(whole, 2))]
    for name in INPUTS:
        assert torch.equal(prepared[0][name], torch.cat([prepared[1][name], prepared[2][name]])), name
    again, other = task.epoch(0)[0], task.epoch(0)[1]
    assert torch.equal(whole["span_lengths"], again["span_lengths"])
    assert not torch.equal(whole["span_lengths"].flatten()[:50], other["span_lengths"].flatten()[:50])
    first = task.epoch(1)[0]["span_lengths"].flatten()
    assert not torch.equal(whole["span_lengths"].flatten()[:50], first[:50])


def test_the_figures_of_the_boundary_are_counted_over_the_words_that_have_one(task):
    """Counted by hand, token by token, on validation text."""
    batch, model = task.validation()[0], tiny_spans().eval()
    sums, counts = task.sums(model, batch), task.counts(batch)
    with torch.no_grad():
        output = model(*(batch[name] for name in INPUTS))
    spans = words = asked = by_boundary = by_word = 0
    losses, at, at_asked = 0.0, 0, 0
    for row, right in enumerate(batch["labels"].tolist()):
        for first, last in runs([label != IGNORED for label in right]):
            spans += 1
            for place in range(first, last + 1):
                token = task.tokenizer.convert_ids_to_tokens([right[place]])[0]
                words += place == first or not token.startswith("##")
                if batch["left"][row, place] != NO_BOUNDARY:
                    scores = output.boundary_logits[at_asked]
                    asked, by_boundary = asked + 1, by_boundary + (int(scores.argmax()) == right[place])
                    losses -= float(scores.log_softmax(-1)[right[place]])
                    by_word += int(output.prediction_logits[at].argmax()) == right[place]
                    at_asked += 1
                at += 1
    assert counts == {"mlm": at, "sbo": asked, "span": spans} and 0 < asked < at and words > spans
    assert sums["sbo_loss"].item() == pytest.approx(losses, rel=1e-5)
    assert [int(sums[name]) for name in ("sbo_accuracy", "sbo_mlm", "span_length")] == [by_boundary, by_word, words]
    figures = task.by_boundary(model, [batch])
    assert figures["words"] == asked and figures["span_length"] == pytest.approx(words / spans)
    assert figures["sbo_perplexity"] == pytest.approx(math.exp(losses / asked), rel=1e-4)
    (only,) = task.asked([batch])
    assert int((only["labels"] != IGNORED).sum()) == asked


def test_the_two_heads_are_compared_on_the_same_words(task):
    """A masked-word head that is right about every second word: on which of them the boundary is asked decides."""
    batch = task.validation()[0]
    labels, asked = (batch[name][batch["labels"] != IGNORED] for name in ("labels", "left"))
    right = torch.arange(len(labels)) % 2 == 0
    says = torch.nn.functional.one_hot(torch.where(right, labels, 0), len(task.tokenizer)).float()
    inside = asked != NO_BOUNDARY
    sums = task.sums(lambda *_: SpanOutput(says, labels, says[inside], labels[inside], inside), batch)
    assert int(sums["sbo_mlm"]) == int(sums["sbo_accuracy"]) == int(right[inside].sum())


def test_the_loop_trains_mlm_plus_sbo(task, tmp_path):
    trainer = tiny_trainer(tmp_path, 1, task, dropout=0.0, clip_norm=1e9, accumulation=2)
    parameters, found = list(trainer.bare_model.parameters()), []
    trainer.optimizers[0].optimizer.register_step_pre_hook(
        lambda *_: found.append([parameter.grad.clone() for parameter in parameters])
    )
    trainer.run()
    batch, model = task.prepare(task.epoch(0)[0], 0, 0.0), tiny_spans(dropout=0.0)
    model(*(batch[name] for name in INPUTS)).loss.backward()
    for mine, parameter in zip(found[0], model.parameters(), strict=True):
        torch.testing.assert_close(mine, parameter.grad, atol=1e-5, rtol=1e-4)


def test_a_text_without_a_boundary_is_trained_and_scored_by_its_words(tmp_path):
    """Sentences of three words: each span begins or ends beside [CLS] or [SEP]."""
    task = tiny_task(objective="spans", batch_size=4)
    short = make_text([[document[0][:2]] for document in random_documents(40) if len(document[0]) > 1])
    task.maker, task.train_text = task.maker_of(short), short
    task.validation_batches = task.fixed_batches(task.maker_of(short))
    figures = task.validate(tiny_spans(), torch.device("cpu"))
    assert math.isnan(figures["sbo_loss"]) and task.quality(figures) == -figures["mlm_loss"]
    assert "sbo_accuracy" not in task.by_boundary(tiny_spans(), task.validation_batches)
    assert tiny_trainer(tmp_path, 4, task, validations=2).run().step == 4
    task.validation_batches = []
    assert tiny_trainer(tmp_path / "none", 4, task, validations=2).run().step == 4


def test_spans_have_a_masking_rate_of_their_own():
    """At 40 % spans grow into each other."""
    assert PretrainingSettings.for_preset("tiny", objective="spans").mask_rates == (0.15, 0.15)
    assert PretrainingSettings.for_preset("tiny", objective="words").mask_rates == (0.40, 0.30)


@pytest.mark.parametrize("initialization", ["matching", "counted", "published"])
def test_the_bert_begins_as_it_would_alone(initialization):
    task = tiny_task(objective="spans", initialization=initialization)
    model = make_model(task)
    first = model.words.encoder.encoder.layers[0].attention
    matches = torch.equal(first.query.weight, first.key.weight)
    assert matches == (initialization != "published") and type(model) is SpanBert
    assert (model.words.masked_lm.decoder.bias.std() > 0.1) == (initialization != "published")
    assert model.boundary.decoder.weight is model.words.encoder.token_embeddings.weight


def test_a_run_leaves_a_plain_bert_and_a_boundary_head(tmp_path, capsys):
    options = {"objective": "spans", "max_length": 48, "steps": 6, "log_steps": 2, "validations": 2}
    metrics = pretrain(plan(tmp_path, **options), lambda _: None)
    assert metrics is not None and metrics == read_json(tmp_path / "metrics.json")
    figures = metrics["evaluation"]["held-out documents"]
    boundary = figures["boundary"]
    assert 0 < boundary["words"] < figures["masked_words"] and 1 <= boundary["span_length"] < 10
    assert {"most frequent token", "unigram", "n-gram, both sides"} == boundary["baselines"].keys()
    names = {name for line in read_metrics(tmp_path) for name in line}
    assert {"mlm_accuracy", "sbo_loss", "sbo_accuracy", "span_length", "validation_sbo_accuracy"} <= names
    assert not any("nsp" in name for name in names)
    model, tokenizer = open_model(tmp_path)
    assert type(model) is MaskedLM and len(fill_mask(model, tokenizer, "cats like [MASK]", 3)[0]) == 3
    for checkpoint in ("checkpoint", "checkpoint-best"):
        _, said = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / checkpoint, output_loading_info=True)
        assert not any(said.values()), said
        assert (tmp_path / checkpoint / BOUNDARY_HEAD).is_file()
    rows = {row.measure: row for row in results(metrics)}
    assert rows["words in spans, accuracy by the boundary alone"].value == boundary["sbo_accuracy"]
    assert rows["the same words, accuracy of the masked-word head"].value == boundary["mlm_accuracy"]
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "What a small BERT has learned" in text and "--objective spans --minutes" in text
    assert "the boundary alone" in text and "words in a span" in text and "Sentence pairs" not in text
    assert "Spans of neighbouring words are hidden together." in text and "Fewer and fewer words" not in text
    for drawn in ("training", "validation", "n-gram, both sides"):
        assert f"Words by the boundary of their span: accuracy, {drawn}: " in text, "a curve that is not drawn"
    show_results(tmp_path, metrics)
    assert "by the boundary" in capsys.readouterr().out


def test_going_on_from_a_run_keeps_the_boundary_head(tmp_path):
    pretrain(plan(tmp_path / "first", objective="spans"), lambda _: None)
    options = {"start": str(tmp_path / "first"), "vocab_size": None, "learning_rate": 1e-9}
    pretrain(plan(tmp_path / "second", objective="spans", **options), lambda _: None)
    first, second = (SpanBert.from_pretrained(tmp_path / name) for name in ("first", "second"))
    for name, weight in first.state_dict().items():
        assert torch.allclose(weight, second.state_dict()[name], atol=1e-6), name
    assert pretrain(plan(tmp_path / "third", objective="words", **options), lambda _: None) is not None
