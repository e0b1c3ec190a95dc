"""Chapter 13: two texts at once, sentence vectors, and summaries."""
