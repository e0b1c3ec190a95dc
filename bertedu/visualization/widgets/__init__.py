"""Pictures with controls, for a notebook: each works from the keyboard and has a still form."""

from bertedu.visualization.widgets.context import word_in_context
from bertedu.visualization.widgets.explorer import attention_explorer
from bertedu.visualization.widgets.filling import fill_mask_box
from bertedu.visualization.widgets.playground import masking_playground

__all__ = ["attention_explorer", "fill_mask_box", "masking_playground", "word_in_context"]
