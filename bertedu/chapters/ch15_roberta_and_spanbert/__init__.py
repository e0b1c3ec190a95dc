"""Chapter 15: the same model with better recipes."""
