// The definition of correct: pair by pair, in double.
#include "kernels/api/cuda_nearest_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/check_slots.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

namespace {

// Rows of one of the two arrays.
struct NearestArray {
  const void* rows;
  ElementType type;
  std::int64_t stride;
  std::int64_t width;
};

double dot(const NearestArray& array, std::int64_t a, std::int64_t b) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < array.width; ++i) {
    sum += element(array.rows, array.type, a * array.stride + i) * element(array.rows, array.type, b * array.stride + i);
  }
  return sum;
}

double cosine(const NearestArray& array, std::int64_t a, std::int64_t b) {
  const auto length = [&](std::int64_t row) { return std::max(std::sqrt(dot(array, row, row)), static_cast<double>(kLeastLength)); };
  return dot(array, a, b) / (length(a) * length(b));
}

}  // namespace

LaunchStatus cuda_nearest_rows_reference(const CudaNearestRowsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const NearestArray first{args.first, args.type, args.first_stride, args.width};
  const NearestArray second{args.second, args.type, args.second_stride, args.width};
  for (std::int64_t i = 0; i < args.asking_count; ++i) {
    std::int64_t nearest = -1;
    double most = 0.0;
    for (std::int64_t j = 0; j < args.among_count; ++j) {
      double similarity = cosine(first, args.asking[i], args.among[j]);
      if (args.second != nullptr) similarity *= cosine(second, args.asking[i], args.among[j]);
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
