"""Pages: what lmviz shows as one HTML file that answers the pointer, without a network and without lmviz."""
