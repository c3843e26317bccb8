"""The Race perspective: several trainings beside one another."""
