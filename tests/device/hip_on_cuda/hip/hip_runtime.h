// What printed HIP uses of HIP's runtime, as CUDA's: texts for waves of 32 lanes run on NVIDIA's GPUs. For the tests.
#pragma once
#include <cuda_runtime.h>

typedef cudaStream_t hipStream_t;
typedef cudaError_t hipError_t;
#define hipSuccess cudaSuccess
#define hipPeekAtLastError cudaPeekAtLastError
#define hipGetLastError cudaGetLastError
