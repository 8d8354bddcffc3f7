"""Device memory: a budget, arrays in it, and how their contents come and go."""
