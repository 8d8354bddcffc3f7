"""Instrumented renderings: kernels that count what they do, made from the plain ones' text."""
