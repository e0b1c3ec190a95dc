"""How sure a model is, against how often it is right: a reliability diagram (Guo et al. 2017, figure 1)."""

from collections.abc import Sequence
from math import ceil

from bertedu.finetuning.calibration import BINS, calibration_bins, expected_calibration_error
from bertedu.visualization.picture import BLUE, GREY, INK, Picture, new_figure, quiet


def reliability_diagram(confidences: Sequence[float], correct: Sequence[bool], bins: int = BINS) -> Picture:
    """The accuracy in each bin of confidence, pale: its distance from the diagonal, on which a model is calibrated.

    Below: how many predictions are in each bin. Raises UserError as `calibration_bins` does.
    """
    found = calibration_bins(confidences, correct, bins)
    error = expected_calibration_error(confidences, correct, bins)
    figure = new_figure(4.6, 4.8)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    for axes in (above, below):
        quiet(axes)
    sure, right = [one.confidence for one in found], [one.accuracy for one in found]
    above.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.4)
    above.vlines(sure, sure, right, color=BLUE, alpha=0.35, linewidth=5)
    above.plot(sure, right, color=BLUE, marker="o", markersize=5, linewidth=1.4)
    above.set_ylim(-0.02, 1.02)
    above.set_ylabel("accuracy", fontsize=9)
    above.set_title(f"expected calibration error {error:.3f}", fontsize=10, loc="left", color=INK)
    middles = [(ceil(confidence * bins) - 0.5) / bins for confidence in sure]
    below.bar(middles, [one.count for one in found], width=0.8 / bins, color=BLUE)
    below.set_ylabel("predictions", fontsize=9)
    below.set_xlim(-0.02, 1.02)
    below.set_xlabel("confidence", fontsize=9)
    above.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    below.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    told = "; ".join(f"{one.confidence:.0%} sure: {one.accuracy:.0%} right of {one.count:,}" for one in found)
    return Picture(
        figure,
        f"Reliability diagram of {len(confidences):,} predictions, expected calibration error {error:.3f}. {told}.",
    )
