"""Chapter 09: what attention, gradients and vectors of a trained BERT show, and what they do not."""
