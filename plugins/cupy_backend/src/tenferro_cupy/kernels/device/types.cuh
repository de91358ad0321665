// Element types of kernels, and conversions between them.
//
// f16 and bf16 are stored in two bytes and computed in float, with one rounding per operation, as
// NumPy does. Nothing is included, so that a runtime compiler needs no folder of headers.
// Read next: arithmetic.cuh.

typedef bool b8;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

struct f16 { u16 bits; };
struct bf16 { u16 bits; };
template <class R> struct complex { R re, im; };
typedef complex<f32> c64;
typedef complex<f64> c128;

// N elements that are read or written at once.
template <class T, int N> struct alignas(sizeof(T) * N) pack { T at[N]; };

template <class To, class From> __device__ inline To same_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "widths differ");
  union { From from; To to; } both = {x};
  return both.to;
}

#ifdef __CUDA_ARCH__
__device__ inline f32 wide(f16 x) { f32 y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
__device__ inline f16 half_of(f32 x) { f16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
__device__ inline f16 half_of(f64 x) { f16 y; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x)); return y; }
#else
__device__ inline f32 wide(f16 x) { return f32(same_bits<_Float16>(x)); }
__device__ inline f16 half_of(f32 x) { return same_bits<f16>(_Float16(x)); }
__device__ inline f16 half_of(f64 x) { return same_bits<f16>(_Float16(x)); }
#endif

__device__ inline f32 wide(bf16 x) { return same_bits<f32>(u32(x.bits) << 16); }
__device__ inline bf16 brain_of(f32 x) {  // rounds to even; a NaN stays one
  const u32 bits = same_bits<u32>(x);
  if (x != x) return bf16{u16((bits >> 16) | 0x40u)};
  return bf16{u16((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
__device__ inline bf16 brain_of(f64 x) {  // by rounding to odd, so that no value is rounded twice
  f32 y = f32(x);
  if (f64(y) != x && x == x && !(same_bits<u32>(y) & 1u)) {
    const bool up = (f64(y) < x) == (x > 0);  // the magnitude lies above y
    if (y - y == 0 || !up) y = same_bits<f32>(same_bits<u32>(y) + (up ? 1u : ~0u));
  }
  return brain_of(y);
}

// What an operation computes in: float for the types of two bytes, otherwise the type itself.
template <class T> struct computed { typedef T in; };
template <> struct computed<f16> { typedef f32 in; };
template <> struct computed<bf16> { typedef f32 in; };
template <class T> __device__ inline T wide(T x) { return x; }

// The unsigned type in which integers wrap without undefined behaviour.
template <class T> struct wrapping { typedef u32 in; };
template <> struct wrapping<i64> { typedef u64 in; };
template <> struct wrapping<u64> { typedef u64 in; };

template <class T> struct traits { static constexpr bool is_float = false, is_signed = T(-1) < T(0); };
template <> struct traits<f16> { static constexpr bool is_float = true, is_signed = true; };
template <> struct traits<bf16> { static constexpr bool is_float = true, is_signed = true; };
template <> struct traits<f32> { static constexpr bool is_float = true, is_signed = true; };
template <> struct traits<f64> { static constexpr bool is_float = true, is_signed = true; };

// ---- conversions ---------------------------------------------------------------------------------

template <class To> struct to {
  template <class From> static __device__ To of(From x) { return To(wide(x)); }
};
template <> struct to<b8> {
  template <class From> static __device__ b8 of(From x) { return wide(x) != 0; }
  template <class R> static __device__ b8 of(complex<R> x) { return x.re != 0 || x.im != 0; }
};
template <> struct to<f16> {
  template <class From> static __device__ f16 of(From x) { return half_of(f32(wide(x))); }
  static __device__ f16 of(f16 x) { return x; }
  static __device__ f16 of(f64 x) { return half_of(x); }
};
template <> struct to<bf16> {
  template <class From> static __device__ bf16 of(From x) { return brain_of(f32(wide(x))); }
  static __device__ bf16 of(bf16 x) { return x; }
  static __device__ bf16 of(f64 x) { return brain_of(x); }
};
template <class R> struct to<complex<R>> {
  template <class From> static __device__ complex<R> of(From x) { return {to<R>::of(x), R(0)}; }
  template <class Q> static __device__ complex<R> of(complex<Q> x) { return {R(x.re), R(x.im)}; }
};
template <class To, class From> __device__ inline To convert(From x) { return to<To>::of(x); }
template <class To, class From> __device__ inline To bitcast(From x) { return same_bits<To>(x); }
