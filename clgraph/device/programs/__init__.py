"""Programs: built once from rendered sources, cached, and the kernels in them."""
