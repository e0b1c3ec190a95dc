"""Chapter 21: eleven members of the family compared, and how to choose."""
