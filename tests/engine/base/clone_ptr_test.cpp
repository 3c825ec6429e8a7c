// A pointer that copies what it owns.
#include "engine/base/clone_ptr.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

struct Counter {
  virtual ~Counter() = default;
  virtual std::unique_ptr<Counter> clone() const = 0;
  virtual int next() = 0;
};

struct ByTwo : Counter {
  std::unique_ptr<Counter> clone() const override { return std::make_unique<ByTwo>(*this); }
  int next() override { return value += 2; }
  int value = 0;
};

TEST(ClonePtr, ACopyGoesItsOwnWay) {
  ClonePtr<Counter> first = std::unique_ptr<Counter>(std::make_unique<ByTwo>());
  EXPECT_EQ(first->next(), 2);
  ClonePtr<Counter> second = first;
  EXPECT_EQ(second->next(), 4);
  EXPECT_EQ(second->next(), 6);
  EXPECT_EQ(first->next(), 4) << "the copy's steps are the copy's";
  first = second;
  EXPECT_NE(first.get(), second.get());
  EXPECT_EQ(first->next(), 8);
}

TEST(ClonePtr, MayHoldNothing) {
  const ClonePtr<Counter> nothing;
  const ClonePtr<Counter> copy = nothing;
  EXPECT_FALSE(copy);
  EXPECT_EQ(copy.get(), nullptr);
}

}  // namespace
}  // namespace winnow
