"""lmviz among the programs of this machine: what it lacks, scenes as files, and what a double click opens."""
