// Expecting a winnow::Exception by code and by words of its reason or subject.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "engine/base/error.h"

namespace winnow::test {

// Runs `action`, which must throw an Exception of `code` whose "subject: reason" contains `words`.
inline void expect_error(ErrorCode code, const std::string& words, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown; expected \"" << words << "\"";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, code) << exception.what();
    EXPECT_NE(std::string(exception.what()).find(words), std::string::npos)
        << "got \"" << exception.what() << "\" instead of \"" << words << "\"";
  }
}

}  // namespace winnow::test
