"""What the first screen needs and knows no Qt, loaded before PySide6.

PySide6 watches every import that comes after its own and reads the module's source, which takes longer
than the import itself.
"""

# ruff: noqa: F401 - they are loaded for what comes later
import tokenizers

import lmviz.decoding.branches
import lmviz.decoding.continuations
import lmviz.families
import lmviz.inspection.head_badges
import lmviz.inspection.lighting
import lmviz.inspection.trace_file
import lmviz.inspection.views
import lmviz.models.arithmetic
import lmviz.text.tokenizer
import lmviz.training.run
