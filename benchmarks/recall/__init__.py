"""How well the right memories are found: data sets through the product's own import and recall, beside baselines."""

from . import weights
from .measuring import measure

__all__ = ["measure", "weights"]
