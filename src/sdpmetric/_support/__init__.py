"""Helpers that know nothing about metrics: checks, files, progress, text, warnings."""
