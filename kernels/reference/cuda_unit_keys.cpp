// The definition of correct: key by key, in double.
#include "kernels/api/cuda_unit_keys.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/reference/check_leaving_slots.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

LaunchStatus cuda_unit_keys_reference(const CudaUnitKeysArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const auto half = static_cast<std::size_t>(args.head_dim / 2);
  std::vector<double> key(static_cast<std::size_t>(args.head_dim));
  for (std::int64_t i = 0; i < args.count; ++i) {
    const UnitKey& one = args.keys[i];
    for (std::size_t c = 0; c < key.size(); ++c) key[c] = element(one.key, args.type, static_cast<std::int64_t>(c));
    for (std::size_t c = 0; args.frequencies != nullptr && c < half; ++c) {
      const double angle = one.rotation * args.frequencies[c];  // rounded to fp32, as positions are rotated everywhere
      const double low = key[c];
      const double high = key[half + c];
      key[c] = low * std::cos(angle) - high * std::sin(angle);
      key[half + c] = high * std::cos(angle) + low * std::sin(angle);
    }
    double squares = 0.0;
    for (const double number : key) squares += number * number;
    args.lengths[i] = static_cast<float>(std::sqrt(squares));
    const double length = std::max<double>(args.lengths[i], kLeastKeyLength);
    for (std::size_t c = 0; c < key.size(); ++c)
      set_element(one.key, args.type, static_cast<std::int64_t>(c), static_cast<float>(key[c] / length));
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
