// Positions that are data. Read next: folds.cuh.

template <class T> __device__ inline i64 start_of(T x) { return i64(x); }
// Numbers beyond the largest signed one stay large.
__device__ inline i64 start_of(u64 x) { return i64(x >> 63 ? ~u64(0) >> 1 : x); }
__device__ inline i64 clipped(i64 start, i64 most) { return start < 0 ? 0 : start > most ? most : start; }
