"""Another vocabulary for a model that is pre-trained already: for texts of another kind, or for capitals.

A vocabulary of old novels cuts "software" into pieces. A new one, learned from the new text, has it whole, but its row
in the table of embeddings would have to be learned from nothing. So each new token begins as the mean of the vectors of
the pieces that the old vocabulary cuts it into; what is in both keeps its vector (Gee et al. 2022, "Fast Vocabulary
Transfer for Language Model Compression", section 3). All other weights stay, and the training that follows fits the
two together.
"""

from collections.abc import Container
from dataclasses import replace

import torch
from torch import Tensor

from bertedu.inference import LanguageModel
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.fast import traced_words
from bertedu.tokenization.wordpiece import CONTINUATION, split_word

BEGIN = "\n"  # stands in no word


@torch.no_grad()
def with_vocabulary(
    model: LanguageModel, old: BertTokenizer, new: BertTokenizer, token_counts: Tensor
) -> LanguageModel:
    """The model with a row for each token of `new`. token_counts [V]: how often each id stands in the training text.

    The decoder's bias begins as the logarithm of how frequent each token is, as in a new model.
    """
    config = replace(model.config, vocab_size=len(new), pad_token_id=new.pad_token_id)
    changed = type(model).from_config(config)
    shapes = {name: weight.shape for name, weight in changed.state_dict().items()}
    kept = {name: weight for name, weight in model.state_dict().items() if weight.shape == shapes[name]}
    changed.load_state_dict(kept, strict=False)
    table = next(name for name, _ in model.named_parameters() if name.endswith("embeddings.token.weight"))
    rows, known = model.get_parameter(table), {BEGIN, *old.vocab}
    means = [rows[pieces_of(token, old, known)].mean(dim=0) for token in new.tokens]
    changed.get_parameter(table).copy_(torch.stack(means))
    frequency = (token_counts.float() + 1) / (token_counts.sum() + len(token_counts))
    for name, weight in changed.named_parameters():
        if name.endswith("decoder.bias"):  # SpanBERT has two
            weight.copy_(frequency.log())
    return changed


def pieces_of(token: str, tokenizer: BertTokenizer, known: Container[str]) -> list[int]:
    """The ids of a token of another vocabulary: its own, or those of its pieces; [UNK]'s where there are none.

    known: the tokenizer's vocabulary, and BEGIN.
    """
    if token in tokenizer.vocab:
        return [tokenizer.vocab[token]]
    text = token.removeprefix(CONTINUATION)
    word = "".join(word for word, _ in traced_words(text, tokenizer.normalization))
    pieces = split_word(word, tokenizer.vocab)
    if token != text:  # with a first piece that is taken away again, the others continue a word
        inside = split_word(BEGIN + word, known)[1:]
        pieces = inside or pieces
    return [tokenizer.vocab[piece] for piece in pieces] or [tokenizer.unk_token_id]
