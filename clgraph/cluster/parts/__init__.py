"""Which part of a graph a rank has, and what its device holds of it."""
