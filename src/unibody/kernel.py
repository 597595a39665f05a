"""The file that names numba (beside `triple`): kernels, device functions and calls by address.

A *kernel* is a compiled function over flat arrays and scalars; its annotations are its one signature::

    @kernel
    def add_scaled(x: Floats, factor: float, y_out: Floats) -> None: ...

`Floats` and `Ints` are contiguous one-dimensional arrays of float64 and int64. An argument is writable exactly when its
name ends in `_out`: every other array is typed read-only and numba refuses to compile a write to it. Scalars are `float` and `int`.

A *long kernel* is one that works for long when Python calls it (a rollout of many steps): it releases Python's global interpreter lock, so
that other threads run meanwhile, and a Python function that it calls back takes the lock for itself. Short ones keep it: to give it away
and take it back costs 0.1 µs alone, and beside another thread that wants it a change of threads, ten times what such a kernel works.

A *device* function is what kernels call: arrays and scalars in, scalars and tuples of scalars out, inlined by the compiler if it is short.
It makes no arrays and counts no references: two locked instructions for each array would cost more than its work. One that returns an
array says so, `-> Floats`, and counts. An *inlined* one is inlined however long it is: where a loop has little to do, handing over its
arrays, seven words each, would cost more.

An *open kernel* leaves open what some names in it mean; `filled(name, law=device)` is the kernel with these devices in their places.

A *primitive* is a device that the compiler is told how to make; see `triple`.

A *prototype* is a signature without a body. Kernels of that signature have an `address`; compiled code calls them through the
prototype, `Fill(address, ...)`, and never names them, so that the set of element classes stays open. A Python function gets an
address of the same signature by `prototype.callback(function)`: that is how elements with only NumPy methods run inside
compiled loops.

Nothing here imports numba until the first kernel is called. Compiled code is kept between processes by `unibody.kernel_cache`, each kernel
under a digest of its own code, of all that it calls and of the constants it names: numba by itself would not notice an edited device
function in another file.

Environment: `UNIBODY_JIT=0` runs every kernel as plain Python (coverage, debugging); `UNIBODY_CHECKED=1` compiles with bounds
checks; `UNIBODY_CACHE_DIR` moves the cache.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import os
import pickle
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from unibody import kernel_cache
from unibody.kernel_cache import cache_root as cache_root

JIT = os.environ.get("UNIBODY_JIT", "1") != "0"
CHECKED = os.environ.get("UNIBODY_CHECKED", "0") == "1"

Floats = np.ndarray
Ints = np.ndarray

compiled: list[tuple[str, float, bool]] = []
"""What was made ready in this process: (kernel, seconds, from the cache)."""

_making = threading.RLock()
"""Held while something is compiled or read from the cache: the first of several threads makes it, the others wait."""

if hasattr(os, "register_at_fork"):  # a child in which a lock is held by a thread that it does not have would wait for ever
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)

_SCALARS = {"float": "float64", "int": "int64", "bool": "boolean", "None": "void"}


def _signature(function: Callable) -> list[tuple[str, str]]:
    """(name, type name) of every argument, then ("return", type name)."""
    annotations = dict(function.__annotations__)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    missing = [n for n in names if n not in annotations]
    if missing:
        raise TypeError(f"kernel {function.__qualname__}: arguments {missing} have no annotation")
    return [(n, str(annotations[n])) for n in names] + [("return", str(annotations.get("return", "None")))]


def _numba_type(name: str, annotation: str) -> Any:
    from numba import types as nt

    if annotation in ("Floats", "Ints"):
        dtype = nt.float64 if annotation == "Floats" else nt.int64
        return nt.Array(dtype, 1, "C", readonly=not name.endswith("_out"))
    if annotation in _SCALARS:
        return getattr(nt, _SCALARS[annotation])
    raise TypeError(f"kernel argument {name}: {annotation!r} is none of Floats, Ints, float, int, bool")


class Device:
    """A function for kernels to call; plain Python when called from Python."""

    def __init__(self, function: Callable, inlined: bool = False):
        self.function, self.inlined = function, inlined
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._dispatcher: Any = None

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    @property
    def dispatcher(self) -> Any:
        with _making:
            if self._dispatcher is None:
                counts = "return" in self.function.__annotations__
                self._dispatcher = _numba().njit(
                    _resolved(self.function), boundscheck=CHECKED, error_model="numpy", _nrt=counts, forceinline=self.inlined
                )
            return self._dispatcher


class Primitive(Device):
    """A device that the compiler is told how to make; plain Python when called from Python."""

    def __init__(self, function: Callable, make: Callable[[], Any]):
        super().__init__(function)
        self._make = make

    @property
    def dispatcher(self) -> Any:
        with _making:
            if self._dispatcher is None:
                self._dispatcher = self._make()
            return self._dispatcher


class Kernel:
    """A compiled function with one signature, made ready at the first call."""

    def __init__(self, function: Callable, long: bool = False):
        self.function, self.long = function, long
        self.signature = _signature(function)
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__
        self._dispatcher: Any = None
        self._ready: Callable | None = None if JIT else function
        self._address: int | None = None

    def __call__(self, *args: Any) -> Any:
        return (self._ready or self.load())(*args)

    def load(self) -> Callable:
        """Compile, or read from the cache, and return the bare callable (no overhead of this class)."""
        with _making:
            if self._ready is None:
                began = time.perf_counter()
                dispatcher = self.dispatcher
                with _without_collector(), _told_our_way():
                    dispatcher.compile(self.types)
                dispatcher.disable_compile()
                cached = sum(dispatcher.stats.cache_hits.values()) > 0
                compiled.append((f"{self.__module__}.{self.__name__}", time.perf_counter() - began, cached))
                self._ready = dispatcher
            return self._ready

    @property
    def types(self) -> Any:
        """The signature in numba's types."""
        return _numba_type(*self.signature[-1])(*(_numba_type(n, a) for n, a in self.signature[:-1]))

    @property
    def kept(self) -> bool:
        """Whether it is ready, or can be read from the cache."""
        if self._ready is not None:
            return True
        with _making, _told_our_way():
            return kernel_cache.holds(_Cache(self.function, self.long)._file(self.types, _codegen()))

    @property
    def dispatcher(self) -> Any:
        with _making:
            if self._dispatcher is None:
                self._dispatcher = _numba().njit(_resolved(self.function), boundscheck=CHECKED, error_model="numpy", nogil=self.long)
                self._dispatcher._cache = _Cache(self.function, self.long)
            return self._dispatcher

    @property
    def address(self) -> int:
        """Where a prototype of the same signature can call this kernel."""
        if not JIT:
            return _python_address(self.function)
        if self._address is None:
            self.load()  # several threads may find the same address
            # as a callee it may have been compiled for writable arrays too
            arguments = tuple(_numba_type(n, a) for n, a in self.signature[:-1])
            result = self._dispatcher.overloads[arguments]
            self._address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        return self._address


class Prototype:
    """A signature that kernels are called by: `P(address, *arguments)` inside kernels."""

    def __init__(self, function: Callable):
        self.signature = _signature(function)
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._intrinsic: Any = None

    def __call__(self, address: int, *args: Any) -> Any:
        return _python_functions[address](*args)

    def admits(self, kernel: Kernel) -> bool:
        """Whether the kernel has this signature, names of read-only arguments aside."""

        def kinds(signature: list[tuple[str, str]]) -> list[tuple[str, bool]]:
            return [(a, n.endswith("_out")) for n, a in signature]

        return kinds(self.signature) == kinds(kernel.signature)

    def callback(self, function: Callable) -> int:
        """The address of a Python function over the same arguments. The function must not raise."""
        if not JIT:
            return _python_address(function)
        slots: list[Any] = [ctypes.c_void_p, ctypes.c_void_p]
        readers: list[tuple[str, int, bool]] = []
        for name, annotation in self.signature[:-1]:
            readers.append((annotation, len(slots), name.endswith("_out")))
            if annotation in ("Floats", "Ints"):
                word = ctypes.c_ssize_t
                slots += [ctypes.c_void_p, ctypes.c_void_p, word, word, ctypes.c_void_p, word, word]
            else:
                slots.append(ctypes.c_double if annotation == "float" else ctypes.c_int64)

        def view(raw: tuple, annotation: str, at: int, writable: bool) -> Any:
            if annotation not in ("Floats", "Ints"):
                return raw[at]
            dtype = np.float64 if annotation == "Floats" else np.int64
            size = raw[at + 5]
            if size == 0:
                return np.empty(0, dtype)
            array = np.frombuffer((ctypes.c_char * (8 * size)).from_address(raw[at + 4]), dtype)
            array.flags.writeable = writable
            return array

        def trampoline(*raw: Any) -> int:
            function(*(view(raw, *reader) for reader in readers))
            return 0

        c_function = ctypes.CFUNCTYPE(ctypes.c_int32, *slots)(trampoline)
        address = ctypes.cast(c_function, ctypes.c_void_p).value
        assert address is not None
        _kept_alive[address] = c_function
        return address

    @property
    def dispatcher(self) -> Any:
        with _making:
            if self._intrinsic is None:
                arguments = tuple(_numba_type(n, a) for n, a in self.signature[:-1])
                self._intrinsic = _make_intrinsic(arguments, _numba_type(*self.signature[-1]))
            return self._intrinsic


def kernel(function: Callable) -> Kernel:
    """Decorator: a kernel with the signature of its annotations."""
    return Kernel(function)


def long_kernel(function: Callable) -> Kernel:
    """Decorator: a kernel that works for long when Python calls it, and releases Python's lock meanwhile."""
    return Kernel(function, long=True)


class OpenKernel:
    """A kernel that leaves open what some names in it mean: one loop for several laws, which are devices."""

    def __init__(self, function: Callable):
        self.function = function

    def filled(self, name: str, **devices: Device) -> Kernel:
        """The kernel of that name, in the file of these devices, with them for its open names."""
        function, at = self.function, next(iter(devices.values())).function
        made = types.FunctionType(function.__code__, function.__globals__ | devices, name)
        made.__annotations__, made.__doc__ = function.__annotations__, function.__doc__
        made.__module__, made.__qualname__ = at.__module__, name
        return Kernel(made)


def open_kernel(function: Callable) -> OpenKernel:
    """Decorator: a kernel with open names, which stand in its file as `name: Any = None`."""
    return OpenKernel(function)


def device(function: Callable) -> Device:
    """Decorator: a function that kernels call."""
    return Device(function)


def inlined(function: Callable) -> Device:
    """Decorator: a function that becomes part of every kernel and device that calls it."""
    return Device(function, inlined=True)


def prototype(function: Callable) -> Prototype:
    """Decorator: the signature (annotations only) by which kernels are called through their address."""
    return Prototype(function)


def prototype_of(kernel: Kernel) -> Prototype:
    """The signature of a kernel, by which others call it through its address: it is compiled once, and not again as a part of them."""
    return Prototype(kernel.function)


_python_functions: dict[int, Callable] = {}
_python_addresses: dict[Callable, int] = {}
_kept_alive: dict[int, Any] = {}


def _python_address(function: Callable) -> int:
    address = _python_addresses.setdefault(function, len(_python_addresses) + 1)
    _python_functions[address] = function
    return address


@cache
def _numba() -> Any:
    import numba

    return numba


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _resolved(function: Callable) -> Callable:
    """The function with the kernels, devices and prototypes that it names replaced by what numba understands."""
    scope = dict(function.__globals__)
    for name in set(_names(function.__code__)):
        if isinstance(scope.get(name), Kernel | Device | Prototype):
            scope[name] = scope[name].dispatcher
    copy = types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return copy


def _make_intrinsic(arguments: tuple, result: Any) -> Any:
    from numba.core import cgutils
    from numba.core import types as nt
    from numba.extending import intrinsic

    def call(typing_context, address, *args):
        def codegen(context, builder, signature, values):
            function_type = context.call_conv.get_function_type(result, arguments)
            pointer = builder.inttoptr(values[0], function_type.as_pointer())
            unpacked = [_lent(context, builder, t, x) for t, x in zip(arguments, cgutils.unpack_tuple(builder, values[1]), strict=True)]
            status, value = context.call_conv.call_function(builder, pointer, result, arguments, unpacked)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return context.get_dummy_value() if result == nt.void else value

        return result(nt.int64, nt.StarArgTuple(arguments)), codegen

    return intrinsic(call)


def _lent(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An argument as its callee gets it: arrays without their counters of references, which cost more than a small kernel's work.

    They are kept alive by whoever called first, and kernels keep nothing."""
    if not hasattr(kind, "ndim"):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = array.meminfo.type(None)
    array.parent = array.parent.type(None)
    return array._getvalue()


def _make_slot() -> Any:
    """`part` of an arena (see `unibody.arena`) as an array that counts no references."""
    from numba.core import types as nt
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    def part(typing_context, arena, layout, slot):
        def generate(context, builder, sig, args):
            whole, places = (context.make_array(t)(context, builder, a) for t, a in zip(sig.args[:2], args[:2], strict=True))
            first = builder.shl(args[2], args[2].type(1))
            start = builder.load(builder.gep(places.data, [first]))
            end = builder.load(builder.gep(places.data, [builder.add(first, first.type(1))]))
            out = context.make_array(arena)(context, builder)
            size, stride = builder.sub(end, start), start.type(8)
            populate_array(out, builder.gep(whole.data, [start]), [size], [stride], stride, None)
            return out._getvalue()

        return arena(arena, layout, nt.intp), generate

    return intrinsic(part)


slot_of = Primitive(lambda arena, layout, slot: arena[layout[2 * slot] : layout[2 * slot + 1]], _make_slot)


def _make_cut() -> Any:
    """Numbers of an array from a place on as an array that counts no references and is not checked."""
    from numba.core import types as nt
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    def cut(typing_context, array, start, size):
        def generate(context, builder, sig, args):
            whole = context.make_array(sig.args[0])(context, builder, args[0])
            out = context.make_array(array)(context, builder)
            stride = args[2].type(8)
            populate_array(out, builder.gep(whole.data, [args[1]]), [args[2]], [stride], stride, None)
            return out._getvalue()

        return array(array, nt.intp, nt.intp), generate

    return intrinsic(cut)


cut = Primitive(lambda array, start, size: array[start : start + size], _make_cut)
"""`cut(array, start, size)`: so many numbers of it, which the caller knows to be there. A slice says the same, but looks for its ends
beyond the array's and counts references: in a kernel with a hundred of them that takes long to compile, and to run."""


def _make_prefetch() -> Any:
    """Ask for the cache line of a number that will be needed; the place may lie outside the array."""
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core import types as nt
    from numba.extending import intrinsic

    def ask(typing_context, array, at):
        def generate(context, builder, sig, args):
            whole = context.make_array(sig.args[0])(context, builder, args[0])
            pointer = builder.bitcast(builder.gep(whole.data, [args[1]]), cgutils.voidptr_t)
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
            function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
            reading, every_cache, data = number(0), number(3), number(1)
            builder.call(function, [pointer, reading, every_cache, data])
            return context.get_dummy_value()

        return nt.void(array, nt.intp), generate

    return intrinsic(ask)


prefetch = Primitive(lambda array, at: None, _make_prefetch)
"""`prefetch(array, at)`: the way from memory begins now and not when the number is used; no result depends on it."""


def _make_array_at(dtype: str) -> Callable[[], Any]:
    """An array of so many numbers at an address, which counts no references."""

    def make() -> Any:
        from numba.core import types as nt
        from numba.extending import intrinsic
        from numba.np.arrayobj import populate_array

        kind = nt.Array(getattr(nt, dtype), 1, "C")

        def lent(typing_context, address, size):
            def generate(context, builder, sig, args):
                out = context.make_array(kind)(context, builder)
                stride = args[1].type(8)
                populate_array(out, builder.inttoptr(args[0], out.data.type), [args[1]], [stride], stride, None)
                return out._getvalue()

            return kind(nt.int64, nt.intp), generate

        return intrinsic(lent)

    return make


def _array_at(number: Any, dtype: Any) -> Callable[[int, int], np.ndarray]:
    def array(address: int, size: int) -> np.ndarray:
        return np.frombuffer((number * int(size)).from_address(int(address)), dtype) if size else np.empty(0, dtype)

    return array


floats_at = Primitive(_array_at(ctypes.c_double, np.float64), _make_array_at("float64"))
ints_at = Primitive(_array_at(ctypes.c_int64, np.int64), _make_array_at("int64"))
"""`floats_at(address, size)`: numbers that someone else keeps alive; see `solvers.articulated.prebound_call` and `arena.CallFrame`."""


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Python looks for no garbage meanwhile: there is little among the compiler's objects, and to look takes a seventh of its time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextlib.contextmanager
def _told_our_way() -> Iterator[None]:
    """While our kernels compile, the compiler works as they need it; for others in the same process it stays as it was.

    * LLVM may pack scalar operations into vector ones (superword-level parallelism). Sums keep their order, so results keep their bits;
      the tree elimination gains a tenth. numba has it off by default.
    * LLVM makes no gathers (`_tuned`).

    numba's own lock is held, so that nobody else compiles meanwhile.
    """
    from numba.core.compiler_lock import global_compiler_lock

    config, codegen = _numba().config, _codegen()
    with global_compiler_lock:
        before = config.SLP_VECTORIZE, codegen._tm
        config.SLP_VECTORIZE, codegen._tm = 1, _tuned_machine(codegen, _tuned(codegen)) or codegen._tm
        try:
            yield
        finally:
            config.SLP_VECTORIZE, codegen._tm = before


def _codegen() -> Any:
    from numba.core.registry import cpu_target

    return cpu_target.target_context.codegen()


NO_GATHERS = "prefer-no-gather"


def _tuned(codegen: Any) -> str:
    """The features of the processor that our kernels are optimised for: the compiler's own, and on x86 that gathers are slow.

    A gather is one instruction that loads from several places. On Intel processors whose microcode guards against gather data sampling
    (Skylake to Ice Lake and their kin) it takes several times as long as the loads one by one; elsewhere it gains little. Features
    that the user gives by `NUMBA_CPU_FEATURES` are kept, and if they speak of gathers, they decide.
    """
    import llvmlite.binding as llvm

    triple, _, features = codegen.magic_tuple()
    known = triple.startswith(("x86_64", "i386", "i686")) and getattr(llvm, "llvm_version_info", (0,)) >= (17,)
    if not known or NO_GATHERS in features:
        return features
    return f"{features},+{NO_GATHERS}" if features else f"+{NO_GATHERS}"


@cache
def _tuned_machine(codegen: Any, features: str) -> Any:
    """What LLVM's passes ask about the processor: as numba makes it, with other features. None where it would be the same."""
    import llvmlite.binding as llvm

    if features == codegen.magic_tuple()[2]:
        return None
    options = {"opt": _numba().config.OPT}
    codegen._customize_tm_options(options)
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(**options | {"features": features})


def _digest_of(function: Callable) -> str:
    """A digest of all that a function's machine code depends on: its own code, that of all it calls, and the constants it names."""
    known = _digests.get(function)
    if known is None:
        _digests[function] = "recursive"  # what calls itself is told apart by the rest of its code
        # where it stands too: compiled code names the modules that it was made of
        digest = hashlib.sha256(repr((function.__module__, sorted(function.__annotations__.items()), function.__defaults__)).encode())
        for word in _code_words(function.__code__):
            digest.update(word)
        scope = function.__globals__ | dict(zip(function.__code__.co_freevars, (c.cell_contents for c in function.__closure__ or ())))
        for name in sorted(set(_names(function.__code__)) | set(function.__code__.co_freevars)):
            if name in scope:
                digest.update(f"{name}={_value_word(scope[name])};".encode())
        known = _digests[function] = digest.hexdigest()
    return known


_digests: dict[Callable, str] = {}


def length(function: Callable) -> int:
    """Bytes of Python's own code in a function and in all that it calls, each counted once: what there is to compile."""
    todo, seen = [function], set()
    while todo:
        if (one := todo.pop()) not in seen:
            seen.add(one)
            called = (one.__globals__.get(name) for name in set(_names(one.__code__)))
            todo += [each.function for each in called if isinstance(each, Kernel | Device) and not isinstance(each, Primitive)]
    return sum(len(one.__code__.co_code) for one in seen)


def _code_words(code: types.CodeType) -> Iterator[bytes]:
    """What the compiler reads of a function, without the lines it stands on."""
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)).encode()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_words(constant)
        else:
            yield repr(constant).encode()


def _value_word(value: Any) -> str:
    """What a global name contributes to the code of a function that names it."""
    if isinstance(value, Kernel | Device):
        primitive = _file_digest(__file__) + _file_digest(value._make.__code__.co_filename) if isinstance(value, Primitive) else ""
        return f"{type(value).__name__} {getattr(value, 'inlined', '')} {primitive} {_digest_of(value.function)}"
    if isinstance(value, Prototype):
        return f"prototype {value.signature}"
    if isinstance(value, types.ModuleType):
        ours = value.__name__.split(".")[0] not in ("numpy", "math") and getattr(value, "__file__", None)
        return f"module {value.__name__} {_file_digest(value.__file__) if ours and value.__file__ else ''}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value)).hexdigest()}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"int {int(value)}"
    if isinstance(value, type) or callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    return f"{type(value).__name__} {value!r}"


@cache
def _recipe() -> str:
    """A digest of how functions of any kind are handed to the compiler: an edit here changes the code of all of them."""
    import llvmlite

    digest = hashlib.sha256(llvmlite.__version__.encode())
    told = _told_our_way.__wrapped__  # type: ignore[attr-defined]
    getters = [each.dispatcher.fget for each in (Device, Kernel, Prototype)]
    for function in (_resolved, _numba_type, _make_intrinsic, _lent, told, _tuned, _tuned_machine.__wrapped__, *getters):
        for word in _code_words(function.__code__):
            digest.update(word)
    return digest.hexdigest()


@cache
def _file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class _Cache:
    """What numba asks of a cache, over the files of `unibody.kernel_cache`."""

    def __init__(self, function: Callable, long: bool):
        self._name, self._function, self._long = f"{function.__module__}.{function.__qualname__}", function, long

    @property
    def cache_path(self) -> str:
        return str(kernel_cache.folder())

    def _file(self, signature: Any, codegen: Any) -> str:
        """The kernel's file: named by its code, its signature, the compiler, the processor and how they were told to work."""
        numba = _numba()
        told = (CHECKED, numba.config.OPT, numba.config.LOOP_VECTORIZE, numba.config.SLP_VECTORIZE, self._long, _recipe())
        made_by = (sys.version_info[:3], numba.__version__, codegen.magic_tuple(), _tuned(codegen))
        key = repr((self._name, _digest_of(self._function), signature, made_by, told))
        return f"{self._name[-80:]}-{hashlib.sha256(key.encode()).hexdigest()[:32]}"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        from numba.core.compiler import CompileResult

        target_context.refresh()
        name = self._file(signature, target_context.codegen())
        content = kernel_cache.read(name)
        if content is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception as error:  # whatever another version of the compiler may have left there
            kernel_cache.discard(name, f"cannot be used ({error})")
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        from numba.core.serialize import dumps

        if result.lifted or result.library.has_dynamic_globals:
            return  # holds addresses of this process
        kernel_cache.write(self._file(signature, result.codegen), dumps(result._reduce()))

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...
