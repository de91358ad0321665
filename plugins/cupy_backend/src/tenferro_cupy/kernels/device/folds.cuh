// Reductions: what a fold starts with, how two parts combine, and the sum over the threads of a block.
//
// Sums and products of two-byte floats are kept in float. The order of combination follows from
// the shape alone, never from timing, so results are the same bits at every run.

template <class T> struct sum {
  typedef typename computed<T>::in part;
  static __device__ part start() { return convert<part>(0); }
  static __device__ part of(T x) { return wide(x); }
  static __device__ part combine(part x, part y) { return add(x, y); }
  static __device__ T result(part x) { return convert<T>(x); }
};
template <class T> struct product {
  typedef typename computed<T>::in part;
  static __device__ part start() { return convert<part>(1); }
  static __device__ part of(T x) { return wide(x); }
  static __device__ part combine(part x, part y) { return mul(x, y); }
  static __device__ T result(part x) { return convert<T>(x); }
};
// Part of an extreme: whether there is a value yet, and the value; no type needs a least number.
template <class T> struct found { T value; b8 is_set; };
template <class T> struct largest {
  typedef found<T> part;
  static __device__ part start() { return {convert<T>(0), false}; }
  static __device__ part of(T x) { return {x, true}; }
  static __device__ part combine(part x, part y) {
    return !x.is_set ? y : !y.is_set ? x : part{maximum(x.value, y.value), true};
  }
  static __device__ T result(part x) { return x.value; }
};
template <class T> struct smallest : largest<T> {
  typedef found<T> part;
  static __device__ part combine(part x, part y) {
    return !x.is_set ? y : !y.is_set ? x : part{minimum(x.value, y.value), true};
  }
};
template <class T> struct all {
  typedef b8 part;
  static __device__ b8 start() { return true; }
  static __device__ b8 of(T x) { return convert<b8>(x); }
  static __device__ b8 combine(b8 x, b8 y) { return x && y; }
  static __device__ T result(b8 x) { return convert<T>(x); }
};
template <class T> struct any : all<T> {
  static __device__ b8 start() { return false; }
  static __device__ b8 combine(b8 x, b8 y) { return x || y; }
};

// Combine the parts of `lanes` threads, `stride` places from each to the next; every thread of the block
// must come here. All of the lanes receive the result.
template <class F> __device__ inline typename F::part across(
    typename F::part mine, typename F::part* shared, int place, int lane, int lanes, int stride) {
  __syncthreads();
  shared[place] = mine;
  for (int half = lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) shared[place] = F::combine(shared[place], shared[place + half * stride]);
  }
  __syncthreads();
  return shared[place - lane * stride];
}
