"""Searches and components: variants in turn, many at once, several devices, the first answer."""
