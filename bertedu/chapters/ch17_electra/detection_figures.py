"""What a generator and a discriminator got right in one batch, as notebook 17 follows it through a run of ELECTRA.

A run of the package counts the same over its whole validation text: `objectives/replaced_tokens.py`.
"""

from bertedu.family.electra_pair import DETECTION_WEIGHT, PairOutput
from bertedu.model.heads import mean_cross_entropy


def detection_figures(output: PairOutput) -> dict[str, float]:
    """How good both are in a batch; tokens are real ones, a token is marked where its logit is above 0.

    generator right: share of the chosen tokens at which the most probable word is right; replaced: share of the tokens
    that were replaced; precision: share of the marked tokens that were replaced, 0 where none is marked; recall: share
    of the replaced tokens that are marked; MLM loss and detection loss: the two parts of the joint loss, unweighted.
    """
    marked, replaced = (output.detector_logits > 0)[output.real], output.replaced[output.real]
    found = (marked & replaced).sum()
    mlm_loss = mean_cross_entropy(output.prediction_logits, output.labels)
    figures = {
        "generator right": (output.prediction_logits.argmax(dim=-1) == output.labels).double().mean(),
        "replaced": replaced.double().mean(),
        "precision": found / marked.sum().clamp_min(1),
        "recall": found / replaced.sum().clamp_min(1),
        "MLM loss": mlm_loss,
        "detection loss": (output.loss - mlm_loss) / DETECTION_WEIGHT,
    }
    return {name: figure.item() for name, figure in figures.items()}
