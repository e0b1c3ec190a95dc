"""Chapter 06: masking, the head that fills masks, and its loss."""
