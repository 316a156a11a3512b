"""Datasets that ship with nbtorch."""
from .digits import Digits

__all__ = ["Digits"]
