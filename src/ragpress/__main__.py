"""`python -m ragpress`: the same as `ragpress`, where that is not on the path."""

import sys

from ragpress.cli import main

sys.exit(main())
