"""Studies of trusses beside the one of their speed: changing graphs, and the seed's tables."""
