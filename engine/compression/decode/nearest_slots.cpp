#include "engine/compression/decode/nearest_slots.h"

#include <algorithm>
#include <cstring>

#include "engine/device/cuda_plugin.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {
namespace {

at::Tensor at_length_one(const at::Tensor& row) {
  const at::Tensor wide = row.to(at::kFloat);
  return wide / wide.norm().clamp_min(kernels::kLeastKeyLength);
}

at::Tensor cosines(const at::Tensor& rows, const at::Tensor& unit) {
  return at::mv(rows, unit).div_(at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}).clamp_min_(kernels::kLeastKeyLength));
}

MergePair most_similar_of(const KvCache& cache, const LeavingSlotOf& leaving, SlotLikeness likeness) {
  const auto& [layer, head, slot, age] = leaving;
  const auto [key, value] = cache.row_views(layer, head, slot);
  const UnitSlot unit = unit_slot(key, value, likeness);
  std::int64_t best = -1;
  float best_likeness = 0.0F;
  std::int64_t first = 0;
  // A GPU takes all at once: launches and waits for every block cost more than the copy.
  const bool in_blocks = cache.shape().device.is_cpu();
  for (std::int64_t block = 0; block < (in_blocks ? KvCache::blocks_for(cache.slots(layer, head)) : 1); ++block) {
    const auto rows = [&](KvPart part) {
      if (part == KvPart::kValues && !unit.value.defined()) return at::Tensor();
      if (in_blocks) return cache.block_view(layer, head, part, block).to(at::kFloat);
      return (part == KvPart::kKeys ? cache.gather_keys(layer, head) : cache.gather_values(layer, head)).to(at::kFloat);
    };
    const at::Tensor found = likeness_of(rows(KvPart::kKeys), rows(KvPart::kValues), unit).to(at::kCPU).contiguous();
    const float* const values = found.const_data_ptr<float>();
    for (std::int64_t i = 0; i < found.size(0); ++i) {
      const std::int64_t other = first + i;
      const std::int32_t other_age = age[static_cast<std::size_t>(other)];
      if (other == slot || other_age < 0) continue;
      const bool older_tie = best >= 0 && values[i] == best_likeness && other_age < age[static_cast<std::size_t>(best)];
      if (best < 0 || values[i] > best_likeness || older_tie) {
        best = other;
        best_likeness = values[i];
      }
    }
    first += found.size(0);
  }
  return {static_cast<std::int32_t>(slot), static_cast<std::int32_t>(best), best_likeness};
}

// Who takes part, a bit for each slot; nothing where all do.
std::vector<std::uint32_t> bits_of(std::span<const std::int32_t> age) {
  std::vector<std::uint32_t> bits;
  if (std::ranges::none_of(age, [](std::int32_t each) { return each < 0; })) return bits;
  constexpr auto kBits = static_cast<std::size_t>(kernels::kNearestSlotWordSlots);
  bits.resize((age.size() + kBits - 1) / kBits, 0);
  for (std::size_t slot = 0; slot < age.size(); ++slot) bits[slot / kBits] |= (age[slot] < 0 ? 0U : 1U) << (slot % kBits);
  return bits;
}

// The questions and who takes part in each, by one copy.
at::Tensor questions_on_device(const KvCache& cache, std::span<const LeavingSlotOf> leaving, SlotLikeness likeness) {
  static_assert(sizeof(kernels::SimilarAsked) % sizeof(std::int64_t) == 0);
  constexpr std::size_t kAskedWords = sizeof(kernels::SimilarAsked) / sizeof(std::int64_t);
  std::vector<std::vector<std::uint32_t>> among;
  std::size_t total = leaving.size() * kAskedWords;
  for (const LeavingSlotOf& one : leaving) {
    among.push_back(bits_of(one.age));
    total += (among.back().size() + 1) / 2;
  }
  at::Tensor there = at::empty({static_cast<std::int64_t>(total)}, at::TensorOptions(cache.shape().device).dtype(at::kLong));
  const auto* const first = there.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> words(total, 0);
  std::size_t behind = leaving.size() * kAskedWords;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    const LeavingSlotOf& one = leaving[i];
    const DeviceBlocks blocks = DeviceSide::blocks(cache, one.layer);
    kernels::SimilarAsked asked;
    asked.key_blocks = blocks.key_blocks + one.head * blocks.stride;
    if (likeness == SlotLikeness::kKeysAndValues) asked.value_blocks = blocks.value_blocks + one.head * blocks.stride;
    if (!among[i].empty()) asked.among = reinterpret_cast<const std::uint32_t*>(first + behind);
    asked.slots = static_cast<std::int32_t>(cache.slots(one.layer, one.head));
    asked.slot = static_cast<std::int32_t>(one.slot);
    std::memcpy(words.data() + i * kAskedWords, &asked, sizeof asked);
    std::memcpy(words.data() + behind, among[i].data(), among[i].size() * sizeof(std::uint32_t));
    behind += (among[i].size() + 1) / 2;
  }
  return there.copy_(at::tensor(words), /*non_blocking=*/true);
}

// The results of each head's parts, part after part.
std::vector<kernels::SimilarFound> found_on_device(const KvCache& cache, std::span<const LeavingSlotOf> leaving, SlotLikeness likeness,
                                                   std::int64_t parts, at::Tensor* beside) {
  const KvShape& shape = cache.shape();
  const at::Tensor questions = questions_on_device(cache, leaving, likeness);
  constexpr std::int64_t kFoundWords = sizeof(kernels::SimilarFound) / sizeof(std::int32_t);
  const std::int64_t found_words = std::ssize(leaving) * parts * kFoundWords;
  at::Tensor answers = at::empty({found_words}, questions.options().dtype(at::kInt));

  kernels::CudaNearestSlotsArgs args;
  args.type = element_type(shape.row_type());
  args.head_dim = shape.head_dim;
  args.block_slots = KvCache::kBlockSlots;
  args.count = std::ssize(leaving);
  args.parts = parts;
  args.asked = reinterpret_cast<const kernels::SimilarAsked*>(questions.const_data_ptr<std::int64_t>());
  args.found = reinterpret_cast<kernels::SimilarFound*>(answers.mutable_data_ptr<std::int32_t>());
  require_launched(cuda_plugin().nearest_slots(&args), "the similarity of slots");
  if (beside != nullptr) answers = at::cat({answers, beside->view(at::kInt)});
  const at::Tensor host = answers.to(at::kCPU);
  if (beside != nullptr) *beside = host.narrow(0, found_words, beside->numel()).view(at::kFloat);
  const auto* const first = reinterpret_cast<const kernels::SimilarFound*>(host.const_data_ptr<std::int32_t>());
  return {first, first + std::ssize(leaving) * parts};
}

std::vector<MergePair> most_similar_on_device(const KvCache& cache, std::span<const LeavingSlotOf> leaving, SlotLikeness likeness,
                                              at::Tensor* beside) {
  std::int64_t longest = 1;
  for (const LeavingSlotOf& one : leaving) longest = std::max(longest, cache.slots(one.layer, one.head));
  const std::int64_t parts = (longest + kernels::kNearestSlotPart - 1) / kernels::kNearestSlotPart;
  const std::vector<kernels::SimilarFound> found = found_on_device(cache, leaving, likeness, parts, beside);
  std::vector<MergePair> pairs;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    kernels::SimilarFound best;
    for (const kernels::SimilarFound& part :
         std::span(found).subspan(i * static_cast<std::size_t>(parts), static_cast<std::size_t>(parts))) {
      if (part.slot < 0) continue;
      if (best.slot < 0 || part.similarity > best.similarity) {
        best = part;
      } else if (part.similarity == best.similarity) {
        best.count += part.count;
      }
    }
    // Which of several is the oldest the device does not know.
    pairs.push_back(best.count > 1 ? most_similar_of(cache, leaving[i], likeness)
                                   : MergePair{static_cast<std::int32_t>(leaving[i].slot), best.slot, best.similarity});
  }
  return pairs;
}

}  // namespace

UnitSlot unit_slot(const at::Tensor& key, const at::Tensor& value, SlotLikeness likeness) {
  return {at_length_one(key), likeness == SlotLikeness::kKeysAndValues ? at_length_one(value) : at::Tensor()};
}

at::Tensor likeness_of(const at::Tensor& keys, const at::Tensor& values, const UnitSlot& one) {
  at::Tensor of_keys = cosines(keys, one.key);
  return one.value.defined() ? of_keys.mul_(cosines(values, one.value)) : of_keys;
}

std::vector<MergePair> most_similar(const KvCache& cache, std::span<const LeavingSlotOf> leaving, SlotLikeness likeness,
                                    at::Tensor* beside) {
  if (leaving.empty()) {
    if (beside != nullptr) *beside = beside->to(at::kCPU);
    return {};
  }
  if (!cache.shape().device.is_cpu()) return most_similar_on_device(cache, leaving, likeness, beside);
  std::vector<MergePair> pairs;
  for (const LeavingSlotOf& one : leaving) pairs.push_back(most_similar_of(cache, one, likeness));
  return pairs;
}

}  // namespace winnow
