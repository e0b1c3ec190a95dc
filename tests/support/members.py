"""The sizes with which a small model of each member of the family can be made."""

LAYERS = 3
# Where the sizes of all others do not fit: RoBERTa counts positions from pad_token_id + 1; ModernBERT's [PAD] has an
# id beyond a small vocabulary, and its window is to be shorter than the texts; in ALBERT each layer shall have weights
# of its own here, which is what the test of depth expects.
SIZES = {
    "roberta": {"max_position_embeddings": 12},
    "xlm-roberta": {"max_position_embeddings": 12},
    "modernbert": {"pad_token_id": 0, "local_attention": 4},
    "albert": {"embedding_size": 6, "num_hidden_groups": LAYERS},
}
