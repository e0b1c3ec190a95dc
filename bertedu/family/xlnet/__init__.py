"""XLNet: words are predicted in a random order, each from those that came before it in that order.

Yang et al. 2019, "XLNet: Generalized Autoregressive Pretraining for Language Understanding", sections 2.2 to 2.5; the
authors' code is zihangdai/xlnet. What changes against BERT:

- No position is added to the embeddings. Attention scores how far apart two tokens are, as in Transformer-XL (Dai et
  al. 2019, section 3.3), and whether they are in the same segment (`attention.py`).
- The order of prediction is a mask: perm_mask says which tokens a token may not see. A token that is to be predicted
  must know its position, but not its word, so there are two streams with the same weights: the content stream reads
  the words, and the query stream starts at one learned vector for all (`model.py`).
- <cls> stands at the end of a text, and there is no pooler: the vector of a text is made from that of its last token
  (`heads.py`).
- No bias in the projections of attention, dropout also inside the feed-forward, a tied decoder without a layer before
  it.

Left out: the memory of Transformer-XL (mems), which carries hidden states from one piece of a long text to the next.
Texts are read whole here, and without a memory the model computes the same, whatever mem_len says. The authors' GELU is
the tanh form; `transformers` computes the exact one for the published weights, and so do we.
"""

from bertedu.checkpoints.names import NameMap
from bertedu.family.xlnet.config import XLNetConfig
from bertedu.family.xlnet.heads import SequenceSummary, XLNetLMHeadModel, language_model_head
from bertedu.family.xlnet.model import XLNetModel, initialize
from bertedu.model.architecture import Architecture
from bertedu.tokenization.xlnet import XLNetTokenizer

__all__ = ["ARCHITECTURE", "XLNetConfig", "XLNetLMHeadModel", "XLNetModel"]

SUMMARY = (("transform.dense.", "sequence_summary.summary."), ("classifier.", "logits_proj."))
NAMES = NameMap(
    rows=(
        ("token_embeddings.", "word_embedding."),
        ("mask_embedding", "mask_emb"),
        ("layers.{n}.attention.content_bias", "layer.{n}.rel_attn.r_w_bias"),
        ("layers.{n}.attention.distance_bias", "layer.{n}.rel_attn.r_r_bias"),
        ("layers.{n}.attention.segment_bias", "layer.{n}.rel_attn.r_s_bias"),
        ("layers.{n}.attention.segments", "layer.{n}.rel_attn.seg_embed"),
        ("layers.{n}.attention.query", "layer.{n}.rel_attn.q"),
        ("layers.{n}.attention.key", "layer.{n}.rel_attn.k"),
        ("layers.{n}.attention.value", "layer.{n}.rel_attn.v"),
        ("layers.{n}.attention.output", "layer.{n}.rel_attn.o"),
        ("layers.{n}.attention.distance", "layer.{n}.rel_attn.r"),  # after r_w_bias and the others, which begin so, too
        ("layers.{n}.attention_norm.", "layer.{n}.rel_attn.layer_norm."),
        ("layers.{n}.feed_forward.expand.", "layer.{n}.ff.layer_1."),
        ("layers.{n}.feed_forward.shrink.", "layer.{n}.ff.layer_2."),
        ("layers.{n}.feed_forward_norm.", "layer.{n}.ff.layer_norm."),
        ("masked_lm.", "lm_loss."),
    ),
    prefix="transformer",
    tied=("masked_lm.weight",),
    heads={"ForSequenceClassification": SUMMARY, "ForMultipleChoice": SUMMARY},
)
ARCHITECTURE = Architecture(
    name="XLNet",
    config=XLNetConfig,
    encoder=XLNetModel,
    language_model_head=language_model_head,
    names=NAMES,
    tokenizer=XLNetTokenizer,
    class_names={"ForMaskedLM": "XLNetLMHeadModel", "ForQuestionAnswering": "XLNetForQuestionAnsweringSimple"},
    transforms={"ForSequenceClassification": SequenceSummary, "ForMultipleChoice": SequenceSummary},
    initialize=initialize,
    for_masked_lm=XLNetLMHeadModel,
)
