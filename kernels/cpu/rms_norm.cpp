// RMS norms for CPUs, compiled once per instruction set and chosen at run time (Highway).
//
// Work: a row is read twice while it is in the first-level cache, some hundred elements at a time, upcast for the sum of its squares and
// again for the result, so that memory is read and written once. No alignment is assumed.
#include "kernels/api/rms_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/cpu/run_checked.h"
#include "kernels/cpu/stored_elements.h"
#include "kernels/reference/check_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rms_norm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 8>;
using Vector = hn::Vec<Floats>;

constexpr std::int64_t kChunk = 512;
constexpr std::int64_t kStep = 32;  // elements for four independent sums: a single one would wait for itself

// numbers: zeros behind `count`, up to a multiple of kStep.
HWY_INLINE float sum_of_squares(const float* HWY_RESTRICT numbers, std::int64_t count) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  Vector first = hn::Zero(d), second = hn::Zero(d), third = hn::Zero(d), fourth = hn::Zero(d);
  const auto squared = [&](std::int64_t at, Vector sum) {
    const Vector number = hn::Load(d, numbers + at);
    return hn::MulAdd(number, number, sum);
  };
  for (std::int64_t i = 0; i < count; i += 4 * lanes) {
    first = squared(i, first);
    second = squared(i + lanes, second);
    third = squared(i + 2 * lanes, third);
    fourth = squared(i + 3 * lanes, fourth);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(first, second), hn::Add(third, fourth))));
}

// The rows' type and the weight's.
template <class Stored, class StoredWeight>
class Rows {
  using Number = typename Stored::Memory;
  using Weight = typename StoredWeight::Memory;

 public:
  explicit Rows(const RmsNormArgs& args) : args_(args), weight_(static_cast<const Weight*>(args.weight)) {}

  void run() {
    for (std::int64_t row = 0; row < args_.rows; ++row) {
      for (std::int64_t group = 0; group < args_.groups; ++group) {
        const std::int64_t from = args_.input_strides.at(row, group);
        Number* const to = static_cast<Number*>(args_.output) + args_.output_strides.at(row, group);
        const Number* numbers = static_cast<const Number*>(args_.input) + from;
        if (args_.added != nullptr) {
          add(numbers, static_cast<const Number*>(args_.added) + row * args_.added_stride, static_cast<Number*>(args_.sum) + from);
          numbers = static_cast<const Number*>(args_.sum) + from;
        }
        scale(numbers, 1.0F / std::sqrt(squares(numbers) / static_cast<float>(args_.features) + args_.epsilon), to);
      }
    }
  }

 private:
  // Through memory of our own, so that a result may lie where it came from.
  void add(const Number* left, const Number* HWY_RESTRICT right, Number* sum) {
    for (std::int64_t first = 0; first < args_.features; first += kChunk) {
      const std::int64_t count = std::min(kChunk, args_.features - first);
      for (std::int64_t i = 0; i < count; ++i) numbers_[i] = Stored::upcast(left[first + i]) + Stored::upcast(right[first + i]);
      for (std::int64_t i = 0; i < count; ++i) sum[first + i] = Stored::narrow(numbers_[i]);
    }
  }

  float squares(const Number* from) {
    float sum = 0.0F;
    for (std::int64_t first = 0; first < args_.features; first += kChunk) {
      const std::int64_t count = std::min(kChunk, args_.features - first);
      for (std::int64_t i = 0; i < count; ++i) numbers_[i] = Stored::upcast(from[first + i]);
      const std::int64_t whole = (count + kStep - 1) / kStep * kStep;
      std::fill(numbers_ + count, numbers_ + whole, 0.0F);
      sum += sum_of_squares(numbers_, whole);
    }
    return sum;
  }

  void scale(const Number* from, float scale, Number* to) {
    for (std::int64_t first = 0; first < args_.features; first += kChunk) {
      const std::int64_t count = std::min(kChunk, args_.features - first);
      const Weight* HWY_RESTRICT weight = weight_ + first;
      for (std::int64_t i = 0; i < count; ++i) {
        numbers_[i] = StoredWeight::upcast(StoredWeight::narrow(Stored::upcast(from[first + i]) * scale)) * StoredWeight::upcast(weight[i]);
      }
      for (std::int64_t i = 0; i < count; ++i) to[first + i] = Stored::narrow(numbers_[i]);
    }
  }

  const RmsNormArgs& args_;
  const Weight* weight_;
  alignas(64) float numbers_[kChunk];
};

template <class Stored>
void normalise(const RmsNormArgs& args) {
  if (args.weight_type == ElementType::kFp32) return Rows<Stored, StoredFp32>(args).run();
  Rows<Stored, Stored>(args).run();
}

void rms_norm(const RmsNormArgs& args) {
  switch (args.type) {
    case ElementType::kFp32: return Rows<StoredFp32, StoredFp32>(args).run();
    case ElementType::kBf16: return normalise<StoredBf16>(args);
    case ElementType::kFp16: return normalise<StoredFp16>(args);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(rms_norm);

LaunchStatus rms_norm_cpu(const RmsNormArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(rms_norm)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
