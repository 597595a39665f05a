"""`fit`: parameters of a model from data, by least squares, with confidence intervals.

    p* = argmin Σᵢ rᵢ(p)²,    rᵢ = (model(p)ᵢ − dataᵢ) / σᵢ

With n data, m parameters, J = ∂r/∂p at p*, and errors that are independent, normal and small enough for the model to be nearly linear
over them,

    cov p = s² (JᵀJ)⁻¹,    s² = Σ rᵢ² / (n − m),    p*ₖ ± t √covₖₖ

with t the quantile of Student's distribution with n − m degrees of freedom. Where σ is given as it is and not up to a factor
(`absolute=True`), s² is 1 and t normal. The least squares are SciPy's (trust region, bounds).
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unibody.element import number
from unibody.errors import ModelError
from unibody.model.values import shown
from unibody.simulation.whole_file import whole_text

SMALLEST = 1e-12
"""Of the largest singular value of J, in units of the parameters' sizes: below it data do not tell parameters apart."""


@dataclass(frozen=True)
class Fit:
    """What a fit found. `intervals` hold the true value with the probability `confidence`, if the model is right."""

    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    covariance: np.ndarray
    """(m, m) in the order of `values`."""
    residuals: np.ndarray
    """model − data, in the data's shape and units."""
    rms: float
    confidence: float
    runs: int
    """How often the model was asked."""
    converged: bool
    message: str

    def __repr__(self) -> str:
        told = ", ".join(f"{name} = {self.values[name]:.6g} ({low:.6g} … {high:.6g})" for name, (low, high) in self.intervals.items())
        return f"Fit({told}; rms {self.rms:.3g}, {self.runs} runs{'' if self.converged else ', NOT CONVERGED'})"

    def report(self, path: str | Path, notes: Mapping[str, str] | None = None) -> Path:
        """Write a page: values with intervals, correlations, residuals, and `notes`, such as the error on data not seen."""
        names = list(self.values)
        rows = "".join(
            f"<tr><td>{html.escape(n)}</td><td>{self.values[n]:.6g}</td><td>{low:.6g} … {high:.6g}</td></tr>"
            for n, (low, high) in self.intervals.items()
        )
        spread = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = self.covariance / np.outer(spread, spread)
        table = "".join(
            f"<tr><th>{html.escape(n)}</th>{''.join(f'<td>{c:+.3f}</td>' for c in row)}</tr>" for n, row in zip(names, correlation)
        )
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        told = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(text)}</td></tr>" for n, text in (notes or {}).items())
        said = f"<h2>Notes</h2><table>{told}</table>" if told else ""
        state = "converged" if self.converged else "<strong>not converged</strong>"
        page = (
            "<!doctype html><html lang='en'><meta charset='utf-8'><title>Fit</title>"
            "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
            "td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #ddd}</style>"
            f"<h1>Fit</h1><p>{state}: {html.escape(self.message)}. {self.runs} runs of the model, {self.residuals.size} data, "
            f"root mean square of the residuals {self.rms:.6g}.</p>"
            f"<h2>Parameters</h2><table><tr><th></th><th>value</th><th>{100 * self.confidence:g} % interval</th></tr>{rows}</table>"
            f"{said}<h2>Correlations</h2><table><tr><th></th>{head}</tr>{table}</table>"
            f"<h2>Residuals</h2>{_histogram(self.residuals.ravel())}</html>\n"
        )
        with whole_text(path) as file:
            file.write(page)
        return Path(path)


def fit(
    data: Any, model: Callable[..., Any], parameters: Mapping[str, Any], sigma: Any = None, absolute: bool = False,
    confidence: float = 0.95, tolerance: float = 1e-10, step: float | None = None,
) -> Fit:  # fmt: skip
    """Parameters for which `model(**parameters)`, an array of the shape of `data`, is nearest to it.

    `parameters`: name → first guess, or (guess, lowest, highest). `sigma`: standard deviations of the data, up to a common factor, or as
    they are if `absolute`. `step`: slopes are differences over this share of each parameter, instead of over round-off; for models that are
    rough, such as motions with impacts.

    >>> import numpy as np
    >>> t = np.linspace(0.0, 1.0, 20)
    >>> found = fit(3.0 * t + 1.0, lambda slope, start: slope * t + start, {"slope": 1.0, "start": 0.0})
    >>> round(found.values["slope"], 6)
    3.0
    """
    from scipy.optimize import least_squares
    from scipy.stats import norm, t

    # data, their deviations, and what is to be found
    y = np.asarray(data, float)
    if not y.size or not np.isfinite(y).all():
        raise ModelError(f"fit data of shape {y.shape} is empty or not finite; leave out what was not measured")
    scale = np.ones_like(y) if sigma is None else np.broadcast_to(np.asarray(sigma, float), y.shape)
    if not (scale > 0.0).all():
        raise ModelError("fit sigma is not positive everywhere; give standard deviations above 0")
    share = number(confidence, "fit confidence", positive=True)
    if share >= 1.0:
        raise ModelError(f"fit confidence: {confidence!r} is not below 1; give for example 0.95")
    apart = number(step, "fit step", positive=True) if step is not None else None
    names, guess, lowest, highest = _asked(parameters)
    free = y.size - len(names)
    if free < 1:
        raise ModelError(f"fit: {y.size} data for {len(names)} parameters; give more data than parameters")
    runs = 0

    # r(p), checked at every p
    def residual(p: np.ndarray) -> np.ndarray:
        nonlocal runs
        runs += 1
        found = np.asarray(model(**dict(zip(names, p.tolist(), strict=True))), float)
        told = ", ".join(f"{n}={x:.6g}" for n, x in zip(names, p, strict=True))
        if found.shape != y.shape:
            raise ModelError(f"fit: the model gave an array of shape {found.shape} at {told}, the data have {y.shape}; give that shape")
        if not np.isfinite(found).all():
            raise ModelError(f"fit: the model gave numbers that are not finite at {told}; give bounds, (guess, lowest, highest)")
        return ((found - y) / scale).ravel()

    # p* = argmin |r|², in units of the parameters' sizes
    sizes = np.where(guess != 0.0, np.abs(guess), np.where(np.isfinite(highest - lowest), highest - lowest, 1.0))
    found = least_squares(
        residual, guess, bounds=(lowest, highest), x_scale=sizes, jac="3-point", xtol=tolerance, ftol=tolerance, gtol=tolerance,
        diff_step=apart,
    )
    # cov p = s² (JᵀJ)⁻¹ from the singular values of J, in units of the parameters' sizes
    _, s, Vt = np.linalg.svd(found.jac * sizes, full_matrices=False)
    if s[-1] <= SMALLEST * s[0]:
        mixed = ", ".join(n for n, c in zip(names, Vt[-1], strict=True) if abs(c) > 0.1)
        raise ModelError(f"fit: the data do not tell {mixed} apart, or not at all; give one of them, or other data")
    spread = 1.0 if absolute else float(found.fun @ found.fun) / free
    covariance = spread * (Vt.T / s**2) @ Vt * np.outer(sizes, sizes)
    quantile = norm.ppf(0.5 + 0.5 * share) if absolute else t.ppf(0.5 + 0.5 * share, free)
    # p* ± t √cov
    half = quantile * np.sqrt(np.diag(covariance))
    off = (found.fun.reshape(y.shape)) * scale
    return Fit(
        dict(zip(names, found.x.tolist(), strict=True)),
        {n: (float(x - w), float(x + w)) for n, x, w in zip(names, found.x, half, strict=True)}, covariance, off,
        float(np.sqrt(np.mean(off**2))), share, runs, bool(found.success), str(found.message).rstrip("."),
    )  # fmt: skip


def _asked(parameters: Mapping[str, Any]) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Names, guesses and bounds."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise ModelError(f"fit parameters {shown(parameters)}: give a mapping of names to guesses, or to (guess, lowest, highest)")
    rows = []
    for name, asked in parameters.items():
        three = tuple(asked) if isinstance(asked, tuple | list) else (asked, -np.inf, np.inf)
        if len(three) != 3:
            raise ModelError(f"fit parameter '{name}': {shown(asked)} is neither a guess nor (guess, lowest, highest)")
        guess, low, high = number(three[0], f"fit parameter '{name}'"), float(three[1]), float(three[2])
        if not low <= guess <= high:
            raise ModelError(f"fit parameter '{name}': the guess {guess:g} is not within {low:g} … {high:g}; give one that is")
        rows.append((guess, low, high))
    x = np.array(rows)
    return list(parameters), x[:, 0], x[:, 1], x[:, 2]


def _histogram(x: np.ndarray) -> str:
    """Bars of how many residuals have which size."""
    counts, edges = np.histogram(x, bins=min(30, max(5, x.size // 5)))
    tall, wide = 120.0, 600.0 / len(counts)
    bars = "".join(
        f"<rect x='{k * wide:.1f}' y='{tall - tall * n / max(1, counts.max()):.1f}' width='{wide - 1:.1f}' "
        f"height='{tall * n / max(1, counts.max()):.1f}' fill='#4477aa'/>"
        for k, n in enumerate(counts)
    )
    return f"<svg viewBox='0 0 600 120' width='600' height='120' role='img'>{bars}</svg><p>from {edges[0]:.4g} to {edges[-1]:.4g}</p>"
