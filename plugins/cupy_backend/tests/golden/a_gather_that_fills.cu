// a gather that fills
// Layout(kind='map', integer='i32', vector=1, access=('linear',), kept=2, reduced=0, places=(0, 1))
// Sizes(arguments=(20, 4), grid=(1, 1), lanes=1, parts=1)
__device__ inline void tenferro_map_b33997feba691c80_element(f64 v0, f64& y0) {
  const f64 v1 = add(v0, v0);
  y0 = v1;
}
extern "C" __global__ void tenferro_map_b33997feba691c80(const f64* r0a0, const i64* r0a1, f64* out0, i32 count, i32 kept1, i32 r0n0, i32 r0s0_0, i32 r0s0_1, i32 r0s1_0, i32 r0s1_1) {
  const i32 first = i32(blockIdx.x) * blockDim.x + threadIdx.x;
  const i32 step = i32(gridDim.x) * blockDim.x;
  for (i32 i = first; i < count; i += step) {
    const i32 c1 = i % kept1;
    const i32 rest1 = i / kept1;
    const i32 c0 = rest1;
    i64 r0b0 = start_of(r0a1[c0 * r0s1_0]);
    const f64 r0 = r0b0 == clipped(r0b0, r0n0) ? r0a0[i32(r0b0) * r0s0_0 + c1 * r0s0_1] : convert<f64>(0);
    tenferro_map_b33997feba691c80_element(r0, out0[i]);
  }
}
