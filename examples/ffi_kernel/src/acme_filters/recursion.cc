// The recursive filter as XLA calls it: rows of n elements, one coefficient for each row.

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

template <ffi::DataType T>
ffi::Error Recursion(ffi::Buffer<T> a, ffi::Buffer<T> x, ffi::ResultBuffer<T> y, bool reverse) {
  const size_t rows = a.element_count();
  const size_t n = rows == 0 ? 0 : x.element_count() / rows;
  for (size_t row = 0; row < rows; ++row) {
    const auto factor = a.typed_data()[row];
    const auto* in = x.typed_data() + row * n;
    auto* out = y->typed_data() + row * n;
    auto last = factor;  // of the type of an element; its value is not used
    for (size_t t = 0; t < n; ++t) {
      const size_t i = reverse ? n - 1 - t : t;
      last = t == 0 ? in[i] : in[i] + factor * last;
      out[i] = last;
    }
  }
  return ffi::Error::Success();
}

template <ffi::DataType T>
auto Signature() {
  return ffi::Ffi::Bind()
      .template Arg<ffi::Buffer<T>>()
      .template Arg<ffi::Buffer<T>>()
      .template Ret<ffi::Buffer<T>>()
      .template Attr<bool>("reverse");
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(RecursionF32, Recursion<ffi::F32>, Signature<ffi::F32>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(RecursionF64, Recursion<ffi::F64>, Signature<ffi::F64>());
