"""Search as a product: find the passages that answer a question. Chapter 23.

Words in common (`bm25.py`), one vector for each text (`dense.py`, with the index in `index.py`), one vector for each
token (`late_interaction.py`), one weight for each word of the vocabulary (`sparse.py`; `levels.py` prepares a model for
it), and a cross-encoder that puts the best of any of them in a better order (`reranking.py`). The three encoders learn
from the same loss (`contrastive.py`), and `measures.py` says how good what they find is.
"""
