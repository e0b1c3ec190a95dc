"""Chapter 19: rotary positions, windows and no padding."""
