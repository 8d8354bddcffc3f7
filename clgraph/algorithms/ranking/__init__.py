"""Rankings by repeated products with the matrix of a graph."""
