// Inverse trigonometric and hyperbolic functions of complex numbers, with the branch cuts and
// special values of C99, annex G. All compute in double: parts of results next to the cuts are
// differences of hypotenuses.
//
// Hull, Fairgrieve and Tang, Implementing the complex arcsine and arccosine functions using
// exception handling (1997); Kahan, Branch cuts for complex elementary functions (1987).
// Errors, measured on the CPU beside 60 digits, in units in the last place of the result's size: 3.
// Read next: complex_powers.cuh.

#define D __device__ inline
D f64 epsilon() { return 2.220446049250313e-16; }
D f64 half_pi() { return 1.5707963267948966; }
D bool is_large(f64 x, f64 y) { return abs(x) > 1 / epsilon() || abs(y) > 1 / epsilon(); }
D bool is_tiny(f64 x, f64 y) { return abs(x) < 9e-9 && abs(y) < 9e-9; }  // z³ / 6 is rounded away
D bool is_nan(complex<f64> z) { return z.re != z.re || z.im != z.im; }
D complex<f64> swapped(complex<f64> z) { return {z.im, z.re}; }

// (r - b) / 2, where r = √(a² + b²).
D f64 half_excess(f64 a, f64 b, f64 r) {
  return b < 0 ? (r - b) / 2 : b == 0 ? a / 2 : a * a / (r + b) / 2;
}

// Of x + i y in the first quadrant: arcosh of a, the half sum of the distances to ±i, and the two
// sides of a right triangle whose angle is arcsin(y / a).
struct Ellipse { f64 size, along, across; };
D Ellipse ellipse(f64 x, f64 y) {
  const f64 r = hypot(x, y + 1), s = hypot(x, y - 1), a = maximum((r + s) / 2, 1.0);
  const bool is_beside = x < epsilon() * abs(y - 1);  // of the axis: x² does not count
  Ellipse e;
  if (a >= 10) e.size = log(a + sqrt(a * a - 1));
  else if (y == 1 && x < epsilon() * epsilon() / 128) e.size = sqrt(x);
  else if (!is_beside) {
    const f64 excess = half_excess(x, 1 + y, r) + half_excess(x, 1 - y, s);
    e.size = log1p(excess + sqrt(excess * (a + 1)));
  } else if (y < 1) e.size = x / sqrt((1 - y) * (1 + y));
  else e.size = log1p((y - 1) + sqrt((y - 1) * (y + 1)));
  e.along = y;
  if (y / a <= 0.6417) e.across = sqrt((a - y) * (a + y));
  else if (y == 1 && x < epsilon() / 128) e.across = sqrt(x) * sqrt((a + y) / 2);
  else if (!is_beside) {
    e.across = sqrt((half_excess(x, y + 1, r) + half_excess(x, y - 1, s)) * (a + y));
  } else if (y > 1) {  // scaled, because x may be tiny
    const f64 scale = 4 / epsilon() / epsilon();
    e.across = x * scale * y / sqrt((y + 1) * (y - 1));
    e.along = y * scale;
  } else e.across = sqrt((1 - y) * (1 + y));
  return e;
}

D complex<f64> asinh(complex<f64> z) {
  const f64 x = z.re, y = z.im;
  if (is_nan(z)) {
    if (is_infinite(x)) return {x, y};
    if (is_infinite(y)) return {abs(y), x};
    return {x + y, y == 0 ? y : x + y};
  }
  if (is_tiny(x, y)) return z;
  if (is_large(x, y)) {
    const complex<f64> w = log(complex<f64>{abs(x), abs(y)});
    return {copysign(w.re + 0.6931471805599453, x), copysign(w.im, y)};
  }
  const Ellipse e = ellipse(abs(x), abs(y));
  return {copysign(e.size, x), copysign(atan2(e.along, e.across), y)};
}
D complex<f64> acos(complex<f64> z) {
  const f64 x = z.re, y = z.im;
  if (is_nan(z)) {
    if (is_infinite(x)) return {y, -abs(x)};
    if (is_infinite(y)) return {x, -y};
    return {x == 0 ? half_pi() : x + y, x + y};
  }
  if (is_large(x, y)) {
    const complex<f64> w = log(z);
    return {abs(w.im), copysign(w.re + 0.6931471805599453, -y)};
  }
  if (is_tiny(x, y)) return {half_pi() - (x - 6.123233995736766e-17), -y};
  const Ellipse e = ellipse(abs(y), abs(x));
  return {atan2(e.across, copysign(e.along, x)), copysign(e.size, -y)};
}
D complex<f64> atanh(complex<f64> z) {
  const f64 x = z.re, y = z.im, a = abs(x), b = abs(y);
  if (y == 0 && a <= 1) return {atanh(x), y};
  if (x == 0) return {x, atan(y)};
  if (is_nan(z)) {
    if (is_infinite(x)) return {copysign(0.0, x), y};
    if (is_infinite(y)) return {copysign(0.0, x), copysign(half_pi(), y)};
    return {x + y, x + y};
  }
  if (is_large(x, y)) {  // 1 / z, and the cut
    const f64 ratio = a >= b ? y / x : x / y, below = 1 + ratio * ratio;
    const bool is_end = is_infinite(x) || is_infinite(y);
    const f64 re = is_end ? copysign(0.0, x) : a >= b ? 1 / x / below : ratio / y / below;
    return {re, copysign(half_pi(), y)};
  }
  if (is_tiny(x, y)) return z;
  const f64 square = b * b, product = (1 - a) * (1 + a);
  const f64 re = a == 1 && b < epsilon() ? (0.6931471805599453 - log(b)) / 2
                                         : log1p(4 * a / ((a - 1) * (a - 1) + square)) / 4;
  const f64 im = a == 1 ? atan2(2.0, -b) / 2 : atan2(2 * b, product - square) / 2;
  return {copysign(re, x), copysign(im, y)};
}
D complex<f64> asin(complex<f64> z) { return swapped(asinh(swapped(z))); }
D complex<f64> atan(complex<f64> z) { return swapped(atanh(swapped(z))); }
D complex<f64> acosh(complex<f64> z) {
  const complex<f64> w = acos(z);
  return {abs(w.im), z.im != z.im ? w.re : copysign(w.re, z.im)};
}
#define IN_DOUBLE(name) D complex<f32> name(complex<f32> z) { \
  const complex<f64> w = name(complex<f64>{z.re, z.im}); return {f32(w.re), f32(w.im)}; }
IN_DOUBLE(asin) IN_DOUBLE(acos) IN_DOUBLE(atan) IN_DOUBLE(asinh) IN_DOUBLE(acosh) IN_DOUBLE(atanh)
#undef IN_DOUBLE
#undef D
