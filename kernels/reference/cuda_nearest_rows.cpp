// The definition of correct: pair by pair, in double.
#include "kernels/api/cuda_nearest_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/check_merging.h"

namespace winnow::kernels {

namespace {

double dot(const float* a, const float* b, std::int64_t width) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < width; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

double cosine(const float* a, const float* b, std::int64_t width) {
  const auto length = [&](const float* row) { return std::max(std::sqrt(dot(row, row, width)), static_cast<double>(kLeastLength)); };
  return dot(a, b, width) / (length(a) * length(b));
}

}  // namespace

LaunchStatus cuda_nearest_rows_reference(const CudaNearestRowsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t i = 0; i < args.asking_count; ++i) {
    std::int64_t nearest = -1;
    double most = 0.0;
    for (std::int64_t j = 0; j < args.among_count; ++j) {
      double similarity =
          cosine(args.first + args.asking[i] * args.first_stride, args.first + args.among[j] * args.first_stride, args.width);
      if (args.second != nullptr) {
        similarity *=
            cosine(args.second + args.asking[i] * args.second_stride, args.second + args.among[j] * args.second_stride, args.width);
      }
      if (nearest >= 0 && (std::isnan(most) || similarity <= most)) continue;
      nearest = j;
      most = similarity;
    }
    args.similarity[i] = static_cast<float>(most);
    args.nearest[i] = static_cast<std::int32_t>(nearest);
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
