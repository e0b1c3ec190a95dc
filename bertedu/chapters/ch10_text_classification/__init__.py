"""Chapter 10: fine-tuning to judge whole texts, and how far to trust the result."""
