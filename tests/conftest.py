"""What all tests share."""

from hypothesis import settings

settings.register_profile("ordino", deadline=None)  # times depend on the machine's load
settings.load_profile("ordino")
