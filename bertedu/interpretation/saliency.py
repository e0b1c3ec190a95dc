"""Which input tokens an answer at a masked position depends on, told by gradients.

The answer's score is its log-probability, in nats, not its logit: a logit that rises with all the others changes
nothing. The inputs are the token embeddings, before position and segment are added. Simonyan et al. 2014 (section
3, gradient), Li et al. 2016 (section 5, in language), Sundararajan et al. 2017 (integrated gradients).
Shapes: T tokens, D hidden size, S variants of one input.
"""

import torch
from torch import Tensor, nn

from bertedu.errors import UserError
from bertedu.inference import LanguageModel
from bertedu.model.evaluating import evaluating
from bertedu.tokenization import Encoding


def input_saliency(model: LanguageModel, encoding: Encoding, position: int, token_id: int) -> dict[str, Tensor]:
    """How the log-probability of `token_id` at `position` depends on each input embedding: two numbers a token, [T].

    "gradient": the length of the gradient, how strongly a small change there would be felt. "gradient x input":
    its dot product with the embedding itself, signed: above 0 the token speaks for the answer, below 0 against.
    Raises UserError for a batch of several texts, and a position or id that is not there.
    """
    check_question(model, encoding, position, token_id)
    vectors = token_vectors(model, encoding.input_ids)  # [1, T, D]
    gradient = input_gradient(model, encoding, vectors, position, token_id)
    return {
        "gradient": gradient.norm(dim=-1)[0].cpu(),
        "gradient x input": (gradient * vectors).sum(dim=-1)[0].cpu(),
    }


def integrated_gradients(
    model: LanguageModel,
    encoding: Encoding,
    position: int,
    token_id: int,
    baseline_ids: Tensor | None = None,
    steps: int = 64,
) -> Tensor:
    """What each token adds, [T], on the straight way from an input that says nothing to this one, in nats.

    The gradients at the middles of `steps` equal pieces of the way are averaged and multiplied with the whole way
    (section 5, equation 3). Completeness: the sum is log p(answer) at the input minus log p(answer) at the
    baseline, up to what the steps leave; more steps, less left. The baseline is zeros instead of token embeddings
    (section 5), or those of baseline_ids [1, T], such as the same text with every word masked.
    Raises UserError as `input_saliency`, and for baseline_ids of another length and no steps.
    """
    check_question(model, encoding, position, token_id)
    if steps < 1:
        raise UserError(f"steps is {steps}: the way has at least 1 step, and 64 are a good number.")
    vectors = token_vectors(model, encoding.input_ids)
    start = torch.zeros_like(vectors)
    if baseline_ids is not None:
        if baseline_ids.shape != encoding.input_ids.shape:
            raise UserError(
                f"baseline_ids have the shape {list(baseline_ids.shape)} and the text has "
                f"{list(encoding.input_ids.shape)}: give one id for each token."
            )
        start = token_vectors(model, baseline_ids)
    total = torch.zeros_like(vectors)
    for part in torch.arange(steps, device=vectors.device).split(16):  # at most 16 variants at once
        share = ((part + 0.5) / steps)[:, None, None]  # [S, 1, 1]
        gradient = input_gradient(model, encoding, start + share * (vectors - start), position, token_id)
        total += gradient.sum(dim=0, keepdim=True)
    return (total / steps * (vectors - start)).sum(dim=-1)[0].cpu()


def token_vectors(model: LanguageModel, input_ids: Tensor) -> Tensor:
    """The token embeddings of ids, [1, T, D], cut off from the model's gradients."""
    table = model.bert.token_embeddings.weight.detach()
    return table[input_ids.to(table.device)]


def input_gradient(model: LanguageModel, encoding: Encoding, vectors: Tensor, position: int, token_id: int) -> Tensor:
    """The gradient of the log-probability by the token embeddings, [S, T, D]; the weights collect none."""
    vectors = vectors.detach().requires_grad_()
    with torch.enable_grad():
        scores = log_probabilities(model, encoding, vectors, position, token_id)
        return torch.autograd.grad(scores.sum(), vectors)[0]


def log_probabilities(
    model: LanguageModel, encoding: Encoding, vectors: Tensor, position: int, token_id: int
) -> Tensor:
    """log p(token_id) at a position when `vectors` [S, T, D] replace the token embeddings: [S], in nats.

    Everything else, the positions, segments and mask, is the encoding's; dropout is off.
    """

    def exchanged(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        return vectors

    inputs = {name: encoding[name].to(vectors.device).expand(vectors.size(0), -1) for name in encoding}
    asked = torch.zeros_like(inputs["input_ids"], dtype=torch.bool)
    asked[:, position] = True
    hook = model.bert.token_embeddings.register_forward_hook(exchanged)
    try:
        with evaluating(model):
            logits = model(**inputs, masked_positions=asked).prediction_logits  # [S, V]
    finally:
        hook.remove()
    return logits.float().log_softmax(dim=-1)[:, token_id]


def check_question(model: LanguageModel, encoding: Encoding, position: int, token_id: int) -> None:
    """Raise UserError where there is no such position or token, or more than one text."""
    texts, length = encoding.input_ids.shape
    if texts != 1:
        raise UserError(f"there are {texts} texts: ask about one at a time.")
    if not 0 <= position < length:
        raise UserError(f"there is no position {position}: the text has the positions 0 to {length - 1}.")
    if not 0 <= token_id < model.config.vocab_size:
        raise UserError(f"there is no token {token_id}: this model knows the ids 0 to {model.config.vocab_size - 1}.")
