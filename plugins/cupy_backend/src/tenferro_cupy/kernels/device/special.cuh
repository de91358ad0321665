// The error function, its complement and its inverse.
//
// Those of floats and `erf` are the compiler's. `erfc` of doubles is ours, after Shepherd and
// Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x (1981); `erfinv` of
// doubles is the compiler's with one step of Newton. Errors in units in the last place: of float,
// as NVIDIA states them, erf 2 · erfc 4 · erfinv 2; of double, measured on the CPU beside 60 digits,
// with the error that NVIDIA states for `erf`, erf 2 · erfc 4 · erfinv 4.
// Read next: gamma.cuh.

#define D __device__ inline
D f32 fma(f32 x, f32 y, f32 z) { return ::fmaf(x, y, z); }
D f64 fma(f64 x, f64 y, f64 z) { return ::fma(x, y, z); }
// c0 + c1 u + c2 u² + …, by Horner's rule.
template <class R, class C> D R polynomial(R, C c) { return R(c); }
template <class R, class C, class... Rest> D R polynomial(R u, C c, Rest... rest) {
  return fma(polynomial(u, rest...), u, R(c));
}

FUNCTION(erf)
#define NOT_OF_DOUBLE(name) \
  D f32 name(f32 x) { return ::name##f(x); } \
  D f16 name(f16 x) { return half_of(::name##f(wide(x))); } \
  D bf16 name(bf16 x) { return brain_of(::name##f(wide(x))); }
NOT_OF_DOUBLE(erfc) NOT_OF_DOUBLE(erfinv)
#undef NOT_OF_DOUBLE

// e^-x², where x² carries its rounding error.
D f64 gaussian(f64 x) {
  const f64 square = x * x, size = exp(-square);
  return fma(-size, fma(x, x, -square), size);
}
D f64 erfc(f64 x) {
  if (!(x > 0.5)) return 1 - erf(x);
  if (x > 28) return 0;
  const f64 t = (x - 4) / (x + 4);  // interpolation at Chebyshev's points: relative error 4e-18
  return gaussian(x) / (1 + 2 * x) * polynomial(t,
    1.2329951186255526, -0.13962111684056253, 0.015379652102619027, 0.0680970542546948,
    -0.10103906603625375, 0.09373283499828751, -0.06633036581360713, 0.03716751553818893,
    -0.01619773403826592, 0.0050319699756138135, -0.0007577734486762808, -0.00019925671345040716,
    0.00015062249512264785, -2.4398983809134553e-05, -1.12247322473501e-05, 5.7086428044048145e-06,
    2.9955790685567077e-07, -8.22559563206072e-07, 6.702452833728971e-08, 1.0568025135820959e-07,
    -1.2224048303152388e-08, -1.0476718674668371e-08);
}
D f64 erfinv(f64 y) {
  const f64 x = ::erfinv(y), size = abs(y);
  if (!(size < 1) || x == 0) return x;
  const f64 excess = size < 0.75 ? erf(abs(x)) - size : (1 - size) - erfc(abs(x));
  return x - copysign(excess / (1.1283791670955126 * gaussian(x)), x);
}
#undef D
