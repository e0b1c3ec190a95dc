"""Labelled data for every task of fine-tuning, made from templates and lists of words written for this course.

No template and no entity of the validation or test rows stands in the training rows. `python -m bertedu.corpora.tasks
FOLDER` writes all files; the same seed gives the same bytes.
"""

from typing import TYPE_CHECKING

from bertedu.lazy import names_on_demand

if TYPE_CHECKING:
    from bertedu.corpora.tasks.files import make_files, write_tasks
else:
    __getattr__, __dir__ = names_on_demand(__name__)

__all__ = ["make_files", "write_tasks"]
