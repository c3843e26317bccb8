"""Two models side by side: what they say of a text, what is different inside, and which part carries it."""
