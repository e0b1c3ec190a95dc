"""Pictures with controls, for a notebook: each works from the keyboard and has a still form."""

from typing import TYPE_CHECKING

from bertedu.lazy import names_on_demand

if TYPE_CHECKING:
    from bertedu.visualization.widgets.context import word_in_context
    from bertedu.visualization.widgets.explorer import attention_explorer
    from bertedu.visualization.widgets.filling import fill_mask_box
    from bertedu.visualization.widgets.playground import masking_playground
else:
    __getattr__, __dir__ = names_on_demand(__name__)

__all__ = ["attention_explorer", "fill_mask_box", "masking_playground", "word_in_context"]
