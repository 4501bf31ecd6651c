"""What all tests share."""

import os

from hypothesis import settings

# the workers of pytest-xdist take all cores already; threads of theirs would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("ordino", deadline=None)  # times depend on the machine's load
settings.load_profile("ordino")
