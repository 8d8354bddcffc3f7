"""Sources of kernels: found, rendered, kept, and rewritten with bounds checks."""
