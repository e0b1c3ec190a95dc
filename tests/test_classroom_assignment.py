"""Assignments: what learners get, what nbgrader is told, what grading reads."""

import pytest

from bertedu.classroom.assignment_choices import read_points
from bertedu.errors import UserError


@pytest.mark.parametrize(
    "typed", ["3.2", "3.2=", "=4", "3.2=four", "3.2=0", "3.2=-1", "3.2=nan", "3.2=1e9", "4.1=2", ""]
)
def test_points_that_are_none_are_taken(typed):
    with pytest.raises(UserError, match="--points"):
        read_points([typed], ["3.1", "3.2"])
