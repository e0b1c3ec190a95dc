"""Every accepted answer of the proofs works in the whole, in place of its solution."""

import pytest
from support.proofs import PROOFS

from bertedu.course.keeping import Answer
from bertedu.course.parts import PARTS
from bertedu.course.sources import source_of
from bertedu.mine.solutions import solutions
from bertedu.mine.trying import working

ACCEPTED = [(part.number, answer) for part in PARTS for answer in PROOFS[part.number]["accepted"]]


@pytest.mark.slow(cases=8)
@pytest.mark.parametrize(("number", "answer"), ACCEPTED, ids=lambda one: getattr(one, "__name__", one))
def test_an_accepted_answer_works_in_the_whole(number, answer):
    source = source_of(number, answer)
    kept = Answer(source.name, list(source.imports), list(source.pieces), "today")
    program, broken = working(solutions() | {number: kept})
    assert not broken, broken[0]
    assert len(program.lit()) == len(PARTS)
