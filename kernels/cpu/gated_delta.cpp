// The gated delta rule for CPUs, compiled once per instruction set and chosen at run time (Highway).
//
// Work: some columns of a head's state are read into memory of the stack, where they stay in the first-level cache while all tokens go
// through them: a prompt reads and writes the state once. A token passes over them twice: S^T k, then S and S^T q. Sums over a key go in
// the order of its elements, whatever the vector's width, but for fused products. No alignment is assumed.
#include "kernels/api/gated_delta.h"

#include <algorithm>
#include <cstdint>

#include "kernels/reference/check_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gated_delta.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kColumns = 16;  // with a key of 128 elements 8 KiB

// Up to kColumns columns; those beyond `columns` are zeros.
class DeltaColumns {
  using Floats = hn::CappedTag<float, 8>;
  using Vector = hn::Vec<Floats>;

 public:
  DeltaColumns(const GatedDeltaArgs& args, std::int64_t first, std::int64_t columns)
      : args_(args), own_(args.state + args.head * args.key_dim * args.value_dim + first), first_(first), columns_(columns) {}

  void run() {
    for (std::int64_t i = 0; i < args_.key_dim; ++i) {
      std::copy_n(own_ + i * args_.value_dim, columns_, state_ + i * kColumns);
      std::fill(state_ + i * kColumns + columns_, state_ + (i + 1) * kColumns, 0.0F);
    }
    for (std::int64_t token = 0; token < args_.tokens; ++token) through(token);
    for (std::int64_t i = 0; i < args_.key_dim; ++i) std::copy_n(state_ + i * kColumns, columns_, own_ + i * args_.value_dim);
  }

 private:
  void through(std::int64_t token) {
    const float* HWY_RESTRICT key = args_.key + (token * args_.key_heads + args_.key_head) * args_.key_dim;
    const float* HWY_RESTRICT query = args_.query + (token * args_.key_heads + args_.key_head) * args_.key_dim;
    const std::int64_t of_head = token * args_.value_heads + args_.head;
    alignas(64) float row[2 * kColumns] = {};  // twice as long as needed: GCC sees single elements stored as vectors
    std::copy_n(args_.value + of_head * args_.value_dim + first_, columns_, row);
    const Floats d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t at = 0; at < kColumns; at += 2 * lanes) {
      update(key, query, args_.decay[of_head], args_.beta[of_head], state_ + at, row + at);
    }
    std::copy_n(row, columns_, args_.output + of_head * args_.value_dim + first_);
  }

  // Two vectors of columns side by side. row: the values, then what is read.
  HWY_INLINE void update(const float* HWY_RESTRICT key, const float* HWY_RESTRICT query, float decay, float beta, float* HWY_RESTRICT state,
                         float* HWY_RESTRICT row) const {
    const Floats d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    Vector left = hn::Zero(d), right = hn::Zero(d);
    for (std::int64_t i = 0; i < args_.key_dim; ++i) {
      const Vector each = hn::Set(d, key[i]);
      left = hn::MulAdd(each, hn::Load(d, state + i * kColumns), left);
      right = hn::MulAdd(each, hn::Load(d, state + i * kColumns + lanes), right);
    }
    const Vector kept = hn::Set(d, decay);
    const Vector rate = hn::Set(d, beta);
    left = hn::Mul(rate, hn::NegMulAdd(kept, left, hn::Load(d, row)));
    right = hn::Mul(rate, hn::NegMulAdd(kept, right, hn::Load(d, row + lanes)));
    Vector read_left = hn::Zero(d), read_right = hn::Zero(d);
    for (std::int64_t i = 0; i < args_.key_dim; ++i) {
      const Vector each = hn::Set(d, key[i]);
      const Vector asked = hn::Set(d, query[i]);
      const Vector new_left = hn::MulAdd(each, left, hn::Mul(kept, hn::Load(d, state + i * kColumns)));
      const Vector new_right = hn::MulAdd(each, right, hn::Mul(kept, hn::Load(d, state + i * kColumns + lanes)));
      hn::Store(new_left, d, state + i * kColumns);
      hn::Store(new_right, d, state + i * kColumns + lanes);
      read_left = hn::MulAdd(asked, new_left, read_left);
      read_right = hn::MulAdd(asked, new_right, read_right);
    }
    hn::Store(read_left, d, row);
    hn::Store(read_right, d, row + lanes);
  }

  const GatedDeltaArgs& args_;
  float* own_;
  std::int64_t first_;
  std::int64_t columns_;
  alignas(64) float state_[kMaxDeltaKey * kColumns];
};

void gated_delta(const GatedDeltaArgs& args) {
  const std::int64_t end = args.first_column + args.columns;
  for (std::int64_t first = args.first_column; first < end; first += kColumns)
    DeltaColumns(args, first, std::min(kColumns, end - first)).run();
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(gated_delta);

LaunchStatus gated_delta_cpu(const GatedDeltaArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  HWY_DYNAMIC_DISPATCH(gated_delta)(args);
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
#endif  // HWY_ONCE
