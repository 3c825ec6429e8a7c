// The definition of correct: element by element, each operation rounded to fp32.
#include "kernels/api/cuda_change_slots.h"

#include "kernels/api/cuda_merge_rows.h"
#include "kernels/reference/check_slots.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {
namespace {

void change_row(const SlotChange& change, const void* from, void* to, const CudaChangeSlotsArgs& args) {
  for (std::int64_t i = 0; i < args.head_dim; ++i) {
    const auto other = static_cast<float>(element(from, args.type, i));
    if (change.kind == SlotChange::kMoves) {
      set_element(to, args.type, i, other);
      continue;
    }
    const float own = change.own * static_cast<float>(element(to, args.type, i));
    const float part = change.weight * other;
    const float sum = own + part;
    set_element(to, args.type, i, sum / change.divisor);
  }
}

}  // namespace

LaunchStatus cuda_change_slots_reference(const CudaChangeSlotsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int32_t i = 0; i < args.begin[args.lists]; ++i) {
    const SlotChange& change = args.changes[i];
    if (change.kind != SlotChange::kReceivesValue) change_row(change, change.from_key, change.to_key, args);
    change_row(change, change.from_value, change.to_value, args);
  }
  return LaunchStatus::kOk;
}

// The definition of correct: element by element, each operation rounded to fp32.
LaunchStatus cuda_merge_rows_reference(const CudaMergeRowsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = 0; row < args.count; ++row) {
    for (std::int64_t i = 0; i < args.width; ++i) {
      float sum = args.own[row] * args.rows[args.stay[row] * args.row_stride + i];
      for (std::int64_t flow = args.begin[row]; flow < args.begin[row + 1]; ++flow) {
        const float part = args.weight[flow] * args.rows[args.from[flow] * args.row_stride + i];
        sum += part;
      }
      args.output[row * args.width + i] = sum / args.divisor[row];
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
