// A plug-in of a later version: only its first field may be looked at.
#include <cstdint>

namespace {
const std::uint32_t kTable[1] = {99};
}  // namespace

extern "C" const void* winnow_cuda_plugin() { return kTable; }
