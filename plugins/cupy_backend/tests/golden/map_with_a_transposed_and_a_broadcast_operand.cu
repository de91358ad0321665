// map with a transposed and a broadcast operand
// Layout(kind='map', integer='i32', vector=1, access=('strided', 'strided', 'linear'), kept=2, reduced=0, places=())
// Sizes(arguments=(1200, 30, 1, 40, 0, 1), grid=(5, 1), lanes=1, parts=1)
__device__ inline void tenferro_map_8664dc5c320e505b_element(f32 v0, f32 v1, f32 v2, f32 v3, f32& y0) {
  const f32 v4 = mul(v0, v2);
  const f32 v5 = tanh(v4);
  const bool v6 = gt(v1, v3);
  const f32 v7 = select(v6, v5, v1);
  y0 = v7;
}
extern "C" __global__ void tenferro_map_8664dc5c320e505b(const f32* in0, const f32* in1, f32 k0, f32 k1, f32* out0, i32 count, i32 kept1, i32 s0_0, i32 s0_1, i32 s1_0, i32 s1_1) {
  const i32 first = i32(blockIdx.x) * blockDim.x + threadIdx.x;
  const i32 step = i32(gridDim.x) * blockDim.x;
  for (i32 i = first; i < count; i += step) {
    const i32 c1 = i % kept1;
    const i32 rest1 = i / kept1;
    const i32 c0 = rest1;
    tenferro_map_8664dc5c320e505b_element(in0[c0 * s0_0 + c1 * s0_1], in1[c0 * s1_0 + c1 * s1_1], k0, k1, out0[i]);
  }
}
