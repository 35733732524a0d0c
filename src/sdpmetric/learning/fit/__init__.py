"""A fit from parameters and data to a result."""
