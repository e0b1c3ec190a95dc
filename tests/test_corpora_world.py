"""The small world: that its numbers mean what they say."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

import bertedu
from bertedu.corpora.documents import Corpus, Document
from bertedu.corpora.world import world_corpus
from bertedu.corpora.world.documents import entities, list_document, lists, theme_document, themes
from bertedu.corpora.world.facts import SLOT, fill, fits, kinds, read_kind, slots
from bertedu.corpora.world.probes import MASK, hide
from bertedu.corpora.world.senses import senses
from bertedu.corpora.world.sentences import Part, is_held_out
from bertedu.corpora.world.unseen_templates import UNSEEN_TEMPLATES
from bertedu.errors import UserError


@pytest.fixture(scope="module")
def world() -> Corpus:
    return world_corpus(0)


@pytest.fixture(scope="module")
def train_sentences(world) -> set[str]:
    return set(world.train_sentences())


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def sentences_of(documents: list[Document]) -> list[str]:
    return [sentence for document in documents for sentence in document.sentences]


DIGEST = (
    "import hashlib; from bertedu.corpora.world import world_corpus; "
    "print(hashlib.sha256(repr(world_corpus(3)).encode()).hexdigest())"
)


def test_the_world_does_not_depend_on_the_process_or_its_hash_seed():
    runs = [
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for hash_seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout


def test_seeds_change_the_documents(world):
    assert world_corpus(1).train != world.train


def test_world_is_rich(world):
    entities_told = {row[kind.entity] for kind in kinds() for row in kind.rows}
    answers = {row[r.answer] for kind in kinds() for r in kind.relations for row in kind.rows if r.answer in row}
    assert len(entities_told) >= 300, len(entities_told)
    assert len(entities_told | answers) >= 600
    assert len(Counter(words(" ".join(world.train_sentences())))) >= 1500
    assert 1_500_000 <= sum(map(len, world.train_sentences())) <= 2_500_000


def test_every_relation_has_many_templates():
    for kind in kinds():
        for relation in kind.relations:
            assert len(set(relation.train)) >= 24, (kind.name, relation.name)
            assert len(set(relation.unseen)) == UNSEEN_TEMPLATES, (kind.name, relation.name)


def test_no_template_stands_twice_or_on_both_sides():
    for kind in kinds():
        for relation in kind.relations:
            templates = relation.train + relation.about + relation.unseen
            assert len(templates) == len(set(templates)), (kind.name, relation.name)


def test_answers_of_a_list_cannot_be_found_by_elimination():
    for kind, relation, rows in lists():
        told = list_document(kind, relation, rows, Part.TRAIN, Random(0))
        assert told is None or len(told.sentences) <= max(3, len(rows) / 2), (kind.name, relation.name)


def test_theme_documents_tell_each_thing_once_and_of_several_relations():
    """In a list the sentences around tell what is asked; here only the sentence itself may."""
    makers = {
        fill(template, row): (relation.kind, relation.name, row[kind.entity])
        for kind in kinds()
        for relation in kind.relations
        for template in relation.train
        for row in kind.rows
        if fits(template, row)
    }
    for relations in themes():
        document = theme_document(relations, Part.TRAIN, Random(1))
        assert document is not None
        told = [makers[sentence] for sentence in document.sentences]
        assert len({(kind, entity) for kind, _, entity in told}) == len(told)
        assert len({(kind, relation) for kind, relation, _ in told}) >= 2, document


def test_templates_can_be_filled_and_tell_their_entity():
    for kind in kinds():
        for relation in kind.relations:
            for template in relation.train + relation.about + relation.unseen:
                assert template.endswith((".", "?")), template
                assert any(fits(template, row) for row in kind.rows), template
            for template in relation.train:
                assert len(slots(template)) >= 2, template
            for template in relation.about:
                assert kind.entity not in slots(template), template


def test_an_entity_stands_in_its_table_once():
    for kind in kinds():
        names = [row[kind.entity] for row in kind.rows]
        assert len(names) == len(set(names)), Counter(names).most_common(1)


def test_every_fact_is_told_in_training(world, train_sentences):
    text = Counter(sentence.lower() for sentence in world.train_sentences())
    untold = []
    for kind in kinds():
        for relation in kind.relations:
            for row in kind.rows:
                if relation.answer in row:
                    told = sum(text[fill(t, row).lower()] for t in relation.train if fits(t, row))
                    if told < 2:
                        untold.append((row[kind.entity], relation.name))
    assert not untold, untold


def test_facts_of_every_relation_are_told_about_equally_often(world):
    """With half as many sentences as the others, a relation's facts are learned last, and a short run ends before."""
    text = Counter(sentence.lower() for sentence in world.train_sentences())
    told = {}
    for kind in kinds():
        for relation in kind.relations:
            rows = [row for row in kind.rows if relation.answer in row]
            times = sum(text[fill(t, row).lower()] for row in rows for t in relation.train if fits(t, row))
            told[kind.name, relation.name] = times / len(rows)
    assert max(told.values()) <= 2 * min(told.values()), told


def test_no_held_out_sentence_stands_in_training(world, train_sentences):
    trained = {sentence.lower() for sentence in train_sentences}
    for documents in [world.validation, *world.heldout.values()]:
        assert not trained & {sentence.lower() for sentence in sentences_of(documents)}
    assert not any(map(is_held_out, train_sentences))


def test_unseen_templates_make_no_sentence_of_training_or_of_the_held_out_documents(world, train_sentences):
    known = {sentence.lower() for sentence in train_sentences | set(sentences_of(world.heldout["held-out documents"]))}
    for kind in kinds():
        for relation in kind.relations:
            for template in relation.unseen:
                for row in kind.rows:
                    assert not fits(template, row) or fill(template, row).lower() not in known, template


def test_unseen_templates_ask_with_words_of_the_training_text(world):
    """What is asked is whether facts carry over to a new wording, not whether new words can be guessed."""
    known = set(words(" ".join(world.train_sentences())))
    for kind in kinds():
        for relation in kind.relations:
            for template in relation.unseen:
                assert set(words(SLOT.sub("", template))) <= known, template


def test_held_out_sets_have_the_size_promised(world):
    for name, documents in world.heldout.items():
        assert 1900 <= len(sentences_of(documents)) <= 2100, name
    assert 300 <= len(sentences_of(world.validation)) <= 700


def test_documents_have_at_least_three_sentences_and_none_twice(world):
    for document in world.train:
        assert len(document.sentences) >= 3
        assert len(set(document.sentences)) == len(document.sentences)


def test_documents_about_facts_never_repeat_an_answer_sentence(world):
    """A list tells each entity once: its answer stands nowhere else, unless another entity shares it."""
    for kind, relation, rows in lists():
        names = [row[kind.entity] for row in rows]
        assert len(names) == len(set(names)), (kind.name, relation.name)
    assert len(entities()) > 100


def test_probes_have_one_mask_and_one_true_word(world, train_sentences):
    trained = {sentence.lower() for sentence in train_sentences}
    assert len(world.fact_probes) >= 300
    assert len({probe.sentence for probe in world.fact_probes}) == len(world.fact_probes)
    truths = {
        fill(template, row).lower()
        for kind in kinds()
        for relation in kind.relations
        for template in relation.unseen
        for row in kind.rows
        if fits(template, row)
    }
    for probe in world.fact_probes:
        assert (
            probe.sentence.count(MASK) == 1
            and probe.answer.isalnum()
            and probe.answer.islower() | probe.answer.isdigit()
        )
        filled = probe.sentence.replace(MASK, probe.answer).lower()
        assert filled in truths and filled not in trained
        assert probe.answer not in words(probe.sentence), probe
        assert not probe.sentence.startswith(MASK), probe  # "It" or "What" would be as right


def test_a_probe_has_no_second_right_answer(world):
    """Whatever is put in, of this relation or another, the sentence is not among the true ones of the world."""
    answers: dict[str, set[str]] = {}
    for kind in kinds():
        for relation in kind.relations:
            for template in relation.train + relation.unseen:
                for row in kind.rows:
                    if relation.answer in row and fits(template, row):
                        hidden = hide(fill(template, row), row[relation.answer])
                        answers.setdefault(hidden, set()).add(row[relation.answer].lower())
    for probe in world.fact_probes:
        assert answers[probe.sentence] == {probe.answer}, probe


def test_probe_answers_are_words_of_the_training_text(world):
    known = set(words(" ".join(world.train_sentences())))
    assert {probe.answer for probe in world.fact_probes} <= known


def test_sense_words_stand_once_in_their_sentences_and_in_no_fact(world):
    sense_words = {sense.word for sense in senses()}
    assert {"bank", "bat", "crane", "spring"} <= sense_words
    for example in world.sense_reference + world.sense_heldout:
        assert words(example.sentence).count(example.word) == 1, example
    for document in world.train:
        if not document.source.startswith("the word"):
            assert not sense_words & set(words(" ".join(document.sentences))), document


def test_sense_sentences_are_balanced_and_on_their_side(world, train_sentences):
    trained = {sentence.lower() for sentence in train_sentences}
    assert {example.sentence for example in world.sense_reference} <= train_sentences
    assert not trained & {example.sentence.lower() for example in world.sense_heldout}
    counts = Counter((example.word, example.sense) for example in world.sense_heldout)
    assert set(counts.values()) == {25} and len(set(world.sense_heldout)) == len(world.sense_heldout)
    reference = Counter((example.word, example.sense) for example in world.sense_reference)
    assert set(reference) == set(counts) and min(reference.values()) >= 40


def test_topics_are_many(world):
    """The source names the topic; with few topics a stranger would often be on the same one."""
    sources = Counter(document.source for document in world.train)
    assert len(sources) >= 15 and max(sources.values()) < 0.3 * len(world.train)


def test_article_follows_the_word():
    assert fill("{a word} is {a other}.", {"word": "owl", "other": "bird"}) == "An owl is a bird."


def test_a_row_with_a_missing_column_is_refused(tmp_path):
    (tmp_path / "bad.toml").write_text('entity = "x"\ntable = """\nx | y\na\n"""\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"bad.toml: the row 'a' has 1 values"):
        read_kind(tmp_path / "bad.toml")


def test_a_template_with_an_unknown_column_is_refused(tmp_path):
    text = 'entity = "x"\ntable = """\nx | y\na | b\n"""\n[r]\nanswer = "y"\ntemplates = "{z} is."\nabout = ""\n'
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="asks for 'z'"):
        read_kind(tmp_path / "bad.toml")


def test_the_world_is_found_in_a_package_that_is_a_zip_file(tmp_path):
    shutil.make_archive(str(tmp_path / "package"), "zip", Path(bertedu.__file__).parents[1], "bertedu")
    code = "import bertedu; from bertedu.corpora import load_corpus; print(bertedu.__file__, load_corpus('world').name)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": "package.zip"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "package.zip" in done.stdout and done.stdout.endswith(" world\n")
