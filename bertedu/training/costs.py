"""What training a BERT costs: operations, hours and bytes, counted from its sizes. Counted by hand in notebook 08.

The chapters, the question bank and the cheat sheet take these figures from here. What is counted:

- Operations: a multiplication and its addition are two. The six matrices of each layer, the two products of attention,
  and the masked-word head, which works for the masked 15 % of the tokens only. The backward pass does twice as many as
  the forward pass. Not counted: look-ups of embeddings, biases, LayerNorm, softmax, GELU, the pooler, the next-sentence
  head and the optimizer (together less than 1 % in BERT-Base). Nothing is computed again: with activation
  checkpointing the forward pass of the layers runs twice, 4/3 of the layers' operations.
- The recipe: a million steps of 256 full sequences, 90 % of the steps with 128 tokens and the rest with 512 (Devlin et
  al. 2019, appendix A.2).
- Hours: at 40 % of the peak that the maker gives for dense 16-bit products. That is an assumption: a third to a half is
  usual in a well-fed training run.
- Bytes: what the forward pass of the layers keeps for the backward pass, with dropout whose mask takes one byte
  (Korthikanti et al. 2022, arXiv 2205.05198, section 4.1).
"""

from bertedu.config import BertConfig, EncoderConfig

BASE = BertConfig.preset("base")

BATCH = 256
STEPS_OF_LENGTH = {128: 900_000, 512: 100_000}  # tokens of a sequence: steps
TOKENS = sum(steps * BATCH * length for length, steps in STEPS_OF_LENGTH.items())

SHARE_OF_PEAK = 0.4
PEAKS = {"A100": 312e12, "H100": 989e12}  # operations a second, dense products in bf16: NVIDIA's data sheets (SXM)


def forward_flops(config: EncoderConfig, length: int, masked: float = 0.0) -> float:
    """Operations of the forward pass for each token of a sequence, with the masked-word head for a share of them."""
    D, inner = config.hidden_size, config.intermediate_size
    layer = 4 * D * D + 2 * D * inner + 2 * length * D  # multiplications
    head = masked * (D * D + D * config.vocab_size)
    return 2 * (config.num_hidden_layers * layer + head)


def training_flops(config: EncoderConfig, length: int, masked: float = 0.15) -> float:
    """Operations of forward and backward pass for each token of a sequence."""
    return 3 * forward_flops(config, length, masked)


def pretraining_flops(config: EncoderConfig = BASE) -> float:
    """Operations of the published pre-training."""
    return sum(steps * BATCH * length * training_flops(config, length) for length, steps in STEPS_OF_LENGTH.items())


def layer_weights_flops(config: EncoderConfig = BASE) -> float:
    """The part of `pretraining_flops` that a pencil counts: six for each weight of the layers and token."""
    return TOKENS * training_flops(config, length=0, masked=0.0)


def hours(flops: float, chip: str = "H100", share: float = SHARE_OF_PEAK) -> float:
    """How long one chip computes."""
    return flops / (share * PEAKS[chip]) / 3600


def attention_bytes(config: EncoderConfig, batch: int, length: int, size: int = 2) -> int:
    """What attention without a fused kernel keeps for each pair of tokens: weights, dropout's mask, dropped weights.

    `size` is the bytes of a number: 2 in 16 bits, 4 in float32.
    """
    pairs = config.num_hidden_layers * config.num_attention_heads * batch * length**2
    return pairs * (2 * size + 1)


def activation_bytes(config: EncoderConfig, batch: int, length: int, size: int = 2) -> int:
    """What the layers keep for each token beside that: 16 vectors of the hidden size and the masks of two dropouts."""
    vectors = config.num_hidden_layers * config.hidden_size * batch * length
    return vectors * (16 * size + 2)


def table() -> str:
    """All figures that the course states, for BERT-Base and BERT-Large."""
    sizes = [BASE, BertConfig.preset("large")]
    work = [pretraining_flops(config) for config in sizes]
    rows: list[tuple[str, list[str]]] = [
        ("tokens of the published recipe", [f"{TOKENS / 1e9:.0f} billion"] * 2),
        *(
            (f"a token in training, T = {T}", [f"{training_flops(config, T) / 1e6:,.0f} MFLOP" for config in sizes])
            for T in STEPS_OF_LENGTH
        ),
        ("a token, mean of the recipe", [f"{flops / TOKENS / 1e6:,.0f} MFLOP" for flops in work]),
        ("published pre-training", [f"{flops / 1e18:.0f} EFLOP" for flops in work]),
        ("of it the layers' weights", [f"{layer_weights_flops(config) / 1e18:.0f} EFLOP" for config in sizes]),
        *(
            (f"on one {chip} at {SHARE_OF_PEAK:.0%} of its peak", [f"{hours(flops, chip):.0f} hours" for flops in work])
            for chip in PEAKS
        ),
        *(
            (f"{what}, B = 32, T = 512, {name}", [f"{count(config, 32, 512, size) / 1e9:.1f} GB" for config in sizes])
            for what, count in (("attention kept", attention_bytes), ("other activations", activation_bytes))
            for name, size in (("16 bits", 2), ("float32", 4))
        ),
    ]
    lines = [("", ["Base", "Large"]), *rows]
    return "\n".join(f"{name:48}{base:>12}{large:>13}" for name, (base, large) in lines)
