"""What can be read out of a model's states by something that was fitted to them: lenses.

The logit lens, which needs no fitting, is in `lmviz.inspection.logit_lens`.
"""
