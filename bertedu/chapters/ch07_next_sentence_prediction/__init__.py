"""Chapter 07: pairs of sentences, and what BERT learns from them."""
