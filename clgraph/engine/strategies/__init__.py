"""What configurations are trees of: strategies, each with its parameters and their legality."""
