// A locale with a decimal comma, compiled for one test: machines for servers and containers have none, and a test that only sets LANG there
// runs under "C" and proves nothing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/scratch_folder.h"

namespace winnow::test {

class CommaLocale {
 public:
  // Sources: Debian's package `locales`. localedef warns (1) about what this C library does not know.
  CommaLocale() {
    const int status = std::system(("localedef -i de_DE -f UTF-8 '" + folder_.file("de_DE.UTF-8") + "' >/dev/null 2>&1").c_str());
    if (status != 0) ADD_FAILURE() << "localedef could not make de_DE (package locales): " << status;
  }

  // Of a shell command that runs under it.
  std::string environment() const { return "LC_ALL=de_DE.UTF-8 LOCPATH='" + folder_.path() + "' "; }
  const std::string& path() const { return folder_.path(); }

 private:
  ScratchFolder folder_;
};

}  // namespace winnow::test
