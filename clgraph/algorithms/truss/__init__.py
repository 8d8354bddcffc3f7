"""Dense parts of undirected graphs: k-trusses and truss numbers, k-cores and core numbers."""
