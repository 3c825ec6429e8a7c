// The largest block that operator new was asked for: what a reader of untrusted counts takes before it checks them.
//
// A test program that lists new_probe.cpp among its sources gets its operator new with it. Tests on one thread. torch's memory is
// allocation_probe.h's matter.
#pragma once

#include <cstddef>

namespace winnow::test {

std::size_t largest_new_bytes();
void reset_largest_new();

}  // namespace winnow::test
