"""Commands about devices: what there is, how fast it is, and what suits it."""
