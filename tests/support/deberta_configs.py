"""Small configs of both versions of DeBERTa that differ in every size."""

from bertedu.family.deberta.v1 import DebertaConfig
from bertedu.family.deberta.v2 import DebertaV2Config


def version_1(
    vocab_size, hidden_size, layers, heads, intermediate_size, positions, farthest, **others
) -> DebertaConfig:
    return DebertaConfig(
        vocab_size,
        hidden_size,
        layers,
        heads,
        intermediate_size,
        max_position_embeddings=positions,
        max_relative_positions=farthest,
        **others,
    )


# The batch has 12 tokens: four of these tell fewer distances apart, one has fewer positions than tokens.
VERSION_1 = (
    version_1(60, 16, 2, 4, 24, 14, -1),
    version_1(70, 24, 1, 3, 40, 32, 5, hidden_act="gelu_new"),
    version_1(50, 8, 4, 1, 12, 12, 11, pad_token_id=3),
    version_1(90, 20, 3, 5, 16, 9, -1, layer_norm_eps=1e-3),
    version_1(64, 12, 2, 2, 48, 16, 1, position_biased_input=True, pad_token_id=7),
    version_1(40, 32, 2, 8, 8, 20, 7, position_biased_input=True),
)


def version_2(
    vocab_size, hidden_size, layers, heads, intermediate_size, positions, buckets, **others
) -> DebertaV2Config:
    return DebertaV2Config(
        vocab_size,
        hidden_size,
        layers,
        heads,
        intermediate_size,
        max_position_embeddings=positions,
        position_buckets=buckets,
        **others,
    )


# The batch has 12 tokens. In the first four configurations some of their distances share a bucket, in the third and the
# fourth some are beyond the last one; in the fifth all are near; the last two have a convolution.
VERSION_2 = (
    version_2(60, 16, 2, 4, 24, 14, 4),
    version_2(70, 24, 1, 3, 40, 32, 8, hidden_act="gelu_new"),
    version_2(50, 8, 4, 1, 12, 12, 6, max_relative_positions=7, pad_token_id=3),
    version_2(90, 20, 3, 5, 16, 9, 2, layer_norm_eps=1e-3),
    version_2(64, 12, 2, 2, 48, 16, 256, position_biased_input=True, pad_token_id=7),
    version_2(40, 32, 2, 8, 8, 20, 6, conv_kernel_size=3, conv_act="gelu"),
    version_2(45, 18, 1, 2, 20, 30, 10, conv_kernel_size=5, position_biased_input=True),
)
