// an element loop
// Layout(kind='map', integer='i32', vector=1, access=('strided', 'scalar', 'linear', 'strided', 'linear', 'linear'), kept=2, reduced=0, places=())
// Sizes(arguments=(3500, 70, 0, 1, 1, 50), grid=(14, 1), lanes=1, parts=1)
__device__ inline void tenferro_elements_d4477ce980c6a8a1_0_element(f32 v0, f32 v1, f32& y0) {
  const f32 v2 = mul(v0, v1);
  y0 = v2;
}
__device__ inline void tenferro_elements_d4477ce980c6a8a1_1_element(f64 v0, f64 v1, f64& y0) {
  const f64 v2 = add(v0, v1);
  y0 = v2;
}
extern "C" __launch_bounds__(256) __global__ void tenferro_elements_d4477ce980c6a8a1(const f32* __restrict__ in0, const f64* __restrict__ in1, const f32* __restrict__ in2, const f32* __restrict__ in3, const f32* __restrict__ in4, i64 in4_row, f64 k2_0, f64* __restrict__ last0, f32* __restrict__ last1, f32* __restrict__ last2, f32* __restrict__ out0, i64 out0_row, f64* __restrict__ out1, i64 out1_row, i32 count, i32 kept1, i32 s0_0, i32 s0_1, i32 s3_0, i32 s3_1, i64 begin, i64 end) {
  const i32 first = i32(blockIdx.x) * blockDim.x + threadIdx.x;
  const i32 step = i32(gridDim.x) * blockDim.x;
  for (i32 i = first; i < count; i += step) {
    const i32 c1 = i % kept1;
    const i32 rest1 = i / kept1;
    const i32 c0 = rest1;
    const f32 v0 = in0[c0 * s0_0 + c1 * s0_1];
    f64 v1 = in1[0];
    f32 v2 = in2[i];
    f32 v3 = in3[c0 * s3_0 + c1 * s3_1];
    #pragma unroll 4
    for (i64 k = begin; k < end; ++k) {
      const f32 v4 = (in4 + k * in4_row)[i];
      f32 v5;
      tenferro_elements_d4477ce980c6a8a1_0_element(v0, v2, v5);
      f32 v6;
      tenferro_elements_d4477ce980c6a8a1_0_element(v5, v4, v6);
      f64 v7;
      tenferro_elements_d4477ce980c6a8a1_1_element(v1, k2_0, v7);
      (out0 + k * out0_row)[i] = v5;
      if (i == 0) (out1 + k * out1_row)[0] = v1;
      const f32 before2 = v2;
      v1 = v7;
      v2 = v6;
      v3 = before2;
    }
    if (i == 0) last0[0] = v1;
    last1[i] = v2;
    last2[i] = v3;
  }
}
