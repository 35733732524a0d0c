"""Products, distances and compiled loops over the rows of X; nothing above touches X itself."""
