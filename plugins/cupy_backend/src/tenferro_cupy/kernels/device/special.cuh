// Special functions. Errors in units in the last place, as NVIDIA states them for float, double:
// erf 2, 2 · erfc 4, 5 · erfinv 2, 5 · lgamma 6, 4 (outside -10.001 … -2.264, where the error is
// absolute). `digamma` is ours: computed in double for every type, 4 units of double for x > 0;
// near its zeros, and near the poles, the error is absolute (1e-14 of the larger term).
// Read next: complex.cuh.

FUNCTION(erf) FUNCTION(erfc) FUNCTION(erfinv) FUNCTION(lgamma)

// ψ(x): recurrence to x >= 10, then the asymptotic series; reflection for x < 0 (Abramowitz and
// Stegun (1964), 6.3.5, 6.3.7, 6.3.18).
__device__ inline f64 digamma(f64 x) {
  const f64 pi = 3.14159265358979323846, nan = same_bits<f64>(0x7ff8000000000000ull);
  if (x == 0) return ::copysign(same_bits<f64>(0x7ff0000000000000ull), -x);
  f64 result = 0;
  if (x < 0) {
    const f64 part = x - ::trunc(x);
    if (part == 0 || !(x - x == 0)) return nan;
    result = -pi / ::tan(pi * part);
    x = 1 - x;
  }
  f64 carried = 0;
  for (; x < 10; x += 1) carried += 1 / x;
  const f64 z = 1 / (x * x);
  const f64 series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132
    - z * (691.0 / 32760 - z / 12))))));
  return result + (::log(x) - 0.5 / x - series - carried);
}
template <class T> __device__ inline T digamma(T x) { return convert<T>(digamma(f64(wide(x)))); }
