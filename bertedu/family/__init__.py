"""BERT's successors: one small file each, which says what the member changes and reuses the rest of BERT."""
