"""One training over several machines: data whose queries are divided over the workers of a cluster."""

from ordino.division.divided import Divided
from ordino.division.dividing import divided_data

__all__ = ["Divided", "divided_data"]
