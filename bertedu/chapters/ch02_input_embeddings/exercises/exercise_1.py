"""Exercise 2.1: One row for each id."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


@exercise(
    "2.1",
    "One row for each id",
    difficulty=1,
    minutes=5,
    hints=(
        "An id is the index of a row. What does torch return for `table[3]`, and what for `table[a_tensor_of_ids]`?",
        "Indexing with a tensor of ids [B, T] keeps that shape and replaces each id by a row of D numbers. "
        "You can also make the ids one-hot with V columns and multiply by the table.",
    ),
)
def look_up(case: Case) -> None:
    """Each id is replaced by its row, and the gradient reaches the table."""
    case.randn(3)  # a table that the answer draws itself must have other numbers than this one
    table, ids = case.randn(7, 8), torch.tensor([[1, 6, 2], [0, 2, 2]])
    case.causes = {
        "cannot be multiplied": "If you use one_hot: it needs one column for each row of the table, "
        "`one_hot(ids, num_classes=len(table))`, even if the highest id does not occur.",
        "same dtype": "If you use one_hot: it returns integers. Convert them with `.float()` before you multiply.",
    }
    vectors = case.call(table, ids, tried="a table of 7 rows and 8 columns and 2 texts of 3 ids")
    case.is_a("the result", vectors, Tensor, "a tensor")
    case.expect(
        list(vectors.shape) != [6, 8],
        "But the result has the shape [6, 8]: the two texts were joined into one.",
        "Where does your code lose the shape [2, 3] of the ids?",
    )
    case.expect(
        list(vectors.shape) != [7, 2, 3],
        "But the result has the shape [7, 2, 3]: it holds columns of the table. An id is the index of a row.",
    )
    case.same_shape(
        "vectors", vectors, [2, 3, 8], "Each of the 2 × 3 ids should become one row of the table, 8 numbers."
    )
    again = case.protected(case.answer, table.clone(), ids.clone())
    case.expect(
        is_close(again, vectors),
        "But a second call with the same table gave other numbers. Do you create a new, random table in the "
        "function? The learned rows are in the table that is passed in.",
    )
    mistakes = {
        "Each row is the one before the row that was asked for. Ids count from 0, like all indices in Python.": table[
            ids - 1
        ],
        "Each row was multiplied by its id. An id selects a row and does nothing else.": table[ids] * ids[..., None],
        "Every text got rows 0, 1, 2, whatever its ids are.": table[:3].expand(2, 3, 8),
    }
    case.close(
        "vectors", vectors, table[ids], "The vector at [b, t] should be row ids[b, t] of the table.", mistakes=mistakes
    )
    one = torch.tensor([[3]])
    case.close("vectors", case.call(table, one, tried="a single id"), table[one])
    case.gradient_flows(table, names=("the table",), tried="2 texts of 3 ids", ids=ids)
