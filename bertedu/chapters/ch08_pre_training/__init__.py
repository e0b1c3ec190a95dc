"""Chapter 08: text, masks, pairs, losses and optimizer together train a BERT."""
