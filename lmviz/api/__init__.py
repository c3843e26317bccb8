"""What `import lmviz` offers: corpora, runs and models, and what can be asked of a model."""
