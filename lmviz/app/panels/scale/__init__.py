"""The Scale perspective: what a number of parameters costs."""
