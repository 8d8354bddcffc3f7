"""Published breadth-first searches that need rules of their own."""
