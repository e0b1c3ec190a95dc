"""What is measured about a service, on paper: each figure against the sum that a pencil gives."""

import pytest

from bertedu.errors import UserError
from bertedu.production.measuring import in_batches, padding_share, waiting_times


def test_padding_is_counted_against_the_longest_of_its_own_batch():
    assert padding_share([["a" * 5, "a" * 6, "a" * 30, "a" * 31]]) == pytest.approx(1 - 72 / 124)
    assert padding_share([["a" * 5, "a" * 6], ["a" * 30, "a" * 31]]) == pytest.approx(2 / 74)


def test_the_last_batch_is_kept():
    assert in_batches([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]


@pytest.mark.parametrize("per_second", [50, 90])
def test_a_wait_is_never_below_zero_and_leaves_out_the_own_service(per_second):
    rho = per_second / 100
    waits = waiting_times(per_second, 0.01)
    assert waits.min() == 0
    assert waits.mean() == pytest.approx(0.01 * rho / (1 - rho), rel=0.05)
    assert (waits == 0).mean() == pytest.approx(1 - rho, abs=0.01)  # so often the server is free


def test_an_overloaded_server_has_no_mean_wait():
    with pytest.raises(UserError, match="without end"):
        waiting_times(100, 0.01)
