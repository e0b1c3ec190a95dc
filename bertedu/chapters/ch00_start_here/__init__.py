"""Chapter 00: what a trained BERT can do, what the course builds, and how its notebooks work."""
