"""Chapter 02: from ids to vectors: words, positions and segments, and LayerNorm."""
