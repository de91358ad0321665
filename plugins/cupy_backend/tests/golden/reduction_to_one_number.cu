// reduction to one number
// Layout(kind='whole', integer='i32', vector=2, access=('linear', 'linear'), kept=0, reduced=1, places=())
// Sizes(arguments=(1, 4096, 256), grid=(1, 1), lanes=256, parts=1)
__device__ inline void tenferro_whole_f1ea6a91b938de8f_element(f64 v0, f64& y0, f64& y1, f64& y2) {
  const f64 v1 = neg(v0);
  const f64 v2 = exp(v1);
  const f64 v3 = mul(v0, v2);
  y0 = v3;
  y1 = v3;
  y2 = v3;
}
extern "C" __global__ void tenferro_whole_f1ea6a91b938de8f(const f64* in0, f64* out0, f64* result0, f64* result1, sum<f64>::part* parts0, largest<f64>::part* parts1, u32* counters, i32 results, i32 length, i32 lanes) {
  const int groups = blockDim.x / lanes, lane = threadIdx.x % lanes, stride = 1;
  const i32 o = i32(blockIdx.x) * groups + threadIdx.x / lanes;
  const i32 first = i32(blockIdx.y) * lanes + lane;
  const i32 step = i32(gridDim.y) * lanes;
  __shared__ sum<f64>::part shared0[256];
  __shared__ largest<f64>::part shared1[256];
  sum<f64>::part a0 = sum<f64>::start();
  largest<f64>::part a1 = largest<f64>::start();
  if (o < results) {
    for (i32 p = first; p < length / 2; p += step) {
      const pack<f64, 2> p0 = reinterpret_cast<const pack<f64, 2>*>(in0)[p];
      pack<f64, 2> q0;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        f64 y0;
        f64 y1;
        tenferro_whole_f1ea6a91b938de8f_element(p0.at[j], q0.at[j], y0, y1);
        a0 = sum<f64>::combine(a0, sum<f64>::of(y0));
        a1 = largest<f64>::combine(a1, largest<f64>::of(y1));
      }
      reinterpret_cast<pack<f64, 2>*>(out0)[p] = q0;
    }
    for (i32 r = length / 2 * 2 + first; r < length; r += step) {
      f64 y0;
      f64 y1;
      tenferro_whole_f1ea6a91b938de8f_element(in0[r], out0[r], y0, y1);
      a0 = sum<f64>::combine(a0, sum<f64>::of(y0));
      a1 = largest<f64>::combine(a1, largest<f64>::of(y1));
    }
  }
  a0 = across<sum<f64>>(a0, shared0, threadIdx.x, lane, lanes, stride);
  a1 = across<largest<f64>>(a1, shared1, threadIdx.x, lane, lanes, stride);
  const bool writes = lane == 0 && o < results;
  if (gridDim.y == 1) {
    if (writes) result0[o] = sum<f64>::result(a0);
    if (writes) result1[o] = largest<f64>::result(a1);
    return;
  }
  if (writes) parts0[blockIdx.y * results + o] = a0;
  if (writes) parts1[blockIdx.y * results + o] = a1;
  __threadfence();
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(&counters[blockIdx.x], 1u) == gridDim.y - 1;
    if (is_last) counters[blockIdx.x] = 0;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  a0 = sum<f64>::start();
  a1 = largest<f64>::start();
  for (i32 part = lane; o < results && part < gridDim.y; part += lanes) {
    a0 = sum<f64>::combine(a0, parts0[part * results + o]);
    a1 = largest<f64>::combine(a1, parts1[part * results + o]);
  }
  a0 = across<sum<f64>>(a0, shared0, threadIdx.x, lane, lanes, stride);
  a1 = across<largest<f64>>(a1, shared1, threadIdx.x, lane, lanes, stride);
  if (writes) result0[o] = sum<f64>::result(a0);
  if (writes) result1[o] = largest<f64>::result(a1);
}
