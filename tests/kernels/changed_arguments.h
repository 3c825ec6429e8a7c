// What operators and their references say of good arguments when one of them is changed.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "kernels/api/element_type.h"

namespace winnow::kernels::testing {

inline constexpr LaunchStatus kOk = LaunchStatus::kOk;
inline constexpr LaunchStatus kBad = LaunchStatus::kBadArgument;
inline constexpr LaunchStatus kTooLarge = LaunchStatus::kUnsupported;

template <class Args>
class ChangedArguments {
 public:
  ChangedArguments(const Args& good, std::initializer_list<LaunchStatus (*)(const Args&)> calls) : good_(good), calls_(calls) {}

  // All of them say so.
  template <class Change>
  void operator()(LaunchStatus status, const Change& change) const {
    Args args = good_;
    change(args);
    for (const auto call : calls_) EXPECT_EQ(call(args), status);
  }
  // Pointers, none of which may be null.
  template <class... Members>
  void needs(Members... members) const {
    ((*this)(kBad, [&](Args& args) { args.*members = nullptr; }), ...);
  }
  // Numbers, none of which may be 0.
  template <class... Members>
  void needs_some_of(Members... members) const {
    ((*this)(kBad, [&](Args& args) { args.*members = 0; }), ...);
  }

 private:
  Args good_;
  std::vector<LaunchStatus (*)(const Args&)> calls_;
};

}  // namespace winnow::kernels::testing
