"""Chapter 01b: what a reader needs of PyTorch, from a tensor to a trained network."""
