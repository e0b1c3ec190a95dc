"""Pictures with controls, for a notebook: each works from the keyboard and has a still form."""

from bertedu.visualization.widgets.filling import fill_mask_box
from bertedu.visualization.widgets.playground import masking_playground

__all__ = ["fill_mask_box", "masking_playground"]
