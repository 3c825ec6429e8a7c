// The definition of correct, and the CPU's implementation: sorts only as much as top-k and top-p keep.
#include "kernels/api/sample_token.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/reference/check_rows.h"
#include "kernels/reference/sample_weights.h"

namespace winnow::kernels {
namespace {

// The keys of the ids that are left, in any order, and what each id weighs: nothing where it is not among them.
class Kept {
 public:
  Kept(const SampleTokenArgs& args, std::uint64_t best)
      : args_(args), best_(best), begin_(args.workspace), end_(begin_ + args.vocabulary), weights_(end_) {
    for (std::int64_t id = 0; id < args.vocabulary; ++id) begin_[id] = choice_key(args, id);
  }

  void keep_top_k() {
    if (!has_top_k()) return;
    std::uint64_t* const kth = begin_ + (args_.top_k - 1);
    std::nth_element(begin_, kth, end_, std::greater<>());
    const std::uint64_t least = *kth & ~kChoiceIdMask;  // with all that tie
    end_ = std::partition(kth + 1, end_, [&](std::uint64_t key) { return key >= least; });
  }

  void weigh() {
    if (!has_top_k()) {  // keys are in the order of ids
      const std::uint64_t best = best_;
      const double temperature = args_.temperature;
      const std::int64_t vocabulary = args_.vocabulary;
      for (std::int64_t id = 0; id < vocabulary; ++id) weights_[id] = choice_weight(choice_value(begin_[id], best, temperature));
      return;
    }
    std::fill_n(weights_, args_.vocabulary, 0);
    for (const std::uint64_t* key = begin_; key < end_; ++key) weight(*key) = choice_weight(value(*key));
  }

  // An id stays while the better ones weigh less than the share of all; the first one always does.
  void keep_top_p() {
    if (args_.top_p >= 1.0) return;
    const double limit = args_.top_p * static_cast<double>(total());
    std::make_heap(begin_, end_);
    std::uint64_t* worse = end_;
    std::uint64_t better = 0;
    do {
      std::pop_heap(begin_, worse--);  // to the heap's end
      better += weight(*worse);
    } while (static_cast<double>(better) < limit);
    for (; begin_ < worse; ++begin_) weight(*begin_) = 0;
  }

  void keep_min_p() {
    if (args_.min_p == 0.0) return;
    const double least_value = least_choice_value(args_);
    for (const std::uint64_t* key = begin_; key < end_; ++key) {
      if (value(*key) < least_value) weight(*key) = 0;
    }
  }

  std::int64_t draw() const {
    const double target = args_.uniform * static_cast<double>(total());
    std::uint64_t sum = 0;
    std::int64_t id = -1;
    do sum += weights_[++id];
    while (!(static_cast<double>(sum) > target));  // the draw is below 1
    return id;
  }

 private:
  bool has_top_k() const { return args_.top_k > 0 && args_.top_k < args_.vocabulary; }
  std::uint64_t total() const { return std::accumulate(weights_, weights_ + args_.vocabulary, std::uint64_t{0}); }
  double value(std::uint64_t key) const { return choice_value(key, best_, args_.temperature); }
  std::uint64_t& weight(std::uint64_t key) const { return weights_[choice_id(key)]; }

  const SampleTokenArgs& args_;
  std::uint64_t best_;
  std::uint64_t* begin_;
  std::uint64_t* end_;
  std::uint64_t* weights_;  // by id
};

}  // namespace

LaunchStatus sample_token_reference(const SampleTokenArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t i = 0; i < args.fresh_count; ++i) {
    if (args.fresh[i] >= 0 && args.fresh[i] < args.vocabulary) args.seen[args.fresh[i]] = 1;
  }
  std::uint64_t best = 0;
  for (std::int64_t id = 0; id < args.vocabulary; ++id) best = std::max(best, choice_key(args, id));
  *args.choice = choice_of_best(best);
  if (args.temperature == 0.0 || *args.choice < 0) return LaunchStatus::kOk;
  Kept kept(args, best);
  kept.keep_top_k();
  kept.weigh();
  kept.keep_top_p();
  kept.keep_min_p();
  *args.choice = kept.draw();
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
