"""Device functions on triples (`unibody.triple`): vectors of three, and rotations as tuples of their three columns.

A symmetric 3×3 matrix is two triples, its diagonal d and what is beside it, o = (yz, zx, xy): indices go around, o_i = J_{i+1,i+2}.
"""

from __future__ import annotations

from math import factorial

from unibody.kernel import device
from unibody.triple import back, fetch, minus, plus, put, turn


@device
def crossed(a, b):
    """a × b."""
    return turn(minus(a * turn(b), turn(a), b))


@device
def fetch_columns(a, k):
    """Three columns, one after the other."""
    return (fetch(a, k), fetch(a, k + 3), fetch(a, k + 6))


@device
def put_columns(R, k, a_out):
    put(R[0], k, a_out)
    put(R[1], k + 3, a_out)
    put(R[2], k + 6, a_out)


@device
def mixed(R, x, y, z):
    """R (x, y, z)."""
    return plus(plus(R[0] * x, R[1], y), R[2], z)


@device
def rotated(R, a, k):
    """R v for the vector v at a[k]."""
    return mixed(R, a[k], a[k + 1], a[k + 2])


@device
def composed(R, a, k):
    """R Q for the matrix Q at a[k], nine numbers, row-major."""
    return (mixed(R, a[k], a[k + 3], a[k + 6]), mixed(R, a[k + 1], a[k + 4], a[k + 7]), mixed(R, a[k + 2], a[k + 5], a[k + 8]))


@device
def rotated_symmetric(R, a, k):
    """R J Rᵀ, as d and o, for J = (xx, xy, xz, yy, yz, zz) at a[k]."""
    x = mixed(R, a[k], a[k + 1], a[k + 2])
    y = mixed(R, a[k + 1], a[k + 3], a[k + 4])
    z = mixed(R, a[k + 2], a[k + 4], a[k + 5])
    d = plus(plus(x * R[0], y, R[1]), z, R[2])
    o = plus(plus(turn(x) * back(R[0]), turn(y), back(R[1])), turn(z), back(R[2]))
    return d, o


@device
def times_diagonals(d, o, v):
    """J v for the symmetric J of d and o."""
    return plus(plus(d * v, back(o), turn(v)), turn(o), back(v))


QUARTERS = 0.6366197723675814
"""2/π."""

QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
"""π/2 in parts: the first two have 33 bits, so that their products with whole numbers below 2²⁰ are exact."""

WHOLE = 6755399441055744.0
"""1.5 · 2⁵²: adding and taking it off again rounds to a whole number."""

FAR = 1e5
"""Beyond this angle π needs more digits than QUARTER has."""

SINE = tuple((-1.0) ** n / factorial(2 * n + 1) for n in range(1, 9))
COSINE = tuple((-1.0) ** n / factorial(2 * n) for n in range(2, 10))
"""Coefficients of the series in x²: of (sin x)/x − 1 by x², and of cos x − 1 + x²/2 by x⁴."""


@device
def sines_cosines(x):
    """Sine and cosine of three angles below FAR (or of one, a float), to less than one unit in the last place.

    x = k π/2 + r with |r| ≤ π/4 and the little that rounding took from r; there the series; then turned by k quarters."""
    k = (x * QUARTERS + WHOLE) - WHOLE
    a = x - k * QUARTER[0]
    b = a - k * QUARTER[1]
    r = b - k * QUARTER[2]
    rest = ((b - r) - k * QUARTER[2]) + ((a - b) - k * QUARTER[1])
    z = r * r
    s = plus(SINE[6], SINE[7], z)
    c = plus(COSINE[6], COSINE[7], z)
    s = plus(SINE[5], s, z)
    c = plus(COSINE[5], c, z)
    s = plus(SINE[4], s, z)
    c = plus(COSINE[4], c, z)
    s = plus(SINE[3], s, z)
    c = plus(COSINE[3], c, z)
    s = plus(SINE[2], s, z)
    c = plus(COSINE[2], c, z)
    s = plus(SINE[1], s, z)
    c = plus(COSINE[1], c, z)
    s = plus(SINE[0], s, z)
    c = plus(COSINE[0], c, z)
    half = 0.5 * z
    most = 1.0 - half
    s = r + (r * z * s + rest * most)
    c = most + (((1.0 - most) - half) + (z * z * c - r * rest))
    # k modulo 4, in −2 … 2, and of that the odd part: sine and cosine of k quarters
    four = k - 4.0 * ((0.25 * k + WHOLE) - WHOLE)
    odd = k - 2.0 * ((0.5 * k + WHOLE) - WHOLE)
    even = 1.0 - odd * odd - 0.5 * (four - odd) * (four - odd)
    return plus(even * s, odd, c), minus(even * c, odd, s)
