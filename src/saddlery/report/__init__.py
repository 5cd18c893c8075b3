"""Comparisons of solvers on one problem, and the page that shows them.

>>> from saddlery.report import compare, page
>>> comparison = compare(problem)  # doctest: +SKIP
>>> html = page(comparison)  # doctest: +SKIP
"""

from saddlery.report.comparison import Comparison, compare
from saddlery.report.course import Course
from saddlery.report.machine import Machine
from saddlery.report.page import page

__all__ = ["Comparison", "Course", "Machine", "compare", "page"]
