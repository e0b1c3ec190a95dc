"""Exercise 8.4: The price of a token."""

from torch import Tensor

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.training.costs import training_flops


def miscounts(config: BertConfig, length: int) -> dict[str, float]:
    """What known mistakes count, by the sentence that explains each."""
    D, L, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    right, head = training_flops(config, length), 6 * 0.15 * (D * D + D * config.vocab_size)
    product = 6 * L * length * D  # one of attention's two
    return {
        "That is the forward pass only. The backward pass costs twice as much again.": right / 3,
        "The backward pass has two products for each one of the forward pass: for inputs and for weights.": right
        * 2
        / 3,
        "A multiplication and an addition are two operations.": right / 2,
        "Those are the multiplications of the forward pass. Each comes with an addition, and the backward pass costs "
        "twice as much again.": right / 6,
        "You left out the two products of attention, which grow with T.": right - 2 * product,
        "Attention has two products of T · D for each token: the scores, and mixing the values.": right - product,
        "You counted T² · D for attention. That is for all T tokens; one token has one query.": right
        + 2 * product * (length - 1),
        "You multiplied attention's products by H. All heads together are D wide.": right
        + 2 * product * (config.num_attention_heads - 1),
        "You counted attention's products once. Every layer has them.": right - 2 * product * (L - 1) / L,
        "You multiplied the masked-word head by the number of layers. There is one head.": right + head * (L - 1),
        "You counted the embeddings. Looking up a row multiplies nothing.": right + 6 * D * config.vocab_size,
        "You counted attention's products for one head. All heads together are D wide, so each product is T · D.": right
        - 2 * product * (1 - 1 / config.num_attention_heads),
        "You counted 3 · D² for attention. There are four matrices: query, key, value and output.": right
        - 6 * L * D * D,
        "The feed-forward network has two matrices: D to inner size, and back.": right - 6 * L * D * inner,
        "You took 4 · D as the inner size. Read it from the config: `config.intermediate_size`.": right
        + 12 * L * D * (4 * D - inner),
        "That is one layer. Multiply its weights and its attention by the number of layers.": (right - head) / L + head,
        "The head scored every token. It is needed for the masked 15 % only.": right + head * 0.85 / 0.15,
        "Both matrices of the head work for 15 % of the tokens only, the second one (D to V) too.": right
        + 6 * 0.85 * D * config.vocab_size,
        "Both matrices of the head work for 15 % of the tokens only, the first one (D to D) too.": right
        + 6 * 0.85 * D * D,
        "You left out the masked-word head: D² + D · V for each masked token.": right - head,
        "The head has two matrices: D to D, then D to V. You left out the first one.": right - 6 * 0.15 * D * D,
        "That is for all tokens of the sequence. One token was asked for.": right * length,
    }


@exercise(
    "8.4",
    "The price of a token",
    difficulty=3,
    minutes=12,
    runs="with package",
    hints=(
        "Count the multiplications of the forward pass for one token. A layer has 4 · D² + 2 · D · inner for the "
        "weights and 2 · T · D for attention. The head has 0.15 · (D² + D · V).",
        "Times 2, because each multiplication comes with an addition. Times 3, for the forward and the backward pass.",
    ),
)
def flops_per_token(case: Case) -> None:
    """The formula on odd sizes; then Base."""
    sizes = {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 70, "vocab_size": 500}
    odd = BertConfig.preset("tiny", num_hidden_layers=5, **sizes)
    for config, length, tried in (
        (odd, 50, "5 layers, D = 24, inner size 70, V = 500, sequences of 50 tokens"),
        (BertConfig(), 128, "BERT-Base, sequences of 128 tokens"),
        (BertConfig(), 512, "BERT-Base, sequences of 512 tokens"),
    ):
        got = case.call(config, length, tried=tried)
        case.is_a("the count", got, int | float | Tensor, "a number")
        right = training_flops(config, length)
        if abs(float(got) / right - 1) < 0.002:
            continue
        for words, wrong in miscounts(config, length).items():
            if abs(float(got) / wrong - 1) < 1e-4:
                case.fail(f"But it is {float(got):,.0f}, and should be {right:,.0f}.", words)
        more = f"{float(got) / right:.2f} times the right number"
        case.fail(f"But it is {float(got):,.0f}, {more}.", "Count one layer first: its weights, then attention.")
    case.close_with(
        "The share of attention grows with the length. For short sequences 6 operations for each weight is close."
    )
