"""The answers in the solved notebooks are run and say what is stored; all else in them is compared in the learner's."""

import nbformat
import pytest
from support.notebook_rules import plain

from bertedu.course.building.answers import differs, run_answers
from bertedu.course.building.executing import scrub
from bertedu.course.building.places import Places

PLACES = Places()


@pytest.mark.parametrize("source", PLACES.all_sources(), ids=lambda source: source.stem)
def test_each_answer_of_a_solution_says_what_is_stored(source):
    path = PLACES.pair(source)[1]
    stored, again = (nbformat.read(str(path), as_version=4) for _ in range(2))
    run_answers(again, path.parent, path.name)
    scrub(again)
    pairs = zip(again.cells, stored.cells, strict=True)
    answers = [pair for pair in pairs if differs(pair[1]) and "check(" in pair[1].source]
    assert answers
    for now, before in answers:
        assert [plain(output) for output in now.outputs] == [plain(output) for output in before.outputs], before.source
