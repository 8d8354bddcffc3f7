"""Maximal independent sets."""
