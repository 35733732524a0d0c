"""Tables in files: reading, writing, and the rows that a model can map."""
