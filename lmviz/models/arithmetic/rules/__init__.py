"""The rules that combine groups of terms into one number: a file for each, and a table of all."""
