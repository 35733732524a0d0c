"""Comparisons from labels."""
