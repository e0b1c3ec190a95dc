"""What is said where an extra is not installed."""

import pytest

from bertedu.errors import UserError
from bertedu.extras import needs_extra


def test_a_missing_package_of_an_extra_ends_without_a_remedy():
    said = r"^nbgrader is not installed: python -m pip install 'bertedu\[course,authors\]'.* -e '\.\[course,authors\]'"
    with pytest.raises(UserError, match=said), needs_extra("course,authors"):
        raise ModuleNotFoundError(name="nbgrader.api")


@pytest.mark.parametrize("module", ["bertedu.nowhere", "bertedu"])
def test_a_missing_module_of_ours_is_blamed_on_an_extra(module):
    with pytest.raises(ModuleNotFoundError), needs_extra("production"):
        raise ModuleNotFoundError(name=module)
