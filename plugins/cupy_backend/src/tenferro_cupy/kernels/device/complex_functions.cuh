// Functions of complex numbers with the branch cuts and special values of C99, annex G, which are
// NumPy's: sqrt and log are cut along the negative reals, and a signed zero says on which side.
//
// Errors, measured on the CPU beside 60 digits, in units in the last place of the result's size:
// exp, sqrt, log, sin, cos, sinh, cosh 2 · tan, tanh 3. On a device the functions of real numbers
// add their own (functions.cuh).
// Read next: complex_inverses.cuh.

#define Z template <class R> __device__ inline complex<R>
template <class R> __device__ inline R largest_part(complex<R> x) { return maximum(abs(x.re), abs(x.im)); }
// A number near the largest one: sums and roots of squares of larger parts may overflow.
__device__ inline f32 nearly_largest(f32) { return 1e37f; }
__device__ inline f64 nearly_largest(f64) { return 1e307; }

// Kahan, Branch cuts for complex elementary functions (1987).
Z sqrt(complex<R> z) {
  const R infinity = same_bits<f32>(0x7f800000u), y = z.im;
  R x = z.re;
  if (x == 0 && y == 0) return {R(0), y};
  if (abs(y) == infinity) return {infinity, y};
  if (x == infinity) return {x, y == y ? copysign(R(0), y) : y};
  if (x == -infinity) return {y == y ? R(0) : y, y == y ? copysign(infinity, y) : infinity};
  const R size = largest_part(z);
  const bool is_large = size > nearly_largest(size), is_small = size < 1 / nearly_largest(size);
  const R scale = is_large ? R(0.0625) : is_small ? R(1 << 28) : R(1);
  const R back = is_large ? R(4) : is_small ? R(1) / (1 << 14) : R(1);
  x *= scale;
  const R im = y * scale, t = sqrt((abs(x) + hypot(x, im)) / 2);
  const R other = abs(im) / (2 * t);
  if (x >= 0) return {t * back, copysign(other, y) * back};
  return {other * back, copysign(t, y) * back};
}

// log |z|; next to |z| = 1 as log1p(|z|² - 1) / 2, where the squares carry their rounding errors.
__device__ inline f64 log_of_size(f64 x, f64 y) {
  const f64 a = maximum(abs(x), abs(y)), b = minimum(abs(x), abs(y));
  if (a > nearly_largest(a)) return log(hypot(a / 4, b / 4)) + 1.3862943611198906;
  if (!(a > 0.5 && a < 1.5)) return log(hypot(x, y));  // of an infinity and a NaN: inf
  const f64 aa = a * a, bb = b * b;
  const f64 low = ::fma(a, a, -aa) + ::fma(b, b, -bb);
  const f64 high = aa - 1, total = high + bb, part = total - high;
  return log1p(total + ((high - (total - part)) + (bb - part) + low)) / 2;
}
__device__ inline f32 log_of_size(f32 x, f32 y) { return f32(log_of_size(f64(x), f64(y))); }
Z log(complex<R> z) { return {log_of_size(z.re, z.im), atan2(z.im, z.re)}; }

// e^|x| / 2 times a number, where e^|x| alone may overflow.
template <class R> __device__ inline R half_exp(R x, R by) {
  const R root = exp(abs(x) / 2);
  return (R(0.5) * root * by) * root;
}
Z sinh(complex<R> z) {
  const R x = z.re, y = z.im;
  if (y == 0) return {sinh(x), y};
  if (!is_finite(y)) return {x == 0 ? x : x - x != 0 ? abs(x) : y - y, y - y};
  if (!(abs(x) >= 22)) return {sinh(x) * cos(y), cosh(x) * sin(y)};
  return {half_exp(x, copysign(R(1), x) * cos(y)), half_exp(x, sin(y))};
}
Z cosh(complex<R> z) {
  const R x = z.re, y = z.im;
  if (y == 0) return {cosh(x), x == x ? y * copysign(R(1), x) : y};
  if (!is_finite(y)) return {x - x != 0 ? x * x : y - y, x == 0 ? R(0) : y - y};
  if (x == 0) return {cos(y), x * sin(y)};
  if (!(abs(x) >= 22)) return {cosh(x) * cos(y), sinh(x) * sin(y)};
  return {half_exp(x, cos(y)), half_exp(x, copysign(R(1), x) * sin(y))};
}
// Kahan (1987): no cancellation next to the poles.
Z tanh(complex<R> z) {
  const R x = z.re, y = z.im;
  if (x != x) return {x, y == 0 ? y : x};
  if (x - x != 0) return {copysign(R(1), x), copysign(R(0), is_finite(y) ? sin(y) * cos(y) : y)};
  if (!is_finite(y)) return {x == 0 ? x : y - y, y - y};
  if (abs(x) >= 22) {
    const R small = exp(-abs(x));
    return {copysign(R(1), x), 4 * sin(y) * cos(y) * small * small};
  }
  const R t = tan(y), beta = 1 + t * t, s = sinh(x), rho = sqrt(1 + s * s);
  const R below = 1 + beta * s * s;
  return {beta * rho * s / below, t / below};
}
// By the functions of i z, which share all care for large and for special numbers.
Z turned(complex<R> z) { return {-z.im, z.re}; }
Z turned_back(complex<R> z) { return {z.im, -z.re}; }
Z sin(complex<R> z) {
  const complex<R> w = turned_back(sinh(turned(z)));
  return {w.re, is_finite(z.re) || z.im == 0 ? w.im : abs(w.im)};  // an infinity is positive
}
Z cos(complex<R> z) { return cosh(turned(z)); }
Z tan(complex<R> z) { return turned_back(tanh(turned(z))); }
#undef Z
