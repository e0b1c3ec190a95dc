"""Chapter 12: an answer as a span of a text, or no answer at all."""
