#include "app/models/memory_need.h"

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
  const qint64 tokens = model.context_tokens > 0 ? std::min<qint64>(model.context_tokens, kUsualTokens) : kUsualTokens;
  MemoryNeed need = memoryNeed(static_cast<qint64>(model.weight_bytes), model.kv_bytes_per_token, tokens);
  // A conversation works on a fork of what it had before, whose states are its own.
  need.states = 2 * model.state_bytes;
  return need;
}

ModelFit modelFit(const MemoryNeed& need, const MachineMemory& memory) {
  if (memory.gpuBytes > 0 && fits(need.totalOnGpu(), memory.gpuBytes)) return ModelFit::kGpu;
  if (memory.bytes > 0 && !fits(need.total(), memory.bytes)) return ModelFit::kNowhere;
  return memory.gpuBytes > 0 ? ModelFit::kMemoryOnly : ModelFit::kMemory;
}

}  // namespace winnow::app
