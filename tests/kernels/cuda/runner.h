// Where a test program runs the CUDA operators: on fibers of the CPU (kernels_cuda_fibers_test) or on a card (kernels_cuda_device_test).
// Both link the same tests, with other definitions of the operators and of what is declared here (runner_fibers.cpp, runner_card.cpp).
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace winnow::kernels::testing {

// A card takes sizes for which fibers would need minutes.
bool runs_on_card();
// Why the operators cannot run here; empty: they can.
std::string why_no_runner();

// Memory that the operators can reach, from a multiple of 16 on. Every failure is a std::runtime_error.
void* allocate_for_runner(std::size_t bytes);
void release_from_runner(void* memory) noexcept;
void write_to_runner(void* to, const void* from, std::size_t bytes);
// Waits for all launches.
void read_from_runner(void* to, const void* from, std::size_t bytes);

// A grid's values: those that fibers are asked for, too, and those that only a card is asked for.
template <class T = std::int64_t>
std::vector<T> grid_of(std::initializer_list<T> everywhere, std::initializer_list<T> on_card = {}) {
  std::vector<T> values = everywhere;
  if (runs_on_card()) values.insert(values.end(), on_card);
  return values;
}

class OnRunner : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_runner(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

}  // namespace winnow::kernels::testing
