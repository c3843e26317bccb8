"""`python -m lmviz` is the command `lmviz`; a bundled program also serves beside another one."""

import sys

from lmviz.base.side_process import SERVE

if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        from lmviz.base.side_serving import serve

        serve(sys.argv[2])
    else:
        from lmviz.cli import main

        main()
