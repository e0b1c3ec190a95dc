"""ModernBERT: BERT with what six years of work on Transformers found (Warner et al. 2024).

What changes against BERT, and in which file:

- `rope.py`: no position embeddings; queries and keys are rotated by an angle that grows with the position.
- `attention.py`: two layers of three attend only to the 128 tokens around each token; the third to the whole text.
- `feed_forward.py`: GeGLU, a feed-forward with a gate.
- `layer.py`: LayerNorm before attention and feed-forward instead of after them.
- `head.py`: the same head under every task, and no pooler.
- `unpadding.py`: a batch without its padding, as one long sequence.
- `model.py`: all of it together; no biases (but one for each word in the decoder), no segments, no next sentence.

Exact as in `transformers` (models/modernbert); where that and the paper differ, the docstrings say so.
"""
