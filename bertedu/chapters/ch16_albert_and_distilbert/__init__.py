"""Chapter 16: two ways to a smaller BERT."""
