// CUDA's kernel language on one core: every thread of a block is a context of its own, and
// __syncthreads passes on to the next one. Blocks run in order; __shared__ is static memory.
#pragma once
#include <math.h>
#include <stdlib.h>
#include <ucontext.h>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __restrict__ __restrict
#define __shared__ static
struct dim3 { unsigned x = 1, y = 1, z = 1; };
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace on_cpu {
struct Thread { ucontext_t context; char* stack; bool done; };
inline ucontext_t scheduler;
inline std::vector<Thread> threads;
inline unsigned now;
inline void (*kernel)();
inline void** arguments;
inline void begin() { kernel(); threads[now].done = true; }

// One block of threads that meet at barriers.
inline void run_together() {
  while (threads.size() < blockDim.x) threads.push_back({{}, (char*)malloc(1 << 16), false});
  for (unsigned t = 0; t < blockDim.x; ++t) {
    getcontext(&threads[t].context);
    threads[t].context.uc_stack = {threads[t].stack, 0, 1 << 16};
    threads[t].context.uc_link = &scheduler;
    threads[t].done = false;
    makecontext(&threads[t].context, begin, 0);
  }
  for (unsigned left = blockDim.x; left;)
    for (now = 0; now < blockDim.x; ++now)
      if (!threads[now].done) {
        threadIdx.x = now;
        swapcontext(&scheduler, &threads[now].context);
        left -= threads[now].done;
      }
}

inline void launch(dim3 grid, dim3 block, bool meets, void (*body)(), void** given) {
  kernel = body, arguments = given, gridDim = grid, blockDim = block;
  for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
      if (meets) run_together();
      else
        for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) body();
}
}  // namespace on_cpu

inline void __syncthreads() {
  swapcontext(&on_cpu::threads[on_cpu::now].context, &on_cpu::scheduler);
}
inline void __threadfence() {}
inline unsigned atomicAdd(unsigned* at, unsigned by) { unsigned old = *at; *at += by; return old; }

// CUDA's own functions that the C library lacks: the inverse by Newton's steps from Giles (2012).
inline double erfinv(double y) {
  if (!(fabs(y) < 1)) return fabs(y) == 1 ? copysign(INFINITY, y) : NAN;
  if (fabs(y) < 1e-290) return y * 0.886226925452758;
  const double w = log1p(-y * y), a = 4.3307467508 + w / 2;  // Winitzki (2008)
  double x = copysign(sqrt(sqrt(a * a - w / 0.147) - a), y);
  for (int i = 0; i < 4; ++i) {
    const double beyond = (1 - fabs(y)) - erfc(fabs(x));
    const double error = fabs(y) < 0.5 ? erf(x) - y : y < 0 ? -beyond : beyond;
    const double step = error / (1.1283791670955126 * exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}
inline float erfinvf(float y) { return float(erfinv(double(y))); }
