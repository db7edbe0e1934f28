#pragma once

/// Marks a function that both the C++ compiler and nvcc compile, for the CPU and the GPU alike.
#ifdef __CUDACC__
#define GRAPHSAN_HOST_DEVICE __host__ __device__
#else
#define GRAPHSAN_HOST_DEVICE
#endif

/// Unrolls the loop that follows, on the GPU.
#ifdef __CUDA_ARCH__
#define GRAPHSAN_UNROLL _Pragma("unroll")
#else
#define GRAPHSAN_UNROLL
#endif
