// What the compiler and the linker guard in the programs, read back from the terminal program as readelf shows it: a flag that a later
// change of the build drops would be missed by nobody.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

std::string readelf(const std::string& what) {
  std::string text;
  FILE* pipe = popen(("readelf --wide " + what + " '" WINNOW_CLI_PROGRAM "'").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) text.append(piece.data(), count);
  return pclose(pipe) == 0 ? text : std::string();
}

// The first line with this word; empty where there is none.
std::string line_with(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST(Hardening, TheProgramLoadsAtAnyAddressWithoutAnExecutableStack) {
  EXPECT_NE(line_with(readelf("--file-header"), "Type:").find("DYN"), std::string::npos);
  const std::string stack = line_with(readelf("--program-headers"), "GNU_STACK");
  ASSERT_FALSE(stack.empty());
  EXPECT_NE(stack.find(" RW "), std::string::npos) << stack;
}

TEST(Hardening, AddressesOfFunctionsAreReadOnlyOnceLoaded) {
  EXPECT_FALSE(line_with(readelf("--program-headers"), "GNU_RELRO").empty());
  EXPECT_NE(line_with(readelf("--dynamic"), "(FLAGS)").find("BIND_NOW"), std::string::npos);
}

TEST(Hardening, BuffersAreChecked) {
#ifdef WINNOW_SANITIZED
  GTEST_SKIP() << "the sanitizer checks them in this build";
#endif
  const std::string symbols = readelf("--dyn-syms");
  EXPECT_NE(symbols.find("__stack_chk_fail"), std::string::npos);
  EXPECT_NE(symbols.find("snprintf_chk"), std::string::npos);
}

TEST(Hardening, TheCheckoutCanBeMoved) {
  const std::string path = line_with(readelf("--dynamic"), "(RUNPATH)");
  ASSERT_FALSE(path.empty());
#ifdef WINNOW_TORCH_INSIDE
  EXPECT_NE(path.find("[$ORIGIN/"), std::string::npos) << path;
  EXPECT_EQ(path.find(':', path.find('[')), std::string::npos) << "more than that one folder: " << path;
#else
  GTEST_SKIP() << "torch is not in this checkout: " << path;
#endif
}

}  // namespace
