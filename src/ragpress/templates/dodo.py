from ragpress.tasks import *
