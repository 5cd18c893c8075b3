"""The linear part of a problem: what takes x to the predictions and y back to a force on x."""

from saddlery.couplings.rows import RowCoupling

__all__ = ["RowCoupling"]
