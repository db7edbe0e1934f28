#pragma once

/// Marks a function that CUDA kernels call as well; empty outside nvcc.
#if defined(__CUDACC__)
#define GRAPHSAN_HOST_DEVICE __host__ __device__
#else
#define GRAPHSAN_HOST_DEVICE
#endif
