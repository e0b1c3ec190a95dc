"""Pictures and pages of what a model has learned, each with a text alternative."""

from typing import TYPE_CHECKING

from bertedu.lazy import names_on_demand

if TYPE_CHECKING:
    from bertedu.visualization.attention import attention_grid, attention_heatmap, attention_lines
    from bertedu.visualization.attention_html import attention_page
    from bertedu.visualization.calibration import reliability_diagram
    from bertedu.visualization.confusion import confusion_matrix, entity_confusion, label_outcomes
    from bertedu.visualization.curves import training_curves
    from bertedu.visualization.finetuning_report import write_finetuning_report
    from bertedu.visualization.picture import Picture
    from bertedu.visualization.predictions import prediction_bars
    from bertedu.visualization.report import write_report
    from bertedu.visualization.results import results_table
    from bertedu.visualization.scores import chosen_places, score_scatter
    from bertedu.visualization.thresholds import no_answer_curve
else:
    __getattr__, __dir__ = names_on_demand(__name__)

__all__ = [
    "Picture",
    "attention_grid",
    "attention_heatmap",
    "attention_lines",
    "attention_page",
    "chosen_places",
    "confusion_matrix",
    "entity_confusion",
    "label_outcomes",
    "no_answer_curve",
    "prediction_bars",
    "reliability_diagram",
    "results_table",
    "score_scatter",
    "training_curves",
    "write_finetuning_report",
    "write_report",
]
