"""Chapter 22: from two cores to many GPUs, counted before it is bought."""
