"""Results that are kept up to date with a dynamic graph."""
