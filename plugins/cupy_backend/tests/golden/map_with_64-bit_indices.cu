// map with 64-bit indices
// Layout(kind='map', integer='i64', vector=4, access=('linear', 'linear', 'linear'), kept=1, reduced=0, places=())
// Sizes(arguments=(6442450944,), grid=(8192, 1), lanes=1, parts=1)
__device__ inline void tenferro_map_f51e8f62ffc1acf7_element(f32 v0, f32 v1, f32 v2, f32 v3, f32& y0) {
  const f32 v4 = mul(v0, v2);
  const f32 v5 = tanh(v4);
  const bool v6 = gt(v1, v3);
  const f32 v7 = select(v6, v5, v1);
  y0 = v7;
}
extern "C" __global__ void tenferro_map_f51e8f62ffc1acf7(const f32* in0, const f32* in1, f32 k0, f32 k1, f32* out0, i64 count) {
  const i64 first = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  const i64 step = i64(gridDim.x) * blockDim.x;
  for (i64 p = first; p < count / 4; p += step) {
    const pack<f32, 4> p0 = reinterpret_cast<const pack<f32, 4>*>(in0)[p];
    const pack<f32, 4> p1 = reinterpret_cast<const pack<f32, 4>*>(in1)[p];
    pack<f32, 4> q0;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      tenferro_map_f51e8f62ffc1acf7_element(p0.at[j], p1.at[j], k0, k1, q0.at[j]);
    }
    reinterpret_cast<pack<f32, 4>*>(out0)[p] = q0;
  }
  for (i64 i = count / 4 * 4 + first; i < count; i += step) {
    tenferro_map_f51e8f62ffc1acf7_element(in0[i], in1[i], k0, k1, out0[i]);
  }
}
