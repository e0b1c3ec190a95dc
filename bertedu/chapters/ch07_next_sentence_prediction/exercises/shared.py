"""What several exercises of chapter 07 share."""

NOT_A_NUMBER = "rng makes random numbers, and is none itself: rng.random() draws one."


USE_RNG = "All randomness has to come from `rng`: draw with rng.random()."
