// The largest block that operator new was asked for, and how many there were: what a reader of untrusted counts takes before it checks
// them, and what a step takes that should take nothing.
//
// A test program that lists new_probe.cpp among its sources gets its operator new with it. Tests on one thread. torch's memory is
// allocation_probe.h's matter.
#pragma once

#include <cstddef>

namespace winnow::test {

std::size_t largest_new_bytes();
void reset_largest_new();
std::size_t new_count();  // since the program began

}  // namespace winnow::test
