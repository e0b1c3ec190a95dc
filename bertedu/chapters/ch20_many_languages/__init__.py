"""Chapter 20: one model for many languages, and what crosses between them."""
