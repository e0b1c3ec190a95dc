"""Chapter 17: learning from every token, by finding the replaced ones."""
