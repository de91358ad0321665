// Complex powers of complex numbers, with NumPy's special values.
//
// An integer exponent below 100 in size means products; any other power is exp(y log x). All
// compute in double. Errors, measured on the CPU beside 60 digits, in units in the last place of
// the result's size: of c64 1; of c128 2 + n for the exponent ±n, and 3 + 2 |y log x| for any other one.
// Read next: indexing.cuh.

#define D __device__ inline
D c128 undefined_power() {
  const f64 nan = same_bits<f64>(0x7ff8000000000000ull);
  return {nan, nan};
}
// x y; an infinite factor makes an infinite product (C99, annex G.5.1, example 1).
D c128 product_with_infinities(c128 x, c128 y) {
  const c128 plain = mul(x, y);
  if (plain.re == plain.re || plain.im == plain.im) return plain;
  const bool x_is_infinite = is_infinite(x.re) || is_infinite(x.im);
  const bool y_is_infinite = is_infinite(y.re) || is_infinite(y.im);
  const bool overflows = is_infinite(x.re * y.re) || is_infinite(x.im * y.im)
    || is_infinite(x.re * y.im) || is_infinite(x.im * y.re);
  if (!x_is_infinite && !y_is_infinite && !overflows) return plain;
  if (x_is_infinite) x = {copysign(f64(is_infinite(x.re)), x.re), copysign(f64(is_infinite(x.im)), x.im)};
  if (y_is_infinite) y = {copysign(f64(is_infinite(y.re)), y.re), copysign(f64(is_infinite(y.im)), y.im)};
  f64* const parts[] = {&x.re, &x.im, &y.re, &y.im};
  for (f64* part : parts)
    if (*part != *part) *part = copysign(0.0, *part);
  const f64 infinity = same_bits<f64>(0x7ff0000000000000ull);
  const c128 direction = mul(x, y);
  return {infinity * direction.re, infinity * direction.im};
}
// x to the power n, an integer: NumPy's products, of which the first is 1 x, except of x, x², x³.
D c128 product_power(c128 x, int n) {
  const bool is_short = n > 0 && n <= 3;
  c128 result = {1, 0};
  bool is_set = !is_short;
  for (int left = n < 0 ? -n : n;; x = square(x)) {
    if (left & 1) { result = is_set ? mul(result, x) : x; is_set = true; }
    left >>= 1;
    if (!left) return n < 0 ? reciprocal(result) : result;
  }
}
D c128 pow(c128 x, c128 y) {
  if (y.re == 0 && y.im == 0) return {1, 0};
  if (x.re == 0 && x.im == 0) return y.re > 0 ? c128{0, 0} : undefined_power();
  const bool is_integer = y.im == 0 && y.re == rint(y.re);
  if (is_integer && abs(y.re) < 100) return product_power(x, int(y.re));
  return exp(product_with_infinities(y, log(x)));
}
D c64 pow(c64 x, c64 y) {
  const c128 power = pow(c128{x.re, x.im}, c128{y.re, y.im});
  return {f32(power.re), f32(power.im)};
}
// x to the power N, an integer.
template <i64 N, class R> D complex<R> fixed_power(complex<R> x) {
  return pow(x, complex<R>{R(N), R(0)});
}
#undef D
