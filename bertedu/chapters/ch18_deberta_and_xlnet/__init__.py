"""Chapter 18: relative positions, and any order of prediction."""
