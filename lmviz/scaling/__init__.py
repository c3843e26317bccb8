"""What a number of parameters costs: sizes, memory, compute, time, and how a loss falls with them."""
