// The definition of correct for a GPU: column_sums_reference() of every KV head.
#include "kernels/api/cuda_column_sums.h"
#include "kernels/api/column_sums.h"
#include "kernels/reference/check_column_sums.h"

namespace winnow::kernels {

namespace {

const void* from_element(const void* array, ElementType type, std::int64_t index) {
  return static_cast<const char*>(array) + index * (type == ElementType::kFp32 ? 4 : 2);
}

}  // namespace

LaunchStatus cuda_column_sums_reference(const CudaColumnSumsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t kv_head = 0; kv_head < args.kv_heads; ++kv_head) {
    const std::int64_t head = kv_head * args.group;
    ColumnSumsArgs one;
    one.type = args.type;
    one.query = from_element(args.query, args.type, head * args.query_head_stride);
    one.query_head_stride = args.query_head_stride;
    one.query_row_stride = args.query_row_stride;
    one.group = args.group;
    one.rows = args.rows;
    one.key = from_element(args.key, args.type, kv_head * args.key_head_stride);
    one.key_stride = args.key_row_stride;
    one.columns = args.columns;
    one.head_dim = args.head_dim;
    one.seen_by_first = args.seen_by_first;
    one.scale = args.scale;
    one.log_sum_exp = args.log_sum_exp + head * args.log_sum_exp_stride;
    one.log_sum_exp_stride = args.log_sum_exp_stride;
    one.sums = args.sums + head * args.sums_stride;
    one.sums_stride = args.sums_stride;
    if (args.squares != nullptr) one.squares = args.squares + kv_head * args.squares_stride;
    if (args.entropy != nullptr) one.entropy = args.entropy + head;
    one.workspace = static_cast<float*>(args.workspace);  // looked at, not used
    if (const LaunchStatus status = column_sums_reference(one); status != LaunchStatus::kOk) return status;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
