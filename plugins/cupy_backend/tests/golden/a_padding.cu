// a padding
// Layout(kind='map', integer='i32', vector=1, access=('linear',), kept=2, reduced=0, places=(0, 1))
// Sizes(arguments=(54, 9), grid=(1, 1), lanes=1, parts=1)
__device__ inline void tenferro_map_e1be747a8656c387_element(f64 v0, f64& y0) {
  const f64 v1 = add(v0, v0);
  y0 = v1;
}
extern "C" __global__ void tenferro_map_e1be747a8656c387(const f64* r0a0, const f64* r0a1, f64* out0, i32 count, i32 kept1, i32 r0n0, i32 r0n1, i32 r0n2, i32 r0n3, i32 r0n4, i32 r0n5, i32 r0s0_0, i32 r0s0_1) {
  const i32 first = i32(blockIdx.x) * blockDim.x + threadIdx.x;
  const i32 step = i32(gridDim.x) * blockDim.x;
  for (i32 i = first; i < count; i += step) {
    const i32 c1 = i % kept1;
    const i32 rest1 = i / kept1;
    const i32 c0 = rest1;
    const i32 r0c0 = c0 - r0n0;
    const i32 r0c1 = c1 - r0n3;
    const f64 r0 = r0c0 >= 0 && r0c0 % r0n1 == 0 && r0c0 / r0n1 < r0n2 && r0c1 >= 0 && r0c1 % r0n4 == 0 && r0c1 / r0n4 < r0n5 ? r0a0[(r0c0 / r0n1) * r0s0_0 + (r0c1 / r0n4) * r0s0_1] : r0a1[0];
    tenferro_map_e1be747a8656c387_element(r0, out0[i]);
  }
}
