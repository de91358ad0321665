// reduction of rows
// Layout(kind='rows', integer='i32', vector=1, access=('strided', 'strided'), kept=1, reduced=1, places=())
// Sizes(arguments=(72, 100, 128, 100, 1, 100, 1), grid=(36, 1), lanes=128, parts=1)
__device__ inline void tenferro_rows_6a578524886ba8fc_element(f64 v0, f64& y0, f64& y1, f64& y2) {
  const f64 v1 = neg(v0);
  const f64 v2 = exp(v1);
  const f64 v3 = mul(v0, v2);
  y0 = v3;
  y1 = v3;
  y2 = v3;
}
extern "C" __global__ void tenferro_rows_6a578524886ba8fc(const f64* in0, f64* out0, f64* result0, f64* result1, sum<f64>::part* parts0, largest<f64>::part* parts1, u32* counters, i32 results, i32 length, i32 lanes, i32 s0_0, i32 s0_1, i32 s1_0, i32 s1_1) {
  const int groups = blockDim.x / lanes, lane = threadIdx.x % lanes, stride = 1;
  const i32 o = i32(blockIdx.x) * groups + threadIdx.x / lanes;
  const i32 first = i32(blockIdx.y) * lanes + lane;
  const i32 step = i32(gridDim.y) * lanes;
  __shared__ sum<f64>::part shared0[256];
  __shared__ largest<f64>::part shared1[256];
  sum<f64>::part a0 = sum<f64>::start();
  largest<f64>::part a1 = largest<f64>::start();
  if (o < results) {
    const i32 c0 = o;
    for (i32 r = first; r < length; r += step) {
      const i32 c1 = r;
      f64 y0;
      f64 y1;
      tenferro_rows_6a578524886ba8fc_element(in0[c0 * s0_0 + c1 * s0_1], out0[c0 * s1_0 + c1 * s1_1], y0, y1);
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
