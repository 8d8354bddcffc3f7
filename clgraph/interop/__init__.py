"""Where other libraries meet clgraph."""
