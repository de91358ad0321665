// Powers of integers and floats.
//
// Powers of floats with a fixed exponent beyond 4 are the library's `pow` (functions.cuh), whose
// error does not grow with the exponent. Read next: complex.cuh.

// x to the power N by binary exponentiation: exact for integers, which wrap. Errors of complex
// numbers, measured on the CPU beside 60 digits: 2 + |N| units in the last place of the result's size.
template <i64 N, class T> __device__ inline T by_squaring(T x) {
  if (N == 0) return one<T>();
  T result = x;
  bool is_set = false;
  for (i64 n = N < 0 ? -N : N;;) {
    if (n & 1) { result = is_set ? mul(result, x) : x; is_set = true; }
    n >>= 1;
    if (!n) return N < 0 ? reciprocal(result) : result;
    x = square(x);
  }
}
// x to the power N, an integer that a float holds exactly, also where T does not.
template <i64 N, class T> __device__ inline T fixed_power(T x) {
  const auto wider = wide(x);
  return convert<T>(pow(wider, decltype(wider + 0)(N)));
}
// A negative power of an integer is truncated: 0, except of 1 and -1.
#define POWER(T) \
  __device__ inline T pow(T x, T y) { \
    const bool is_negative = traits<T>::is_signed && y < 0; \
    if (is_negative && x != 1 && x != T(-1)) return 0; \
    T result = 1; \
    for (u64 n = is_negative ? y & 1 : u64(y); n; n >>= 1, x = mul(x, x)) \
      if (n & 1) result = mul(result, x); \
    return result; \
  }
INTEGERS(POWER)
#undef POWER
