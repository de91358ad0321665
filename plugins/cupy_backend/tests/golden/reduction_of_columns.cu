// reduction of columns
// Layout(kind='columns', integer='i32', vector=1, access=('strided',), kept=1, reduced=1, places=())
// Sizes(arguments=(7, 1000, 32, 1, 7), grid=(1, 2), lanes=32, parts=2)
__device__ inline void tenferro_columns_6ff697b7971df931_element(c64 v0, f32& y0) {
  const f32 v1 = abs(v0);
  const f32 v2 = square(v1);
  y0 = v2;
}
extern "C" __global__ void tenferro_columns_6ff697b7971df931(const c64* in0, f32* result0, sum<f32>::part* parts0, u32* counters, i32 results, i32 length, i32 lanes, i32 s0_0, i32 s0_1) {
  const int groups = blockDim.x / lanes, lane = threadIdx.x / groups, stride = groups;
  const i32 o = i32(blockIdx.x) * groups + threadIdx.x % groups;
  const i32 first = i32(blockIdx.y) * lanes + lane;
  const i32 step = i32(gridDim.y) * lanes;
  __shared__ sum<f32>::part shared0[256];
  sum<f32>::part a0 = sum<f32>::start();
  if (o < results) {
    const i32 c0 = o;
    for (i32 r = first; r < length; r += step) {
      const i32 c1 = r;
      f32 y0;
      tenferro_columns_6ff697b7971df931_element(in0[c0 * s0_0 + c1 * s0_1], y0);
      a0 = sum<f32>::combine(a0, sum<f32>::of(y0));
    }
  }
  a0 = across<sum<f32>>(a0, shared0, threadIdx.x, lane, lanes, stride);
  const bool writes = lane == 0 && o < results;
  if (gridDim.y == 1) {
    if (writes) result0[o] = sum<f32>::result(a0);
    return;
  }
  if (writes) parts0[blockIdx.y * results + o] = a0;
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
  a0 = sum<f32>::start();
  for (i32 part = lane; o < results && part < gridDim.y; part += lanes) {
    a0 = sum<f32>::combine(a0, parts0[part * results + o]);
  }
  a0 = across<sum<f32>>(a0, shared0, threadIdx.x, lane, lanes, stride);
  if (writes) result0[o] = sum<f32>::result(a0);
}
