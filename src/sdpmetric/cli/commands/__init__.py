"""One module per command; it imports the library only when the command runs."""
