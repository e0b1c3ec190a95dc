"""What answers to several exercises of chapter 08 share."""


# 8.4 -------------------------------------------------------------------------------------------------------------


def count(config, length, masked=0.15, heads=1, everywhere=False, attention=2, two=2, three=3):
    D, L, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    layer = 4 * D * D + 2 * D * inner + heads * attention * length * D
    head = (1.0 if everywhere else masked) * (D * D + D * config.vocab_size)
    return two * three * (L * layer + head)
