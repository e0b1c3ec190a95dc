"""The checkpoint of a rented GPU, tried where there is none: text, rows, masks, files, and ends at any moment."""

import json
import math
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from support import box_work

from bertedu import BertForPreTraining, BertTokenizer
from bertedu.errors import UserError
from bertedu.inference import fill_mask, open_model
from bertedu.pretraining.masking import Draws, apply_masks, tokens_to_mask
from bertedu.pretraining.sentence_pairs import TokenizedText
from bertedu.training.operations import CountedOperations

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SMALL = {"layers": 2, "hidden_size": 16, "heads": 2, "length": 32, "short_length": 16, "rows": 8}


@pytest.fixture(scope="module")
def box() -> Iterator[SimpleNamespace]:
    """The modules of the benchmark, which import each other as a script's neighbours do."""
    sys.path.insert(0, str(BENCHMARKS))
    names = ("box", "box_text", "box_rows", "box_train", "box_files", "children", "bare")
    yield SimpleNamespace(**{name: import_module(name) for name in names})
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def tokenizer() -> BertTokenizer:
    return BertTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(200))])


def numbered(documents: int = 12, sentences: int = 30, seed: int = 0) -> TokenizedText:
    """A text in which every token is its own position, so that a row tells where each of its words is from."""
    rng, marks, ends = random.Random(seed), [0], [0]
    for _ in range(documents):
        for _ in range(sentences):
            marks.append(marks[-1] + rng.randint(2, 12))
        ends.append(len(marks) - 1)
    return TokenizedText(np.arange(marks[-1], dtype=np.int32), marks, ends, [""] * documents)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn_pairs(box, text, tokenizer, rows=4000, length=32):
    """Both segments of many rows, as positions in the text, and the labels."""
    maker = box.box_rows.RowMaker(text, tokenizer, length, "cpu")
    ids, first, is_not_next = maker.pairs(rows, length, generator())
    pairs = [(row[1 : 1 + n], row[2 + n : -1]) for row, n in zip(ids.tolist(), first.tolist(), strict=True)]
    return ids, first, pairs, is_not_next.tolist()


# Text


def test_packed_ids_decode_to_the_text_and_no_held_out_document_is_among_them(box, tmp_path):
    words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"]
    rng = random.Random(0)
    lines = [
        "\n".join(" ".join(rng.choices(words, k=6)).capitalize() + "." for _ in range(4)) + "\n" for _ in range(400)
    ]
    (tmp_path / "animals.txt").write_text("\n".join(lines), "utf-8")
    corpus = import_module("bertedu.corpora").load_corpus([str(tmp_path / "animals.txt")])
    tokenizer = BertTokenizer.train(corpus.train_sentences(), vocab_size=60, lowercase=False)
    about = box.box_text.pack([str(tmp_path / "animals.txt")], tokenizer, tmp_path / "text.xz")
    texts, again = box.box_text.read(tmp_path / "text.xz")
    assert again == about and about["corpora"] == ["animals.txt"], "the path of a folder is nobody's business"
    assert list(box.box_text.tokenizer_of(again).vocab) == list(tokenizer.vocab)
    for part, documents in (("train", corpus.train), ("validation", corpus.validation)):
        text = texts[part]
        packed = [text.tokens[a:b].tolist() for a, b in pairwise(text.sentences)]
        written = [sentence for document in documents for sentence in document.sentences]
        assert [box.box_text.tokenizer_of(again).decode(ids) for ids in packed] == written
        assert len(text.documents) == 2, "one file is one document, in all its chunks"


def test_every_id_of_16_bits_comes_back(box, tmp_path):
    tokens = np.array([0, 255, 256, 40_000, 65_535], dtype=np.int32)
    text = TokenizedText(tokens, [0, 2, 5], [0, 1, 2], ["one", "two"])
    box.box_text.write(tmp_path / "text.xz", {"train": text, "validation": text}, {"said": "é"})
    texts, about = box.box_text.read(tmp_path / "text.xz")
    for found in texts.values():
        assert (found.tokens.tolist(), found.sentences, found.documents) == (tokens.tolist(), [0, 2, 5], [0, 1, 2])
    assert about == {"said": "é"}


def test_a_vocabulary_beyond_16_bits_is_refused(box, tmp_path):
    large = BertTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(2**16 - 4))])
    with pytest.raises(UserError, match="16 bits"):
        box.box_text.pack(["world"], large, tmp_path / "text.xz")


def test_a_thinned_text_holds_every_third_piece(box):
    text = numbered(documents=4, sentences=30)  # two pieces each, of 24 and of 6 sentences
    thin = box.box_text.thinned(text, 3)
    pieces = [(text.documents[d] + a, text.documents[d] + b) for d in range(4) for a, b in ((0, 24), (24, 30))][::3]
    wanted = [np.arange(text.sentences[a], text.sentences[b]) for a, b in pieces]
    assert thin.tokens.tolist() == np.concatenate(wanted).tolist()
    assert np.diff(thin.documents).tolist() == [b - a for a, b in pieces] and thin.sentences[-1] == len(thin.tokens)


# Rows


def test_rows_are_full_and_begin_and_divide_where_sentences_do(box, tokenizer):
    text = numbered()
    ids, first, pairs, is_not_next = drawn_pairs(box, text, tokenizer)
    of = np.repeat(np.arange(12), np.diff([text.sentences[i] for i in text.documents]))  # the document of each token
    starts = set(text.sentences)
    assert ids.shape == (4000, 32) and (ids[:, 0] == tokenizer.cls_token_id).all()
    assert (ids[:, -1] == tokenizer.sep_token_id).all()
    assert (ids.gather(1, first[:, None] + 1) == tokenizer.sep_token_id).all()
    for (one, two), label in zip(pairs, is_not_next, strict=True):
        assert len(one) >= 1 <= len(two) and len(one) + len(two) == 29
        for segment in (one, two):
            assert segment == list(range(segment[0], segment[0] + len(segment)))
            assert segment[0] in starts and len(set(of[segment])) == 1, "it begins a sentence and stays in its document"
        if label:
            assert of[one[0]] != of[two[0]]
        else:
            assert two[0] == one[-1] + 1


def test_half_of_the_pairs_follow_and_nothing_but_the_text_tells_which(box, tokenizer):
    """Lengths, and whether the second segment ends where a sentence ends, are the same for both."""
    text = numbered(documents=40, sentences=60)
    _, first, pairs, is_not_next = drawn_pairs(box, text, tokenizer, rows=20_000)
    label = np.array(is_not_next, dtype=bool)
    marks = np.zeros(len(text.tokens) + 1, dtype=bool)
    marks[text.sentences] = True
    ends = marks[[two[-1] + 1 for _, two in pairs]]
    assert label.mean() == pytest.approx(0.5, abs=0.015)
    assert first.numpy()[label].mean() == pytest.approx(first.numpy()[~label].mean(), rel=0.02)
    assert ends[label].mean() == pytest.approx(ends[~label].mean(), abs=0.02)


def test_a_sentence_without_end_in_the_row_is_cut_and_goes_on_elsewhere(box, tokenizer):
    """As in the published code, in which a document of one sentence has no second segment of its own."""
    marks = list(range(0, 4001, 100))
    long = TokenizedText(np.arange(4000, dtype=np.int32), marks, list(range(41)), [""] * 40)
    _, _, pairs, is_not_next = drawn_pairs(box, long, tokenizer, rows=200)
    assert sum(is_not_next) >= 198, "but for one in 1,600, whose two other beginnings lie in its own document"
    assert all((one[0] // 100 != two[0] // 100) == label for (one, two), label in zip(pairs, is_not_next, strict=True))


def test_every_token_is_about_equally_likely_to_be_read(box, tokenizer):
    """Inside the documents, whose edges are read less often; and sentences are not favoured for being short."""
    text = numbered(documents=3, sentences=200)
    _, _, pairs, _ = drawn_pairs(box, text, tokenizer, rows=60_000)
    read = np.bincount([token for one, two in pairs for token in (*one, *two)], minlength=len(text.tokens))
    edges = [text.sentences[number] for number in text.documents]
    inner = np.concatenate([read[a + 40 : b - 40] for a, b in pairwise(edges)])
    assert inner.std() / inner.mean() < 0.2 and inner.min() > inner.mean() / 2


def test_a_text_too_short_for_the_rows_is_refused(box, tokenizer):
    with pytest.raises(UserError, match="no document of the text fills a row of 512"):
        box.box_rows.RowMaker(numbered(), tokenizer, 512, "cpu")
    with pytest.raises(UserError, match="only one document"):
        box.box_rows.RowMaker(numbered(documents=1), tokenizer, 32, "cpu")


# Masks


@pytest.mark.parametrize("rate", [0.15, 0.2, 0.3])
def test_masks_are_those_of_the_package_for_the_same_random_numbers(box, tokenizer, rate):
    text = numbered()
    ids, first, _, _ = drawn_pairs(box, text, tokenizer, rows=300)
    ids = torch.where(ids < 5, ids, 5 + ids % 200)
    maker = box.box_rows.RowMaker(text, tokenizer, 32, "cpu")
    order, fate = (torch.rand(ids.shape, generator=generator(seed)) for seed in (1, 2))
    draws = Draws(order, fate, torch.randint(len(tokenizer), ids.shape, generator=generator(3)))
    special = (ids == tokenizer.cls_token_id) | (ids == tokenizer.sep_token_id)
    number = box.box_train.Recipe(**SMALL, mask_rate=rate).shape(0)[2]
    assert tokens_to_mask(~special, rate, special_tokens=3).unique().tolist() == [number]
    masked, labels = apply_masks(ids, ~special, rate, tokenizer.mask_token_id, draws)
    rows = maker.masked(ids, first, torch.zeros(300), number, draws)
    assert torch.equal(rows.input_ids, masked)
    found = torch.full_like(labels, -100).flatten().index_put((rows.places,), rows.words)
    assert torch.equal(found.view_as(labels), labels)
    types = (torch.arange(32) > first[:, None] + 1).long()
    assert torch.equal(rows.token_type_ids, types)


def test_drawn_masks_have_the_published_shares_and_never_a_special_token(box, tokenizer):
    text = numbered()
    text = TokenizedText(5 + text.tokens % 200, text.sentences, text.documents, text.sources)
    maker = box.box_rows.RowMaker(text, tokenizer, 32, "cpu")
    rows = maker.draw(5000, 32, 5, generator())
    seen = rows.input_ids.flatten()[rows.places]
    assert (rows.words >= 5).all() and len(rows.places.unique()) == len(rows.places) == 25_000
    masked, stayed = (seen == tokenizer.mask_token_id).double().mean(), (seen == rows.words).double().mean()
    assert masked == pytest.approx(0.8 + 0.1 / len(tokenizer), abs=0.01)
    assert stayed == pytest.approx(0.1 + 0.1 / len(tokenizer), abs=0.01)


# Training


@pytest.fixture
def job(box, tokenizer, tmp_path):
    """A run of six small steps that saves after each."""
    text = numbered(documents=20)
    text = TokenizedText(5 + text.tokens % 200, text.sentences, text.documents, text.sources)
    about = {
        "corpora": ["numbers"],
        "notes": [],
        "tokens": {part: len(text.tokens) for part in ("train", "validation")},
        "tokenizer": {"vocab": list(tokenizer.vocab), "lowercase": True},
    }
    box.box_text.write(tmp_path / "text.xz", {"train": text, "validation": text}, about)
    return box.box_train.Job(
        text=tmp_path / "text.xz",
        output=tmp_path / "run",
        state=tmp_path / "state",
        recipe=box.box_train.Recipe(**SMALL),
        tokens=6 * 8 * 32,
        device="cpu",
        precision="fp32",
        compiled=False,
        save_seconds=0.0,
        log_steps=1,
    )


def test_a_run_that_was_ended_goes_on_to_the_same_weights(box, job, tmp_path):
    whole = box.box_train.Run(job)
    whole.go(lambda: None, lambda line: None)
    elsewhere = replace(job, output=tmp_path / "again", state=tmp_path / "again-state")

    def stop(line):
        if line.startswith("step 4"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        box.box_train.Run(elsewhere).go(lambda: None, stop)
    again = box.box_train.Run(elsewhere)
    again.go(lambda: None, lambda line: None)
    assert again.progress.step == whole.progress.step == 6
    ours, theirs = again.model.state_dict(), whole.model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    logs = [(one / "metrics.jsonl").read_text("utf-8").splitlines() for one in (job.output, elsewhere.output)]
    assert [json.loads(line)["step"] for line in logs[1]] == list(range(1, 7))
    assert [json.loads(line)["mlm_loss"] for line in logs[1]] == [json.loads(line)["mlm_loss"] for line in logs[0]]


def test_the_loss_falls_and_every_eighth_step_has_short_rows(box, job):
    """Four words that follow each other again and again: at first each is as likely as the others."""
    texts, about = box.box_text.read(job.text)
    for text in texts.values():
        text.tokens[:] = 5 + np.arange(len(text.tokens)) % 4
    box.box_text.write(job.text, texts, about)
    recipe = box.box_train.Recipe(**SMALL, learning_rate=1e-2)
    run = box.box_train.Run(replace(job, tokens=100 * 8 * 32, save_seconds=1000.0, log_steps=10, recipe=recipe))
    last = run.go(lambda: None, lambda line: None)
    assert last["mlm_loss"] < math.log(4) - 0.15 and last["validation_mlm_loss"] < math.log(4) - 0.15
    assert [recipe.shape(step)[:2] for step in (0, 6, 7, 8)] == [(8, 32), (8, 32), (16, 16), (8, 32)]


def test_where_word_vectors_cannot_be_counted_a_run_starts_by_matching(box, job, monkeypatch, capsys):
    def another_version(*given):
        raise TypeError("svds() got an unexpected keyword argument")

    counted = box.box_train.Run(job).model.bert.embeddings.token.weight
    monkeypatch.setattr(box.box_train, "initialize_for_neighbors", another_version)
    matched = box.box_train.Run(job).model.bert.embeddings.token.weight
    assert "unexpected keyword" in capsys.readouterr().out and not torch.equal(counted, matched)
    assert matched[5:].std().item() == pytest.approx(0.05, rel=0.1), "drawn, not left at 0.02"


def test_a_step_makes_python_wait_for_no_number_of_the_device(box, job):
    run = box.box_train.Run(job)
    run.step(0.5)
    with CountedOperations() as counted:
        run.step(0.5)
    assert counted.kernels > 100 and counted.waits == {}
    with CountedOperations() as counted:
        run.recent[0][0].item()
    assert counted.waits, "that would be noticed"


def test_the_modules_for_a_gpu_learn_the_same(box, job, tmp_path, monkeypatch):
    """One product for query, key and value, tried on the CPU."""
    plain = trained(box, job)
    monkeypatch.setattr(box.box_train, "runs_ahead", lambda device: True)
    lean = trained(box, replace(job, output=tmp_path / "lean", state=tmp_path / "lean-state"))
    for (name, ours), theirs in zip(lean.state_dict().items(), plain.state_dict().values(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-3, msg=name)


def test_a_run_by_the_clock_ends_in_time_with_a_learning_rate_of_0(box, job):
    begun = time.monotonic()
    timed = replace(job, tokens=None, until=begun + 4, save_seconds=1.0)
    last = box.box_train.Run(timed).go(lambda: None, lambda line: None)
    assert 3.9 < time.monotonic() - begun < 6 and last["learning_rate"] < 1.5e-4 and last["step"] > 10
    assert (job.output / "checkpoint" / "config.json").is_file()
    with pytest.raises(UserError, match="seconds left to train in"):
        box.box_train.Run(timed).go(lambda: None, lambda line: None)


def test_a_loss_that_is_no_number_ends_the_run_and_keeps_the_older_checkpoint(box, job):
    run = box.box_train.Run(job)

    def spoil(line):
        if line.startswith("step 2"):
            run.model.bert.embeddings.token.weight.data.fill_(math.nan)

    with pytest.raises(UserError, match="diverged: "):
        run.go(lambda: None, spoil)
    kept = BertForPreTraining.from_pretrained(job.output / "checkpoint")
    assert all(torch.isfinite(weight).all() for weight in kept.parameters())


# Files


def trained(box, job) -> BertForPreTraining:
    run = box.box_train.Run(job)
    run.go(lambda: None, lambda line: None)
    return run.model.eval()


def test_the_checkpoint_is_the_trained_model_in_both_libraries(box, job, monkeypatch):
    monkeypatch.setattr(box.box_files, "MOST_BYTES", 4000)
    model = trained(box, job)
    folder = job.output / "checkpoint"
    assert len(list(folder.glob("weights-6-*.safetensors"))) > 2 and not list(folder.glob("weights-5-*"))
    assert all(path.stat().st_size < 8000 for path in folder.glob("weights-*")), "one table is larger than 4,000 bytes"
    ids = torch.randint(5, 205, (3, 32), generator=generator())
    types = (torch.arange(32) > 15).long().expand_as(ids)
    ours = BertForPreTraining.from_pretrained(folder)
    theirs = transformers.BertForPreTraining.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        wanted = model.half().float()(ids, token_type_ids=types)
        found = ours(ids, token_type_ids=types)
        other = theirs(ids, token_type_ids=types)
    assert torch.equal(found.prediction_logits, wanted.prediction_logits)
    assert torch.equal(found.seq_relationship_logits, wanted.seq_relationship_logits)
    torch.testing.assert_close(other.prediction_logits, wanted.prediction_logits, rtol=0, atol=1e-5)
    torch.testing.assert_close(other.seq_relationship_logits, wanted.seq_relationship_logits, rtol=0, atol=1e-5)


def test_an_end_between_two_files_leaves_the_older_checkpoint(box, job, monkeypatch):
    monkeypatch.setattr(box.box_files, "MOST_BYTES", 4000)
    model, folder = trained(box, job), job.output / "checkpoint"
    before = BertForPreTraining.from_pretrained(folder).state_dict()

    def ended(*arguments):
        raise KeyboardInterrupt

    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(1.0)
    monkeypatch.setattr(box.box_files, "write_json", ended)
    with pytest.raises(KeyboardInterrupt):
        box.box_files.save_checkpoint(model, BertTokenizer.from_pretrained(folder), folder, 7)
    after = BertForPreTraining.from_pretrained(folder).state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.slow(cases=1)  # a quarter of a minute
def test_a_run_that_is_killed_leaves_a_checkpoint_that_opens_and_no_process(box, job, tmp_path):
    sizes = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    command = [sys.executable, BENCHMARKS / "box.py", "train", job.text, "--output", job.output, "--seconds=300"]
    options = ["--not-compiled", "--device=cpu", "--save-seconds=0.5", "--log-steps=1", *sizes]
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)
    index = job.output / "checkpoint" / "model.safetensors.index.json"
    for _ in range(600):
        if index.is_file() and (job.state / "resume.safetensors").is_file():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(1)
    size = (job.output / "metrics.jsonl").stat().st_size
    time.sleep(1)
    assert (job.output / "metrics.jsonl").stat().st_size == size, "the child went on without its parent"
    model, tokenizer = open_model(job.output / "checkpoint")
    (guesses,) = fill_mask(model, tokenizer, "w1 w2 [MASK] w4")
    assert len(guesses) == 5


def test_the_card_has_what_was_measured_of_both_models(box, job, tmp_path, monkeypatch):
    lines = [f"w{i % 150} w{i * 7 % 200} w3 w{i % 11} w{i * 3 % 190} w5 ." for i in range(1600)]
    text = "\n\n".join("\n".join(lines[i : i + 4]) for i in range(0, len(lines), 4))
    (tmp_path / "words.txt").write_text(text, "utf-8")
    trained(box, job)
    beside = tmp_path / "other"
    BertForPreTraining.from_pretrained(job.output / "checkpoint").save_pretrained(beside)
    BertTokenizer.from_pretrained(job.output / "checkpoint").save_pretrained(beside)
    finetuning = import_module("finetuning")
    runs = iter([0.7, 0.8, 0.9, 0.5, 0.5, 0.5])
    monkeypatch.setattr(finetuning, "run", lambda *given: {"bertedu": {"test": next(runs)}})
    words = SimpleNamespace(baselines=lambda train, test: {"bag of words": {"accuracy": 0.65}})
    monkeypatch.setattr(finetuning, "TASKS", {"classification": words})
    films = replace(finetuning.FILMS, read=lambda folder: ([1, 2], [3], [4, 5, 6]))
    monkeypatch.setattr(finetuning, "BENCHMARKS", {"films": films})
    box_ship = import_module("box_ship")
    monkeypatch.setattr(box_ship, "TASKS", ("films",))
    monkeypatch.setattr(box_ship, "LONGEST", 32)
    target = tmp_path / "shipped"
    box_ship.ship(job.output, target, [str(tmp_path / "words.txt")], tmp_path, beside, quick=False)
    card, measured = (target / "README.md").read_text("utf-8"), json.loads((target / "measurements.json").read_text())
    assert "| films, accuracy | 3 | 0.800 ± 0.100 | 0.500 ± 0.000 | bag of words 0.650 |" in card
    assert "2 layers, hidden size 16, 2 heads" in card and "6 steps of 256 tokens" in card
    figures = measured["trained"]["held-out documents"]
    assert f"| held-out documents | masked words, accuracy | {figures['mlm_accuracy']:.1%}" in card
    assert measured["other"] == measured["trained"], "the same weights twice"
    model, _ = open_model(target)
    assert sum(weight.numel() for weight in model.parameters()) == measured["run"]["parameters"]
    (beside / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n", "utf-8")
    with pytest.raises(UserError, match="another vocabulary"):
        box_ship.ship(job.output, target, ["world"], None, beside, quick=False)


# Children


@pytest.fixture(scope="module")
def context(box):
    return box.children.server(["support.box_work"])


def test_a_child_gives_its_result_or_says_how_it_failed(box, context):
    assert box.children.in_child(context, box_work.add, 2, 3, seconds=60).value == 5
    assert box.children.in_child(context, box_work.fail, seconds=60).failure == "ValueError: no kernel"
    assert box.children.in_child(context, box_work.crash, seconds=60).failure == "ended with exit code 3"


def test_children_find_imported_what_their_server_was_told(tmp_path):
    """A module that only the program itself has on its path: importing torch anew would take seconds each time."""
    (tmp_path / "only_here.py").write_text("", "utf-8")
    program = tmp_path / "program.py"
    program.write_text(
        f"""
import sys
sys.path[:0] = {[str(BENCHMARKS), str(Path(__file__).parent), str(tmp_path)]}
from children import in_child, server
from support import box_work
if __name__ == "__main__":
    print(in_child(server(["only_here"]), box_work.imported_before, "only_here", seconds=60).value)
""",
        "utf-8",
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, cwd=BENCHMARKS)
    assert done.stdout == "True\n", done.stderr


def test_what_takes_too_long_to_be_ready_or_to_end_is_cut(box, context):
    slow = box.children.in_child(context, box_work.compile_forever, seconds=60, to_be_ready=0.5)
    assert slow.failure == "took longer than 0 s to be ready" and slow.seconds < 20
    late = box.children.in_child(context, box_work.work_forever, seconds=3, to_be_ready=2.5)
    assert late.failure == "took longer than 3 s to work" and late.seconds < 20


def test_what_a_child_started_ends_with_it(box, context, tmp_path):
    box.children.in_child(context, box_work.start_another, tmp_path / "pid", seconds=4)
    started = int((tmp_path / "pid").read_text("utf-8"))
    time.sleep(0.2)
    assert not alive(started)


def alive(process: int) -> bool:
    """Whether a process is there that has not ended: one that nobody has waited for is still in the list."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_after_a_go_that_was_not_compiled_in_time_the_run_goes_on_without(box, job, monkeypatch, capsys):
    tried = []

    def child(context, work, going, seconds, to_be_ready):
        tried.append((going.compiled, round(seconds), round(to_be_ready), round(going.until - box.bare.BEGUN)))
        return box.children.Outcome(failure="took longer than 90 s to be ready") if going.compiled else done

    done = box.children.Outcome(value={"step": 6})
    monkeypatch.setattr(box.box, "in_child", child)
    monkeypatch.setattr(box.bare, "BEGUN", time.monotonic())
    going = replace(job, compiled=True)
    found = box.box.train_in_children(going, seconds=500, to_compile=90)
    assert tried == [(True, 500, 90, 485), (False, 500, 500, 485)]
    assert found["step"] == 6 and not found["compiled"] and "90 s" in found["failures"][0]
    with pytest.raises(UserError, match="did not come to its end"):
        box.box.train_in_children(going, seconds=10)


def test_after_a_go_that_diverged_the_run_goes_on_with_half_the_learning_rate(box, job, monkeypatch):
    rates = []

    def child(context, work, going, seconds, to_be_ready):
        rates.append(going.recipe.learning_rate)
        diverged = box.children.Outcome(failure="UserError: training diverged: the losses are [nan, nan] at step 9")
        return diverged if len(rates) < 3 else box.children.Outcome(value={})

    monkeypatch.setattr(box.box, "in_child", child)
    monkeypatch.setattr(box.bare, "BEGUN", time.monotonic())
    box.box.train_in_children(replace(job, compiled=True), seconds=500)
    assert rates == [1.5e-3, 0.75e-3, 0.375e-3]
    longer = replace(job, tokens=8 * 8 * 32)
    box.box_train.Run(job).go(lambda: None, lambda line: None)
    slower = box.box_train.Recipe(**SMALL, learning_rate=1e-3)
    again = box.box_train.Run(replace(longer, recipe=slower))
    again.go(lambda: None, lambda line: None)
    assert again.progress.step == 8, "it goes on from the state of the faster run"
