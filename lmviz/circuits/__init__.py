"""Which parts of a model an answer hangs on, found by trying: attribution, patching, ablation, circuits."""
