"""Many searches at once, programmed by their user, and what is computed with them."""
