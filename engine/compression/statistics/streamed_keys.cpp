#include "engine/compression/statistics/streamed_keys.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/compression/statistics/context_keys.h"
#include "engine/device/host_numbers.h"
#include "engine/recipes/budget.h"

namespace winnow {
namespace {

// Places the slots that are left as if they were whole frames.
std::vector<StreamedPlace> counted_off(std::int64_t slots, std::int64_t cells) {
  std::vector<StreamedPlace> places;
  for (std::int64_t rank = 0; rank < slots; ++rank)
    places.push_back({static_cast<std::int32_t>(rank / cells), static_cast<std::int32_t>(rank % cells)});
  return places;
}

void measure_change(const at::Tensor& directions, std::span<const StreamedPlace> places, std::int64_t cells, double recent_share,
                    StreamedSlots& slots) {
  const std::int64_t n = std::ssize(places);
  const std::int64_t frames = n / cells;
  const std::int64_t newest = std::max<std::int64_t>(1, round_half_up(recent_share * static_cast<double>(frames)));
  std::int32_t last = -1;
  for (const StreamedPlace& place : places) last = std::max(last, place.frame);
  std::vector<std::int64_t> recent_rows;
  slots.recent.assign(places.size(), 0);
  for (std::size_t slot = 0; slot < places.size(); ++slot) {
    if (places[slot].frame < 0 || places[slot].frame <= last - newest) continue;
    slots.recent[slot] = 1;
    recent_rows.push_back(static_cast<std::int64_t>(slot));
  }
  slots.change.assign(places.size(), 0.0F);
  if (recent_rows.empty()) return;
  const std::vector<float> cosines =
      numbers_of(at::mm(directions, directions.index_select(0, numbers_on(directions.device(), recent_rows)).t()));
  const std::size_t columns = recent_rows.size();
  for (std::size_t slot = 0; slot < places.size(); ++slot) {
    double sum = 0.0;
    std::int64_t shown = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      if (places[static_cast<std::size_t>(recent_rows[column])].cell != places[slot].cell || places[slot].cell < 0) continue;
      sum += cosines[slot * columns + column];
      ++shown;
    }
    if (shown > 0) slots.change[slot] = static_cast<float>(-sum / static_cast<double>(shown));
  }
}

}  // namespace

StreamedSlots streamed_slots(const at::Tensor& keys, const at::Tensor& values, std::span<const StreamedPlace> places, std::int64_t cells,
                             const StatisticsNeeds& needs) {
  require(keys.size(0) == std::ssize(places) && values.size(0) == std::ssize(places) && cells > 0,
          "streamed_slots: a place for every slot");
  StreamedSlots slots;
  if (places.empty()) return slots;
  if (needs.value_norms) slots.value_norms = numbers_of(at::linalg_vector_norm(values.to(at::kFloat), 2, at::IntArrayRef{1}));
  if (!needs.key_likeness && !needs.change) return slots;
  const at::Tensor directions = key_directions(keys.unsqueeze(0));
  if (needs.key_likeness) slots.key_likeness = numbers_of(likeness_to_mean(directions));
  if (needs.change) {
    const bool by_rank = needs.change->by_rank;
    const std::vector<StreamedPlace> counted = by_rank ? counted_off(std::ssize(places), cells) : std::vector<StreamedPlace>();
    measure_change(directions.squeeze(0), by_rank ? std::span<const StreamedPlace>(counted) : places, cells, needs.change->recent_share,
                   slots);
  }
  return slots;
}

}  // namespace winnow
