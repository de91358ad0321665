// Complex numbers: parts, arithmetic, and exp.
//
// Products are plain, as in NumPy; quotients scale by the larger part of the divisor (Smith, 1962).
// Read next: complex_functions.cuh.

#define Z template <class R> __device__ inline complex<R>
Z make_complex(R re, R im) { return {re, im}; }
Z add(complex<R> x, complex<R> y) { return {x.re + y.re, x.im + y.im}; }
Z sub(complex<R> x, complex<R> y) { return {x.re - y.re, x.im - y.im}; }
Z mul(complex<R> x, complex<R> y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
Z neg(complex<R> x) { return {-x.re, -x.im}; }
Z conj(complex<R> x) { return {x.re, -x.im}; }
Z square(complex<R> x) { return mul(x, x); }
Z div(complex<R> x, complex<R> y) {
  const R p = abs(y.re), q = abs(y.im);
  if (p == 0 && q == 0) return {x.re / p, x.im / p};
  if (p >= q) {
    const R ratio = y.im / y.re, scale = R(1) / (y.re + y.im * ratio);
    return {(x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale};
  }
  const R ratio = y.re / y.im, scale = R(1) / (y.im + y.re * ratio);
  return {(x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale};
}
Z select(b8 condition, complex<R> x, complex<R> y) { return condition ? x : y; }
Z exp(complex<R> x) {  // special values: C99, annex G
  const R size = exp(x.re);
  if (x.im == 0) return {size, x.im};
  if (!is_finite(x.im)) {
    const bool vanishes = is_infinite(x.re) && x.re < 0;
    if (vanishes) return {R(0), copysign(R(0), x.im)};
    return {is_infinite(x.re) ? x.re : x.im - x.im, x.im - x.im};
  }
  if (is_infinite(size) && is_finite(x.re)) {  // the parts may be finite
    const R root = exp(x.re / 2);
    return {root * cos(x.im) * root, root * sin(x.im) * root};
  }
  return {size * cos(x.im), size * sin(x.im)};
}
#undef Z
template <class R> __device__ inline R real(complex<R> x) { return x.re; }
template <class R> __device__ inline R imag(complex<R> x) { return x.im; }
template <class R> __device__ inline R abs(complex<R> x) { return hypot(x.re, x.im); }
template <class R> __device__ inline b8 eq(complex<R> x, complex<R> y) { return x.re == y.re && x.im == y.im; }
template <class R> __device__ inline b8 ne(complex<R> x, complex<R> y) { return x.re != y.re || x.im != y.im; }
template <class R> __device__ inline b8 is_finite(complex<R> x) { return x.re - x.re == 0 && x.im - x.im == 0; }
