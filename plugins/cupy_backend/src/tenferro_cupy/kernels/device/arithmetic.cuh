// Arithmetic, comparisons, logic on bits, and rounding, for every element type.
//
// Integers wrap; their division truncates and gives 0 where the divisor is 0. Read next:
// functions.cuh.

#define FLOATS(define, ...) define(f16, ##__VA_ARGS__) define(bf16, ##__VA_ARGS__) define(f32, ##__VA_ARGS__) define(f64, ##__VA_ARGS__)
#define INTEGERS(define, ...) define(i8, ##__VA_ARGS__) define(i16, ##__VA_ARGS__) define(i32, ##__VA_ARGS__) define(i64, ##__VA_ARGS__) \
  define(u8, ##__VA_ARGS__) define(u16, ##__VA_ARGS__) define(u32, ##__VA_ARGS__) define(u64, ##__VA_ARGS__)

#define OPERATOR(T, name, sign) \
  __device__ inline T name(T x, T y) { return to<T>::of(wide(x) sign wide(y)); }
#define WRAPS(T, name, sign) \
  __device__ inline T name(T x, T y) { typedef wrapping<T>::in W; return T(W(x) sign W(y)); }
FLOATS(OPERATOR, add, +)
FLOATS(OPERATOR, sub, -)
FLOATS(OPERATOR, mul, *)
FLOATS(OPERATOR, div, /)
INTEGERS(WRAPS, add, +)
INTEGERS(WRAPS, sub, -)
INTEGERS(WRAPS, mul, *)
#undef OPERATOR
#undef WRAPS

#define NEGATED(T) \
  __device__ inline T neg(T x) { return to<T>::of(-wide(x)); }
FLOATS(NEGATED)
#undef NEGATED
#define NEGATED(T) \
  __device__ inline T neg(T x) { return sub(T(0), x); } \
  __device__ inline T div(T x, T y) { \
    if (y == 0) return T(0); \
    return traits<T>::is_signed && y == T(-1) ? neg(x) : T(x / y); \
  } \
  __device__ inline T rem(T x, T y) { \
    return y == 0 || (traits<T>::is_signed && y == T(-1)) ? T(0) : T(x % y); \
  }
INTEGERS(NEGATED)
#undef NEGATED

template <class T> __device__ inline T positive(T x) { return x; }
template <class T> __device__ inline T square(T x) { return mul(x, x); }
template <class T> __device__ inline T one() { return convert<T>(1.0f); }
template <class T> __device__ inline T reciprocal(T x) { return div(one<T>(), x); }

// ---- order ---------------------------------------------------------------------------------------

template <class T> __device__ inline b8 eq(T x, T y) { return wide(x) == wide(y); }
template <class T> __device__ inline b8 ne(T x, T y) { return wide(x) != wide(y); }
template <class T> __device__ inline b8 lt(T x, T y) { return wide(x) < wide(y); }
template <class T> __device__ inline b8 le(T x, T y) { return wide(x) <= wide(y); }
template <class T> __device__ inline b8 gt(T x, T y) { return wide(x) > wide(y); }
template <class T> __device__ inline b8 ge(T x, T y) { return wide(x) >= wide(y); }
template <class T> __device__ inline b8 is_nan(T x) { return ne(x, x); }
template <class T> __device__ inline T maximum(T x, T y) { return is_nan(x) || ge(x, y) ? x : y; }
template <class T> __device__ inline T minimum(T x, T y) { return is_nan(x) || le(x, y) ? x : y; }
template <class T> __device__ inline T clamp(T lo, T x, T hi) { return minimum(maximum(x, lo), hi); }
template <class T> __device__ inline T select(b8 condition, T x, T y) { return condition ? x : y; }
template <class T> __device__ inline T sign(T x) {  // NaN and zeros stay what they are
  const T zero = convert<T>(0);
  return gt(x, zero) ? one<T>() : traits<T>::is_signed && lt(x, zero) ? convert<T>(-1) : x;
}

// ---- bits ----------------------------------------------------------------------------------------

__device__ inline b8 logical_and(b8 x, b8 y) { return x && y; }
__device__ inline b8 logical_or(b8 x, b8 y) { return x || y; }
__device__ inline b8 logical_xor(b8 x, b8 y) { return x != y; }
__device__ inline b8 logical_not(b8 x) { return !x; }
__device__ inline b8 bit_not(b8 x) { return !x; }
template <class T> __device__ inline T bit_and(T x, T y) { return T(x & y); }
template <class T> __device__ inline T bit_or(T x, T y) { return T(x | y); }
template <class T> __device__ inline T bit_xor(T x, T y) { return T(x ^ y); }
template <class T> __device__ inline T bit_not(T x) { return T(~x); }
// A count that is negative or as large as the width shifts everything out.
template <class T> __device__ inline b8 shifts_out(T count) { return u64(i64(count)) >= 8 * sizeof(T); }
template <class T> __device__ inline T shift_left(T x, T count) {
  typedef typename wrapping<T>::in W;
  return shifts_out(count) ? T(0) : T(W(x) << int(count));
}
template <class T> __device__ inline T shift_right(T x, T count) {
  if (!shifts_out(count)) return T(x >> int(count));
  return traits<T>::is_signed ? T(x >> (8 * sizeof(T) - 1)) : T(0);
}
