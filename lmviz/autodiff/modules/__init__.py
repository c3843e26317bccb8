"""The modules that networks are made of: each computes its output, and what it hands back to its inputs."""
