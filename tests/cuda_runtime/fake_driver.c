/* A driver with one GPU whose memory is the host's, for tests of the runtime where there is no GPU. Kernels have names that it knows:
 *   fill(n, y)   y[i] = 7          overrun(n, y)   y[-1] = 7          hang(n, y)   does not end          broken(n, y)   an error of the device
 * $FAKE_GPUS: how many; $FAKE_CAPABILITY: "90"; $FAKE_MEMORY: bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
static int failed;
static const char* names[16];
static int functions;

static long setting(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text == NULL || *text == 0 ? otherwise : atol(text);
}

EXPORT int cuInit(unsigned flags) { (void)flags; return setting("FAKE_GPUS", 1) == 0 ? 100 : 0; }
EXPORT int cuDriverGetVersion(int* version) { *version = 12040; return 0; }
EXPORT int cuGetErrorString(int error, const char** text) {
  *text = error == 100 ? "no CUDA-capable device is detected" : error == 700 ? "an illegal memory access was encountered" : error == 500 ? "named symbol not found" : "error";
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) { *count = (int)setting("FAKE_GPUS", 1); return 0; }
EXPORT int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return 0; }
EXPORT int cuDeviceGetName(char* name, int bytes, int device) { (void)device; snprintf(name, (size_t)bytes, "fake GPU"); return 0; }
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  const long capability = setting("FAKE_CAPABILITY", 90);
  *value = (int)(attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 1 << 20);
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) { (void)device; *context = &failed; return 0; }
EXPORT int cuCtxSetCurrent(void* context) { (void)context; return 0; }
EXPORT int cuCtxSynchronize(void) { return failed; }
EXPORT int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) { *free_bytes = *total = (size_t)setting("FAKE_MEMORY", 1l << 32); return 0; }
EXPORT int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
  void* memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  *pointer = (uint64_t)(uintptr_t)memory;
  return memory == NULL ? 2 : 0;
}
EXPORT int cuMemFree_v2(uint64_t pointer) { free((void*)(uintptr_t)pointer); return 0; }
EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) { memcpy((void*)(uintptr_t)to, from, bytes); return failed; }
EXPORT int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) { memcpy(to, (void*)(uintptr_t)from, bytes); return failed; }
EXPORT int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) { memcpy((void*)(uintptr_t)to, (void*)(uintptr_t)from, bytes); return failed; }
EXPORT int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) { memset((void*)(uintptr_t)to, value, bytes); return failed; }
EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) { (void)stream; return cuMemsetD8_v2(to, value, bytes); }
EXPORT int cuModuleLoadData(void** module, const void* image) { *module = &functions; return memcmp(image, "bad!", 4) == 0 ? 200 : 0; }
EXPORT int cuModuleGetFunction(void** function, void* module, const char* name) {
  (void)module;
  if (strcmp(name, "missing") == 0 || functions == 16) return 500;
  names[functions] = strdup(name);
  *function = &names[functions++];
  return 0;
}
EXPORT int cuFuncSetAttribute(void* function, int attribute, int value) { (void)function; return attribute == 8 && value <= 232448 ? 0 : 1; }
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* stream,
                          void** arguments, void** extra) {
  (void)stream;
  (void)extra;
  const char* name = *(const char**)function;
  const int64_t n = *(int64_t*)arguments[0];
  int32_t* y = *(int32_t**)arguments[1];
  if (gx * gy * gz == 0 || bx * by * bz > 1024 || shared > 232448) return 1;
  if (strcmp(name, "hang") == 0) for (;;) pause();
  if (strcmp(name, "broken") == 0) failed = 700;
  if (strcmp(name, "overrun") == 0) y[-1] = 7;
  for (int64_t i = 0; i < n; ++i) y[i] = 7;
  return 0;
}
EXPORT int cuEventCreate(void** event, unsigned flags) { (void)flags; *event = calloc(1, sizeof(struct timespec)); return 0; }
EXPORT int cuEventRecord(void* event, void* stream) { (void)stream; clock_gettime(CLOCK_MONOTONIC, event); return 0; }
EXPORT int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  const struct timespec *a = from, *b = to;
  *milliseconds = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) * 1e-6);
  return 0;
}
EXPORT int cuEventDestroy_v2(void* event) { free(event); return 0; }
