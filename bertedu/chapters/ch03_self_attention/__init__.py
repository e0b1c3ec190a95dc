"""Chapter 03: the one part of BERT in which a token learns from other tokens."""
