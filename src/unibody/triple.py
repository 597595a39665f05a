"""Triples: three numbers side by side in one register.

Kernels that go from body to body spend their time on vectors of three; as triples these cost one instruction where three numbers cost
three, and seven triples are a symmetric 6×6 block that stays in registers. A triple has +, − and * number by number, with triples and
floats;

    fetch(a, k)            a[k], a[k + 1], a[k + 2] of an array
    put(x, k, a_out)       into an array; the next number, a_out[k + 3], is spoilt: put triples in rising order
    put_only(x, k, a_out)  into an array, the next number left alone; of a four, its first three
    spread(f)              f, f, f
    turn(x), back(x)       x₁, x₂, x₀   and   x₂, x₀, x₁
    swap(x)                x₀, x₂, x₁
    total(x)               x₀ + x₁ + x₂
    join(f, g, h)          f, g, h;   x_of(x), y_of(x), z_of(x)  take them apart
    sums(x, y, z)          the totals of three triples, as a triple
    plus(x, f, y)          x + f y, of triples, floats or both: one instruction, rounded once, where the machine has it
    minus(x, f, y)         x − f y, likewise

Registers hold four numbers. The fourth is idle: `fetch` reads a[k + 3] into it, so that there has to be one, and nothing looks at it. All
else is rounded as it is written, as everywhere. In plain Python a triple is an array of three.

Long rows, filled up with zeros to a multiple of four numbers, use all of a register: *fours* have the same arithmetic, and

    fetch_four(a, k), put_four(x, k, a_out), spread_four(f), total_four(x), join_four(f, g, h, i)
    totals(x, y, z)        the totals of three fours, as a triple
    across_x(x, y, z, w)   the first numbers of four triples as a four; across_y the second ones, across_z the third

A four and a triple never meet in a sum or a product.

Beside `kernel`, the only file that names numba.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from unibody.kernel import Primitive


@cache
def _triple() -> Any:
    """The type, known to numba with its arithmetic."""
    from llvmlite import ir
    from numba.core import types as nt
    from numba.core.imputils import lower_builtin
    from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
    from numba.extending import models, register_model

    class Triple(nt.Type):
        def __init__(self) -> None:
            super().__init__(name="Triple")

    class InRegister(models.PrimitiveModel):
        def __init__(self, manager: Any, frontend: Any):
            super().__init__(manager, frontend, ir.VectorType(ir.DoubleType(), 4))

    register_model(Triple)(InRegister)
    triple, number = Triple(), nt.float64
    cases = ((triple, triple), (number, triple), (triple, number))
    for symbol, instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
        infer_global(symbol)(type(instruction, (ConcreteTemplate,), {"cases": [signature(triple, *case) for case in cases]}))

        def lower(context: Any, builder: Any, sig: Any, args: Any, instruction: str = instruction) -> Any:
            both = [_spread(builder, x) if t == number else x for t, x in zip(sig.args, args, strict=True)]
            return getattr(builder, instruction)(*both)

        for case in cases:
            lower_builtin(symbol, *case)(lower)
    return triple


def _order(builder: Any, x: Any, *lanes: int) -> Any:
    """The numbers of a register in another order."""
    from llvmlite import ir

    return builder.shuffle_vector(x, ir.Constant(x.type, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes))


def _lane(builder: Any, x: Any, k: int) -> Any:
    from llvmlite import ir

    return builder.extract_element(x, ir.Constant(ir.IntType(32), k))


def _spread(builder: Any, x: Any) -> Any:
    from llvmlite import ir

    four = ir.VectorType(ir.DoubleType(), 4)
    return _order(builder, builder.insert_element(ir.Constant(four, ir.Undefined), x, ir.Constant(ir.IntType(32), 0)), 0, 0, 0, 0)


def _place(context: Any, builder: Any, kind: Any, array: Any, k: Any, numbers: int) -> Any:
    """The address of so many numbers of an array, from the k-th on."""
    from llvmlite import ir

    address = builder.gep(context.make_array(kind)(context, builder, array).data, [k], inbounds=True)
    return builder.bitcast(address, ir.VectorType(ir.DoubleType(), numbers).as_pointer())


def _of_triple(result: Callable[[Any, Any], Any], generate: Callable[[Any, Any], Any]) -> Any:
    """An intrinsic of one argument: the type of its result, from those of a triple and of a float; its instructions."""
    from numba.core import types as nt
    from numba.extending import intrinsic

    triple = _triple()
    given, answer = result(triple, nt.float64)

    def call(typing_context, x):
        return answer(given), lambda context, builder, sig, args: generate(builder, args[0])

    return intrinsic(call)


def _make_fetch() -> Any:
    from numba.core import types as nt
    from numba.extending import intrinsic

    triple = _triple()

    def fetch(typing_context, a, k):
        def generate(context, builder, sig, args):
            return builder.load(_place(context, builder, sig.args[0], *args, 4), align=8)

        return triple(a, nt.intp), generate

    return intrinsic(fetch)


def _make_put(numbers: int) -> Any:
    from numba.core import types as nt
    from numba.extending import intrinsic

    triple = _triple()

    def put(typing_context, x, k, a_out):
        def generate(context, builder, sig, args):
            x, k, array = args
            if numbers == 4:
                builder.store(x, _place(context, builder, sig.args[2], array, k, 4), align=8)
            else:
                builder.store(_order(builder, x, 0, 1), _place(context, builder, sig.args[2], array, k, 2), align=8)
                third = builder.add(k, k.type(2))
                builder.store(_order(builder, x, 2), _place(context, builder, sig.args[2], array, third, 1), align=8)
            return context.get_dummy_value()

        return nt.void(triple, nt.intp, a_out), generate

    return intrinsic(put)


def _make_order(*lanes: int) -> Any:
    return _of_triple(lambda triple, number: (triple, triple), lambda builder, x: _order(builder, x, *lanes))


def _make_spread() -> Any:
    return _of_triple(lambda triple, number: (number, triple), _spread)


def _make_total() -> Any:
    def generate(builder: Any, x: Any) -> Any:
        return builder.fadd(builder.fadd(_lane(builder, x, 0), _lane(builder, x, 1)), _lane(builder, x, 2))

    return _of_triple(lambda triple, number: (triple, number), generate)


def _make_lane(k: int) -> Any:
    return _of_triple(lambda triple, number: (triple, number), lambda builder, x: _lane(builder, x, k))


def _two(builder: Any, x: Any, y: Any, *lanes: int) -> Any:
    """Numbers of two registers in one; those of the second are counted from 4 on."""
    from llvmlite import ir

    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes))


def _make_total_four() -> Any:
    def generate(builder: Any, x: Any) -> Any:
        both = builder.fadd(_order(builder, x, 0, 1), _order(builder, x, 2, 3))
        return builder.fadd(_lane(builder, both, 0), _lane(builder, both, 1))

    return _of_triple(lambda triple, number: (triple, number), generate)


def _of_triples(count: int, generate: Callable[..., Any]) -> Any:
    """An intrinsic of so many triples, whose result is one."""
    from numba.extending import intrinsic

    triple = _triple()

    def made() -> Any:
        return triple(*[triple] * count), lambda context, builder, sig, args: generate(builder, *args)

    if count == 3:
        return intrinsic(lambda typing_context, x, y, z: made())
    return intrinsic(lambda typing_context, x, y, z, w: made())


def _make_totals() -> Any:
    def generate(builder: Any, x: Any, y: Any, z: Any) -> Any:
        both = builder.fadd(_two(builder, x, y, 0, 4, 2, 6), _two(builder, x, y, 1, 5, 3, 7))
        last = builder.fadd(_order(builder, z, 0, 0, 2, 2), _order(builder, z, 1, 1, 3, 3))
        return builder.fadd(_two(builder, both, last, 0, 1, 4, 5), _two(builder, both, last, 2, 3, 6, 7))

    return _of_triples(3, generate)


def _make_sums() -> Any:
    def generate(builder: Any, x: Any, y: Any, z: Any) -> Any:
        even, odd = _two(builder, x, y, 0, 4, 2, 6), _two(builder, x, y, 1, 5, 3, 7)
        one, two = _two(builder, even, z, 0, 1, 4, 5), _two(builder, odd, _order(builder, z, 1, 1, 3, 3), 0, 1, 4, 5)
        return builder.fadd(builder.fadd(one, two), _two(builder, even, z, 2, 3, 6, 7))

    return _of_triples(3, generate)


def _make_across(k: int) -> Any:
    def generate(builder: Any, x: Any, y: Any, z: Any, w: Any) -> Any:
        lanes = (1, 5, 3, 7) if k == 1 else (0, 4, 2, 6)
        halves = (2, 3, 6, 7) if k == 2 else (0, 1, 4, 5)
        return _two(builder, _two(builder, x, y, *lanes), _two(builder, z, w, *lanes), *halves)

    return _of_triples(4, generate)


def _make_join() -> Any:
    from llvmlite import ir
    from numba.core import types as nt
    from numba.extending import intrinsic

    triple = _triple()

    def join(typing_context, f, g, h):
        def generate(context, builder, sig, args):
            out = ir.Constant(ir.VectorType(ir.DoubleType(), 4), [0.0] * 4)
            for k, x in enumerate(args):
                out = builder.insert_element(out, x, ir.Constant(ir.IntType(32), k))
            return out

        return triple(nt.float64, nt.float64, nt.float64), generate

    return intrinsic(join)


def _make_join_four() -> Any:
    from llvmlite import ir
    from numba.core import types as nt
    from numba.extending import intrinsic

    triple = _triple()

    def join_four(typing_context, f, g, h, i):
        def generate(context, builder, sig, args):
            out = ir.Constant(ir.VectorType(ir.DoubleType(), 4), ir.Undefined)
            for k, x in enumerate(args):
                out = builder.insert_element(out, x, ir.Constant(ir.IntType(32), k))
            return out

        return triple(nt.float64, nt.float64, nt.float64, nt.float64), generate

    return intrinsic(join_four)


def _make_plus(negative: bool) -> Any:
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core import types as nt
    from numba.extending import intrinsic

    triple = _triple()

    def plus(typing_context, x, f, y):
        wide = triple in (x, f, y)

        def generate(context, builder, sig, args):
            c, a, b = (_spread(builder, v) if wide and t != triple else v for t, v in zip(sig.args, args, strict=True))
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(a.type, [a.type] * 3), "llvm.fmuladd.v4f64" if wide else "llvm.fmuladd.f64"
            )
            return builder.call(function, [builder.fneg(a) if negative else a, b, c])

        kinds = [t if t == triple else nt.float64 for t in (x, f, y)]
        return (triple if wide else nt.float64)(*kinds), generate

    return intrinsic(plus)


def _put(x: np.ndarray, k: int, a_out: np.ndarray) -> None:
    a_out[k : k + 3] = x[:3]


def _put_four(x: np.ndarray, k: int, a_out: np.ndarray) -> None:
    a_out[k : k + 4] = x


fetch = Primitive(lambda a, k: a[k : k + 3].copy(), _make_fetch)
put = Primitive(_put, lambda: _make_put(4))
put_only = Primitive(_put, lambda: _make_put(3))
spread = Primitive(lambda f: np.array((f, f, f)), _make_spread)
turn = Primitive(lambda x: x[[1, 2, 0]], lambda: _make_order(1, 2, 0, 3))
back = Primitive(lambda x: x[[2, 0, 1]], lambda: _make_order(2, 0, 1, 3))
swap = Primitive(lambda x: x[[0, 2, 1]], lambda: _make_order(0, 2, 1, 3))
total = Primitive(lambda x: x[0] + x[1] + x[2], _make_total)
x_of = Primitive(lambda x: x[0], lambda: _make_lane(0))
y_of = Primitive(lambda x: x[1], lambda: _make_lane(1))
z_of = Primitive(lambda x: x[2], lambda: _make_lane(2))
sums = Primitive(lambda x, y, z: np.array([v[0] + v[1] + v[2] for v in (x, y, z)]), _make_sums)
join = Primitive(lambda f, g, h: np.array((f, g, h)), _make_join)
plus = Primitive(lambda x, f, y: x + f * y, lambda: _make_plus(False))
minus = Primitive(lambda x, f, y: x - f * y, lambda: _make_plus(True))

fetch_four = Primitive(lambda a, k: a[k : k + 4].copy(), _make_fetch)
put_four = Primitive(_put_four, lambda: _make_put(4))
spread_four = Primitive(lambda f: np.full(4, f), _make_spread)
join_four = Primitive(lambda *f: np.array(f), _make_join_four)
total_four = Primitive(lambda x: (x[0] + x[2]) + (x[1] + x[3]), _make_total_four)
totals = Primitive(lambda x, y, z: np.array([v[0] + v[1] + (v[2] + v[3]) for v in (x, y, z)]), _make_totals)
across_x = Primitive(lambda *x: np.array([v[0] for v in x]), lambda: _make_across(0))
across_y = Primitive(lambda *x: np.array([v[1] for v in x]), lambda: _make_across(1))
across_z = Primitive(lambda *x: np.array([v[2] for v in x]), lambda: _make_across(2))
