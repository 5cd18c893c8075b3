"""scikit-learn's callbacks (1.9 and later): a certificate of a run is a task, at whose end they are called.

Older versions have none: then there is nothing to call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saddlery.result import Row

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    CALLBACKS = True
except ImportError:  # before 1.9
    CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """There are no callbacks to support."""

    def with_callbacks(method: Any) -> Any:
        """There is nothing to manage."""
        return method


__all__ = ["CALLBACKS", "CallbackSupportMixin", "Ears", "with_callbacks"]


class Ears:
    """Those who listen to a fit.

    Parameters
    ----------
    model : the estimator that is fitted; X, y, weights : with what.
    """

    def __init__(self, model: Any, X: Any, y: Any, weights: Any) -> None:
        self.model = model
        self.given = {"X": X, "y": y, "metadata": {"sample_weight": weights} if weights is not None else None}
        self.context = model._init_callback_context(max_subtasks=None) if CALLBACKS else None

    @property
    def listening(self) -> bool:
        """Is anybody?"""
        return bool(getattr(self.model, "_skl_callbacks", None))

    def __enter__(self) -> Ears:
        if self.context is not None:
            self.context.call_on_fit_task_begin(estimator=self.model, **self.given)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self.context is not None and kind is None:
            self.context.call_on_fit_task_end(estimator=self.model, **self.given, reconstruction_attributes={})

    def of(self, attributes: Callable[[Row], dict[str, Any]]) -> Callable[[Row], bool] | None:
        """What a run is to call with its certificates; `attributes`: the fitted attributes that the iterate makes."""
        if self.context is None or not self.listening:
            return None
        context = self.context

        def call(row: Row) -> bool:
            task = context.subcontext(task_name="certificate")
            given = {"estimator": self.model, **self.given, "reconstruction_attributes": lambda: attributes(row)}
            task.call_on_fit_task_begin(**given)
            return bool(task.call_on_fit_task_end(**given))

        return call
