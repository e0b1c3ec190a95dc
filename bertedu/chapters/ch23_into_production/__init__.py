"""Chapter 23: a fine-tuned model exported, made smaller, served and searched with."""
