// libnocupti.so: what libtorch_cpu's profiler asks of NVIDIA's profiling interface (CUPTI), on a machine that has none. Everything is refused.
// As to the symbols' version: absent_cudart.c.
enum { kNotInitialized = 15 };

// Each is called with arguments that a function without any may ignore (x86-64's calling convention).
#define ABSENT(name) \
  int name(void) { return kNotInitialized; }
ABSENT(cuptiActivityDisable)
ABSENT(cuptiActivityEnable)
ABSENT(cuptiActivityEnableCudaEventDeviceTimestamps)
ABSENT(cuptiActivityEnableDriverApi)
ABSENT(cuptiActivityEnableRuntimeApi)
ABSENT(cuptiActivityFlushAll)
ABSENT(cuptiActivityGetNextRecord)
ABSENT(cuptiActivityGetNumDroppedRecords)
ABSENT(cuptiActivityPopExternalCorrelationId)
ABSENT(cuptiActivityPushExternalCorrelationId)
ABSENT(cuptiActivityRegisterCallbacks)
ABSENT(cuptiActivityRegisterTimestampCallback)
ABSENT(cuptiActivitySetAttribute)
ABSENT(cuptiEnableCallback)
ABSENT(cuptiEnableDomain)
ABSENT(cuptiFinalize)
ABSENT(cuptiSubscribe)
ABSENT(cuptiUnsubscribe)

int cuptiGetVersion(unsigned* version) {
  *version = 0;
  return 0;
}
int cuptiGetResultString(int result, const char** text) {
  (void)result;
  *text = "CUPTI is not part of this package";
  return 0;
}
