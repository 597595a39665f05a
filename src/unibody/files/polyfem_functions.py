"""Functions of place and time in PolyFEM's scenes: `"-min(t, 0.28)"`, `"y*cos(0.4*pi*t) - z*sin(0.4*pi*t) - y"`.

Arithmetic of x, y, z, t, pi, e with + − * / ^, brackets and the functions below; anything else is refused with its text. `log` is refused
too: it is the natural logarithm for some programs and the decimal one for others. So are −a^b and a^b^c, which they read in two ways.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.spatial.pose import Pose

WORDS: dict[str, Callable[..., Any]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "ln": np.log, "log10": np.log10, "sqrt": np.sqrt, "abs": np.abs,
    "floor": np.floor, "ceil": np.ceil, "pow": np.power, "min": np.minimum, "max": np.maximum, "sign": np.sign,
}  # fmt: skip
TWO = ("atan2", "pow", "min", "max")
"""Functions of two numbers."""
CONSTANTS = {"pi": np.pi, "e": np.e}
LONGEST = 2000
"""Characters."""
SIGNS: dict[type, Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
}  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """A function of x, y, z, t; of arrays too."""

    text: str
    what: str = "formula"
    """Begins messages."""

    def __post_init__(self) -> None:
        self._tree  # noqa: B018  refused at once, not at the first step

    @cached_property
    def _tree(self) -> ast.expr:
        if len(self.text) > LONGEST:
            raise ModelError(f"{self.what}: a formula of {len(self.text)} characters; give at most {LONGEST}")
        try:
            tree = ast.parse(self.text.strip().replace("^", "**"), mode="eval").body
            self._check(tree)
        except ModelError:
            raise
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ModelError(f"{self.what}: {self.text!r} is no formula of x, y, z, t; write it with + - * / ^ and brackets") from None
        return tree

    def _check(self, node: ast.expr) -> None:
        """Refuse whatever has no meaning here."""
        match node:
            case ast.Constant(value=bool() | str() | bytes() | None):
                raise ModelError(f"{self.what}: {self.text!r} holds {node.value!r}, which is no number; write a formula of x, y, z, t")
            case ast.Constant(value=int() | float()):
                return
            case ast.Name(id=name):
                if name not in CONSTANTS and name not in "xyzt":
                    raise ModelError(f"{self.what}: {name!r} in {self.text!r} is unknown; write a formula of x, y, z, t, pi, e")
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
                if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Pow):
                    raise ModelError(f"{self.what}: {self.text!r} has -a^b, which programs read in two ways; write it with a product")
                self._check(inner)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in SIGNS:
                if isinstance(op, ast.Pow) and any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow) for n in (left, right)):
                    raise ModelError(f"{self.what}: {self.text!r} has a^b^c, which programs read in two ways; write it with pow(a, b)")
                self._check(left)
                self._check(right)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in WORDS:
                if len(args) != (2 if name in TWO else 1):
                    raise ModelError(f"{self.what}: {name} in {self.text!r} with {len(args)} numbers; give {2 if name in TWO else 1}")
                for inner in args:
                    self._check(inner)
            case ast.Call(func=ast.Name(id=name)):
                raise ModelError(f"{self.what}: function {name!r} in {self.text!r} is unknown; known are {', '.join(WORDS)}")
            case _:
                raise SyntaxError

    def __call__(self, x: Any, y: Any, z: Any, t: float) -> Any:
        return self._value(self._tree, {**CONSTANTS, "x": x, "y": y, "z": z, "t": t})

    def _value(self, node: Any, names: dict[str, Any]) -> Any:
        match node:
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.Name(id=name):
                return names[name]
            case ast.UnaryOp(op=op, operand=inner):
                return -self._value(inner, names) if isinstance(op, ast.USub) else self._value(inner, names)
            case ast.BinOp(left=left, op=op, right=right):
                return SIGNS[type(op)](self._value(left, names), self._value(right, names))
            case ast.Call(func=ast.Name(id=name), args=args):
                return WORDS[name](*(self._value(inner, names) for inner in args))

    @property
    def names(self) -> set[str]:
        """Which of x, y, z, t it uses."""
        return {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)} & set("xyzt")


@dataclass(frozen=True)
class DisplacedPoints:
    """Points that are displaced by a function of where they were at the start, and of time."""

    places: tuple[tuple[float, float, float], ...]
    formulas: tuple[Formula, Formula, Formula]

    @cached_property
    def _start(self) -> np.ndarray:
        return np.array(self.places)

    def __call__(self, t: float) -> np.ndarray:
        x, y, z = self._start.T
        with np.errstate(all="ignore"):  # what is not finite is told by name where it is used
            return self._start + np.stack([np.broadcast_to(f(x, y, z, t), x.shape) for f in self.formulas], axis=1)


@dataclass(frozen=True)
class Shifted:
    """A pose that is moved by a function of time, without turning."""

    formulas: tuple[Formula, Formula, Formula]

    def __call__(self, t: float) -> Pose:
        with np.errstate(all="ignore"):
            return Pose([float(f(0.0, 0.0, 0.0, t)) for f in self.formulas])
