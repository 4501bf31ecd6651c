"""``python -m ordino.cli`` is ``ordino``."""

from ordino.cli import main

main()
