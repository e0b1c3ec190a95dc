"""DeBERTa: attention reads what a token says and how far away it stands from two vectors, not from their sum.

He, Liu, Gao & Chen 2021, section 3.1; code: microsoft/DeBERTa. What changes against BERT: no positions are added to the
embeddings. Instead each layer compares query i and key j three times, and adds up:

    content to content    q_i · k_j                       as in BERT
    content to position   q_i · k'_δ    ("c2p")           what does this word expect at that distance?
    position to content   k_j · q'_δ    ("p2c")           which words matter at that distance?

k' and q' are projections of a table with one vector for each distance δ = i - j, which all layers share. The sum has
three terms instead of one and is divided by √(3d).

`config.py`, `attention.py` and `model.py` hold what all versions share, `v1.py` and `v2.py` what is a version's own,
`pretraining.py` the enhanced mask decoder and the head of version 3 that finds replaced tokens.
"""
