// Functions of real numbers: those of the compiler's mathematical library, at the width of the
// operand. The types of two bytes compute in float and round once.
//
// Largest errors in units in the last place, as NVIDIA states them for float, double (CUDA C++
// Programming Guide, appendix of mathematical functions); f16 and bf16: half a unit, and the error
// in float, which is 2^13 and 2^16 times smaller.
//   exp 1, 1 · exp2 2, 1 · expm1 1, 1 · log 1, 1 · log2 1, 1 · log10 2, 1 · log1p 1, 1 · pow 4, 2
//   sin 2, 2 · cos 2, 2 · tan 4, 2 · asin 2, 2 · acos 2, 2 · atan 2, 2 · atan2 3, 2 · hypot 3, 2
//   sinh 3, 2 · cosh 2, 1 · tanh 2, 1 · asinh 3, 3 · acosh 4, 3 · atanh 3, 2 · cbrt 1, 1
//   sqrt, reciprocal, add, sub, mul, div, rounding: half a unit.
// Read next: special.cuh.

#define FUNCTION(name) \
  __device__ inline f32 name(f32 x) { return ::name##f(x); } \
  __device__ inline f64 name(f64 x) { return ::name(x); } \
  __device__ inline f16 name(f16 x) { return half_of(::name##f(wide(x))); } \
  __device__ inline bf16 name(bf16 x) { return brain_of(::name##f(wide(x))); }
#define FUNCTION_OF_TWO(name, named) \
  __device__ inline f32 name(f32 x, f32 y) { return ::named##f(x, y); } \
  __device__ inline f64 name(f64 x, f64 y) { return ::named(x, y); } \
  __device__ inline f16 name(f16 x, f16 y) { return half_of(::named##f(wide(x), wide(y))); } \
  __device__ inline bf16 name(bf16 x, bf16 y) { return brain_of(::named##f(wide(x), wide(y))); }

FUNCTION(exp) FUNCTION(exp2) FUNCTION(expm1) FUNCTION(log) FUNCTION(log2) FUNCTION(log10) FUNCTION(log1p)
FUNCTION(sin) FUNCTION(cos) FUNCTION(tan) FUNCTION(asin) FUNCTION(acos) FUNCTION(atan)
FUNCTION(sinh) FUNCTION(cosh) FUNCTION(tanh) FUNCTION(asinh) FUNCTION(acosh) FUNCTION(atanh)
FUNCTION(sqrt) FUNCTION(cbrt) FUNCTION(floor) FUNCTION(ceil) FUNCTION(rint)
FUNCTION_OF_TWO(pow, pow) FUNCTION_OF_TWO(atan2, atan2) FUNCTION_OF_TWO(hypot, hypot)
FUNCTION_OF_TWO(rem, fmod) FUNCTION_OF_TWO(copysign, copysign)

__device__ inline f32 abs(f32 x) { return ::fabsf(x); }
__device__ inline f64 abs(f64 x) { return ::fabs(x); }
__device__ inline f16 abs(f16 x) { return f16{u16(x.bits & 0x7fff)}; }
__device__ inline bf16 abs(bf16 x) { return bf16{u16(x.bits & 0x7fff)}; }
template <class T> __device__ inline T abs(T x) { return traits<T>::is_signed && x < T(0) ? neg(x) : x; }

__device__ inline f32 nextafter(f32 x, f32 y) { return ::nextafterf(x, y); }
__device__ inline f64 nextafter(f64 x, f64 y) { return ::nextafter(x, y); }

template <class T> __device__ inline T rsqrt(T x) { return reciprocal(sqrt(x)); }
template <class T> __device__ inline b8 is_finite(T x) { return wide(x) - wide(x) == 0; }
__device__ inline b8 is_infinite(f32 x) { return ::fabsf(x) == same_bits<f32>(0x7f800000u); }
__device__ inline b8 is_infinite(f64 x) { return ::fabs(x) == same_bits<f64>(0x7ff0000000000000ull); }
// e^min(x, 0) / (1 + e^-|x|): no exponential overflows.
template <class T> __device__ inline T logistic(T narrow) {
  const auto x = wide(narrow);
  return convert<T>(exp(minimum(x, decltype(x + x)(0))) / (exp(-abs(x)) + 1));
}
// max + log1p(e^-|x - y|); equal infinities have no difference.
template <class T> __device__ inline T logaddexp(T narrow_x, T narrow_y) {
  const auto x = wide(narrow_x), y = wide(narrow_y);
  if (x == y) return convert<T>(x + log(decltype(x + y)(2)));
  return convert<T>(maximum(x, y) + log1p(exp(-abs(x - y))));
}
