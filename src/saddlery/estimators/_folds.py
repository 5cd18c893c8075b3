"""Cross-validation along paths: for each fold, and each l1_ratio, a path; the folds at the same time, if asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from saddlery.estimators._linear import Data, Linear
from saddlery.estimators._reach import Reached
from saddlery.estimators.path import along
from saddlery.problem import Problem

Array = NDArray[Any]
Score = Callable[[Linear, Any], float]


class Fold(NamedTuple):
    """What a path over one fold made: for each setting a score, the coefficients, the intercepts, the epochs."""

    scores: Array
    coef: Array
    intercept: Array
    epochs: Array
    failed: list[tuple[Problem, Reached]]


def fold_paths(
    model: Linear, data: Data, folds: Sequence[Any], grids: Sequence[Any], score: Score, n_jobs: int | None
) -> list[list[Fold]]:
    """A list for each grid (a list of settings), of one `Fold` for each fold."""
    calls = [delayed(_fold)(clone(model), data, fold, grid, score) for grid in grids for fold in folds]
    made = list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    return [made[k : k + len(folds)] for k in range(0, len(made), len(folds))]


def _fold(model: Linear, data: Data, fold: tuple[Array, Array], grid: Sequence[dict[str, Any]], score: Score) -> Fold:
    train, test = fold
    model._adopt(data)
    part = data.rows(train)
    if data.classes is not None and np.unique(part.targets[part.weights > 0.0]).size < 2:
        raise ValueError("a fold has rows of one class only to fit to; use StratifiedKFold, or fewer folds")
    scores, coef, ends, epochs = [], [], [], []
    failed: list[tuple[Problem, Reached]] = []
    for problems, reached in along(model, part, grid, finish=data.classes is not None):
        scores.append(score(model, test))
        coef.append(np.array(model.coef_))
        ends.append(np.array(model.intercept_))
        epochs.append(sum(each.epochs for each in reached))
        failed += [(p, r) for p, r in zip(problems, reached, strict=True) if not r.converged]
    return Fold(np.array(scores), np.array(coef), np.array(ends), np.array(epochs), failed)


def knowing(scorer: Any, classes: Array) -> Any:
    """The scorer, told of all classes where it can be: not every fold has rows of each."""
    known = inspect.signature(scorer._score_func).parameters if hasattr(scorer, "_score_func") else {}
    if "labels" not in known:
        return scorer
    two = {"pos_label": classes[-1]} if classes.size == 2 and "pos_label" in known else {}
    given = {"labels": classes, **two, **getattr(scorer, "_kwargs", {})}
    response = scorer._response_method
    return make_scorer(scorer._score_func, greater_is_better=scorer._sign == 1, response_method=response, **given)


# ---- metadata


def router(owner: Any, splitter: Any, scorer: Any = None) -> MetadataRouter:
    """What of the metadata of `fit` and `score` goes to the splitter and to the scorer."""
    made = MetadataRouter(owner=owner).add_self_request(owner)
    made = made.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    if scorer is not None:
        mapping = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        made = made.add(scorer=scorer, method_mapping=mapping)
    return made


def routed(
    model: Any, caller: str, sample_weight: Any, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metadata for the splitter, and for the scorer."""
    if _routing_enabled():
        made = process_routing(model, caller, sample_weight=sample_weight, **params)
        scorer = made.scorer.score if "scorer" in made else {}
        return (made.splitter.split if caller == "fit" else {}), scorer
    if params:
        raise ValueError(
            f"passing metadata ({', '.join(sorted(params))}) to {type(model).__name__}.{caller} is only supported if "
            "enable_metadata_routing=True, which sklearn.set_config can set"
        )
    return {}, ({} if sample_weight is None else {"sample_weight": sample_weight})


__all__ = ["Fold", "Score", "fold_paths", "routed", "router"]
