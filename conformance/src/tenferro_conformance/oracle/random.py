"""Random words in exact integers, gamma variates and their moments in mpmath.

Threefry-2x32 is written from Salmon, Moraes, Dror & Shaw (SC'11), section 3.2 and table 2, gamma
variates from Marsaglia & Tsang (2000). The moments are power series and closed forms here, where
the backends integrate.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, all_indices, mp

__all__ = ["REFERENCES", "threefry"]

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
_MASK = 2**32 - 1
_ATTEMPTS = 0x20000000
_TRIES = 12


def threefry(key: tuple[int, int], counter: tuple[int, int]) -> tuple[int, int]:
    """Return both words of a block after 20 rounds."""
    schedule = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x, y = (counter[0] + key[0]) & _MASK, (counter[1] + key[1]) & _MASK
    for turn in range(20):
        count = _ROTATIONS[turn % 8]
        x = (x + y) & _MASK
        y = ((y << count | y >> (32 - count)) & _MASK) ^ x
        if turn % 4 == 3:
            group = turn // 4 + 1
            x = (x + schedule[group % 3]) & _MASK
            y = (y + schedule[(group + 1) % 3] + group) & _MASK
    return x, y


def _word(key: tuple[int, int], place: int, bits: int) -> int:
    """Return a word of 32 or 64 bits of the stream of a key."""
    if bits == 64:
        low, high = threefry(key, (place, 0))
        return low + (high << 32)
    return threefry(key, (place // 2, 0))[place % 2]


def _random_bits(params: Params, key: Tensor) -> Tensor:
    shape, batch = tuple(params["shape"]), key.shape[:-1]
    places = {index: place for place, index in enumerate(all_indices(shape))}
    bits = 64 if "64" in str(params["dtype"]) else 32

    def entry(index: tuple[int, ...]) -> int:
        mine, rest = index[: len(batch)], index[len(batch) :]
        return _word((int(key[(*mine, 0)]), int(key[(*mine, 1)])), places[rest], bits)

    return Tensor.make((*batch, *shape), entry)


# --- gamma --------------------------------------------------------------------------------------


def _signed(key: tuple[int, int], number: int, place: int) -> Any:
    """Return an odd multiple of 2⁻⁵³ in (-1, 1), for one attempt at one element."""
    word = _word(threefry(key, (number, _ATTEMPTS)), place, 64)
    whole = word - 2**64 if word >> 63 else word
    return mp.mpf((whole >> 10) | 1) / 2**53


def _log_variate(key: tuple[int, int], place: int, a: Any) -> Any:
    shape = a + 1 if a < 1 else a
    d = shape - mp.mpf(1) / 3
    log_v = mp.mpf(0)
    for attempt in range(_TRIES):
        z = mp.sqrt(2) * mp.erfinv(_signed(key, 2 * attempt, place))
        root = 1 + z / (3 * mp.sqrt(d))
        log_v = 3 * mp.log(abs(root))
        log_u = mp.log(abs(_signed(key, 2 * attempt + 1, place)))
        if root > 0 and log_u < z * z / 2 + d * (1 - root**3 + log_v):
            break
    y = mp.log(d) + log_v
    return y + mp.log(abs(_signed(key, 2 * _TRIES, place))) / a if a < 1 else y


def _random_log_gamma(params: Params, key: Tensor, a: Tensor) -> Tensor:
    batch = len(key.shape) - 1
    places = {index: place for place, index in enumerate(all_indices(a.shape[batch:]))}

    def entry(index: tuple[int, ...]) -> Any:
        mine = index[:batch]
        words = int(key[(*mine, 0)]), int(key[(*mine, 1)])
        return _log_variate(words, places[index[batch:]], a[index])

    return Tensor.make(a.shape, entry)


def _lower(k: int, a: Any, x: Any) -> Any:
    """eˣ Σ (-x)ⁿ/n! · k!/(a + n)^(k+1): the integral over v of the series of exp(-x e^-v)."""
    total, term, n = mp.mpf(0), mp.mpf(1), 0
    while n < 2 * x + 20 or abs(term) > mp.mpf(10) ** -(mp.dps + 30):
        total += term / (a + n) ** (k + 1)
        n += 1
        term *= -x / n
    return mp.exp(x) * mp.factorial(k) * total


def _upper(k: int, a: Any, y: Any) -> Any:
    """Return the k-th derivative of eˣ x^-a Γ(a) minus its lower part."""
    x, shift = mp.exp(y), mp.digamma(a) - y
    whole = mp.exp(x - a * y) * mp.gamma(a)
    factors = (1, shift, shift**2 + mp.polygamma(1, a),
               shift**3 + 3 * shift * mp.polygamma(1, a) + mp.polygamma(2, a))  # fmt: skip
    return whole * factors[k] - (-1) ** k * _lower(k, a, x)


def _gamma_moment(params: Params, a: Tensor, y: Tensor) -> Tensor:
    k = params["order"]

    def entry(a: Any, y: Any) -> Any:
        above = y > mp.log(max(a, 1))
        return _upper(k, a, y) if above else _lower(k, a, mp.exp(y))

    pairs = zip(a.flat, y.flat, strict=True)
    return Tensor(a.shape, tuple(entry(mp.mpf(p), mp.mpf(q)) for p, q in pairs))


REFERENCES: dict[str, Reference] = {
    "random_bits": _random_bits,
    "random_log_gamma": _random_log_gamma,
    "gamma_moment": _gamma_moment,
}
