__device__ inline void tenferro_chain_66c5bc4165b2d6c8_0_element(f64 v0, f64 v1, f64& y0) {
  const f64 v2 = mul(v0, v1);
  y0 = v2;
}
__device__ inline void tenferro_chain_66c5bc4165b2d6c8_0(const f64* in0, const f64* in1, f64* result0, i32 results, i32 length, i32 lanes, i32 s0_0, i32 s0_1, i32 s1_0, i32 s1_1, u8* scratch) {
  const int groups = blockDim.x / lanes, lane = threadIdx.x % lanes, stride = 1;
  const i32 first = lane, step = lanes;
  for (i32 begin = 0; begin < results; begin += groups) {
    const i32 o = begin + threadIdx.x / lanes;
    sum<f64>::part a0 = sum<f64>::start();
    if (o < results) {
      const i32 c0 = o;
      for (i32 r = first; r < length; r += step) {
        const i32 c1 = r;
        f64 y0;
        tenferro_chain_66c5bc4165b2d6c8_0_element(in0[c0 * s0_0 + c1 * s0_1], in1[c0 * s1_0 + c1 * s1_1], y0);
        a0 = sum<f64>::combine(a0, sum<f64>::of(y0));
      }
    }
    a0 = across<sum<f64>>(a0, reinterpret_cast<sum<f64>::part*>(scratch), threadIdx.x, lane, lanes, stride);
    if (lane == 0 && o < results) result0[o] = sum<f64>::result(a0);
  }
}
__device__ inline void tenferro_chain_66c5bc4165b2d6c8_1_element(f64 v0, f64 v1, f64& y0) {
  const f64 v2 = mul(v0, v1);
  y0 = v2;
}
__device__ inline void tenferro_chain_66c5bc4165b2d6c8_1(const f64* in0, const f64* in1, f64* out0, i32 count, i32 kept1, i32 s1_0, i32 s1_1, u8* scratch) {
  const i32 first = threadIdx.x, step = blockDim.x;
  for (i32 i = first; i < count; i += step) {
    const i32 c1 = i % kept1;
    const i32 rest1 = i / kept1;
    const i32 c0 = rest1;
    tenferro_chain_66c5bc4165b2d6c8_1_element(in0[i], in1[c0 * s1_0 + c1 * s1_1], out0[i]);
  }
}
extern "C" __launch_bounds__(512) __global__ void tenferro_chain_66c5bc4165b2d6c8(const f64* l0_in0, const f64* l0_in1, f64* l0_result0, i32 l0_results, i32 l0_length, i32 l0_lanes, i32 l0_s0_0, i32 l0_s0_1, i32 l0_s1_0, i32 l0_s1_1, const f64* l1_in0, const f64* l1_in1, f64* l1_out0, i32 l1_count, i32 l1_kept1, i32 l1_s1_0, i32 l1_s1_1) {
  alignas(16) __shared__ u8 scratch[8192];
  tenferro_chain_66c5bc4165b2d6c8_0(l0_in0, l0_in1, l0_result0, l0_results, l0_length, l0_lanes, l0_s0_0, l0_s0_1, l0_s1_0, l0_s1_1, scratch);
  __syncthreads();
  tenferro_chain_66c5bc4165b2d6c8_1(l1_in0, l1_in1, l1_out0, l1_count, l1_kept1, l1_s1_0, l1_s1_1, scratch);
  __syncthreads();
}
