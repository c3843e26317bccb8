"""Where a model's words come from: passages of its text, lines that taught a word, lines learned by heart."""
