"""Bringing the logits of a masked-word head to one level, so that SPLADE can learn from it.

A softmax doesn't change if all logits of a token grow by the same number, so pre-training leaves each token's level to
chance. ReLU does see it: of a word whose logit is below 0 SPLADE learns nothing (`sparse.py`). In the course's own
checkpoint, in "Anna sold the lamb in Leeds.", "the" has a logit of 4 where it stands, and "lamb" one of -22, although
it is the likeliest word there. The remedy is the z-loss of PaLM (Chowdhery et al. 2022, section 5), the square of
log(sum of exp(logits)), here with ln V subtracted first. Shapes: N tokens, D hidden size, V vocabulary.
"""

import math
import random
from collections.abc import Sequence

import torch
from torch.nn.functional import cross_entropy
from tqdm.auto import tqdm

from bertedu.errors import UserError
from bertedu.model.evaluating import evaluating
from bertedu.model.heads import MaskedLM
from bertedu.tokenization import Tokenizer

TEXTS, RATE, Z_WEIGHT = 16, 2e-3, 0.01  # texts of a step, learning rate, weight of the z-loss


def level_logits(model: MaskedLM, tokenizer: Tokenizer, texts: Sequence[str], steps: int = 150, seed: int = 0) -> None:
    """Teach the head, from some of the texts at a time, that each token's own word is likely and its level is ln V.

    ln V is the level at which a word that is as likely as by guessing has a logit of 0. The encoder and the table of
    token embeddings stay as they are, and so does the model's mode. Raises UserError where there is no text.
    """
    if not texts:
        raise UserError("there is no text to level the logits by: give some of the passages.")
    table = model.encoder.token_embeddings.weight
    learned = [parameter for parameter in model.masked_lm.parameters() if parameter is not table]
    optimizer, draw = torch.optim.AdamW(learned, lr=RATE), random.Random(f"levels {seed}")
    with evaluating(model) as device:
        for step in tqdm(range(steps), desc="levels of the logits"):
            drawn = draw.sample(list(texts), min(TEXTS, len(texts)))
            encoding = tokenizer(drawn, max_length=model.config.max_tokens)
            names = ("input_ids", "attention_mask", "token_type_ids")
            input_ids, attention_mask, token_type_ids = (encoding[name].to(device) for name in names)
            real = attention_mask.bool()
            with torch.no_grad():
                vectors = model.encoder(input_ids, attention_mask, token_type_ids).last_hidden_state[real]  # [N, D]
            logits = model.masked_lm(vectors).float()  # [N, V]
            off = logits.logsumexp(dim=-1) - math.log(logits.size(-1))  # [N]
            loss = cross_entropy(logits, input_ids[real]) + Z_WEIGHT * off.square().mean()
            optimizer.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / 5, 1.2 * (steps - step) / steps)
            optimizer.zero_grad()
            loss.backward(inputs=learned)
            optimizer.step()
