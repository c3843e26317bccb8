"""The language in which networks are written: a few lines of text, read without ever being executed."""
