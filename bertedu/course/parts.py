"""The exercises whose answers together are a BERT, in the order of the data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """An exercise that is a part of the reader's own BERT: its number, what it is called there and in a picture, and
    the step that it belongs to."""

    number: str
    name: str
    title: str
    step: str


PARTS = (
    Part("1.2", "split_word", "longest match", "text to ids"),
    Part("1.4", "encode_pair", "the pair", "text to ids"),
    Part("2.4", "position_ids", "positions", "embeddings"),
    Part("2.3", "layer_norm", "LayerNorm", "embeddings"),
    Part("3.4", "masked_softmax", "softmax with a mask", "encoder"),
    Part("3.2", "attention", "attention", "encoder"),
    Part("3.3", "merge_heads", "heads", "encoder"),
    Part("4.2", "gelu", "GELU", "encoder"),
    Part("4.3", "encoder_layer", "the layer", "encoder"),
    Part("4.4", "Stack", "the stack", "encoder"),
    Part("5.3", "our_name", "names of weights", "reading a file"),
    Part("7.2", "cut", "truncation", "learning"),
    Part("6.2", "corrupt", "80, 10, 10", "learning"),
    Part("6.3", "mlm_loss", "the loss", "learning"),
    Part("8.5", "accumulate", "accumulation", "learning"),
    Part("8.2", "adamw_step", "AdamW", "learning"),
)
BY_NUMBER = {part.number: part for part in PARTS}
