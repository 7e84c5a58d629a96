"""This repository's own build: the sample corpus in sources/."""

from ragpress.tasks import *  # noqa: F403
