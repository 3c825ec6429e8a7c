// libnocudart.so: what libtorch_cpu asks of NVIDIA's runtime, on a machine that has none. Every question is answered with "no device".
//
// Only its profiler (kineto) asks. The version of these symbols is this library's own name (absent_cudart.map), so that they never stand in
// for the real ones, which libtorch_cuda brings where there is a GPU.
enum { kSuccess = 0, kNoDevice = 100 };

int cudaDriverGetVersion(int* version) {
  *version = 0;
  return kSuccess;
}
int cudaRuntimeGetVersion(int* version) {
  *version = 0;
  return kSuccess;
}
int cudaGetDeviceCount(int* count) {
  *count = 0;
  return kNoDevice;
}
int cudaGetDeviceProperties(void* properties, int device) {
  (void)properties;
  (void)device;
  return kNoDevice;
}
int cudaDeviceSynchronize(void) { return kNoDevice; }
const char* cudaGetErrorString(int error) { return error == kSuccess ? "no error" : "no CUDA-capable device is detected"; }
