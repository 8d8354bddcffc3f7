"""How alike vertices are by their neighbours."""
