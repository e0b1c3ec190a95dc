"""Chapter 24: the same BERT in JAX."""
