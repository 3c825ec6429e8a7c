#include "app/library/models/memory_need.h"

#include <algorithm>

namespace winnow::app {
namespace {

constexpr qint64 kProgramBytes = qint64{350} << 20;
constexpr qint64 kOthersBytes = qint64{1} << 30;  // that the desktop and other programs keep
constexpr qint64 kTenth = 10;

bool fits(qint64 need, qint64 bytes) { return need + std::min(kOthersBytes, bytes / kTenth) <= bytes; }

}  // namespace

qint64 MachineMemory::largest() const { return bytes > 0 ? std::max(bytes, gpuBytes) : 0; }

MemoryNeed memoryNeed(qint64 weightBytes, qint64 kvBytesPerToken, qint64 tokens) {
  return {weightBytes + weightBytes / kTenth, kvBytesPerToken * tokens, kProgramBytes, 0};
}

MemoryNeed memoryNeed(const ModelSummary& model) {
  MemoryNeed need = memoryNeed(static_cast<qint64>(model.weight_bytes), model.cache.kv_bytes_per_token, model.cache.usual_tokens());
  need.states = model.cache.usual_bytes() - need.cache;
  return need;
}

ModelFit modelFit(const MemoryNeed& need, const MachineMemory& memory) {
  if (memory.gpuBytes > 0 && fits(need.totalOnGpu(), memory.gpuBytes)) return ModelFit::kGpu;
  if (memory.bytes > 0 && !fits(need.total(), memory.bytes)) return ModelFit::kNowhere;
  return memory.gpuBytes > 0 ? ModelFit::kMemoryOnly : ModelFit::kMemory;
}

}  // namespace winnow::app
