// What the engine asks of NVIDIA's driver before it opens a plug-in.
extern "C" int cuInit(unsigned /*flags*/) { return 0; }
extern "C" int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
