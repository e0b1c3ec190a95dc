"""Chapter 05: all parts in one model, which opens published checkpoints."""
