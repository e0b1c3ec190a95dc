"""The bank as cards: in Anki, by Anki's own library, and in the notebook."""

import json
import random
from dataclasses import replace
from html import unescape

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from bertedu.course.quizzes import SCRIPT
from bertedu.errors import UserError
from bertedu.interview.anki import write_anki
from bertedu.interview.bank import Question, questions
from bertedu.interview.flashcards import flashcards


def imported(cards: list[Question], collection, folder) -> tuple[int, int, int]:
    """Import a file of cards as the program does. Returns how many notes are new, changed, and as they were."""
    from anki.collection import ImportCsvRequest

    path = str(folder / "cards.txt")
    write_anki(cards, path)
    request = ImportCsvRequest(path=path, metadata=collection.get_csv_metadata(path=path, delimiter=None))
    log = collection.import_csv(request).log
    assert not log.conflicting and not log.empty_first_field and not log.missing_notetype
    return len(log.new), len(log.updated), len(log.duplicate)


def test_importing_into_anki_again_makes_no_second_cards(tmp_path):
    library = pytest.importorskip("anki.collection", reason="anki is missing: pip install -e '.[test]'")
    collection = library.Collection(str(tmp_path / "collection.anki2"))
    cards = list(questions().values())
    assert imported(cards, collection, tmp_path) == (len(cards), 0, 0)
    assert imported(cards, collection, tmp_path) == (0, 0, len(cards))
    cards[0] = replace(cards[0], short="A better answer.")
    assert imported(cards, collection, tmp_path) == (0, 1, len(cards) - 1)
    assert collection.note_count() == collection.card_count() == len(cards)
    (found,) = collection.find_notes('"A better answer."')
    note = collection.get_note(found)
    assert note.guid == cards[0].id and set(note.tags) == {cards[0].topic, cards[0].level, cards[0].kind}
    assert unescape(note.fields[0]) == f"<p>{cards[0].question}</p>"
    collection.close()


def test_cards_in_the_notebook_have_every_question_and_repeat():
    pages = []
    InteractiveShell.instance()
    try:
        for _ in range(2):
            random.seed()
            with capture_output() as shown:
                flashcards("attention")
            pages.append("".join(output.data.get("text/html", output.data.get(SCRIPT)) for output in shown.outputs))
    finally:
        InteractiveShell.clear_instance()
    assert pages[0] == pages[1]
    assert json.dumps("divide the scores by √d")[1:-1] in pages[0] and "standard deviation" in pages[0]


def test_a_topic_that_is_not_there_is_told_in_words():
    with pytest.raises(UserError, match="there is no topic 'attentoin': do you mean attention"):
        flashcards("attentoin")
