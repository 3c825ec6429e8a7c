// What the compiler and the linker do for the programs, read back as readelf shows it: a flag that a later change of the build drops would
// be missed by nobody.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

std::string readelf(const std::string& what, const std::string& program = WINNOW_CLI_PROGRAM) {
  std::string text;
  FILE* pipe = popen(("readelf --wide " + what + " '" + program + "'").c_str(), "r");
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
  const std::string path = line_with(readelf("--dynamic", WINNOW_CLI_WITH_ENGINE), "(RUNPATH)");
  ASSERT_FALSE(path.empty());
#ifdef WINNOW_TORCH_INSIDE
  EXPECT_NE(path.find("[$ORIGIN/"), std::string::npos) << path;
  EXPECT_EQ(path.find(':', path.find('[')), std::string::npos) << "more than that one folder: " << path;
#else
  GTEST_SKIP() << "torch is not in this checkout: " << path;
#endif
}

// Loading it is most of the time until the window shows.
void expect_libtorch_only_in(const std::string& with_engine, const std::string& program) {
  EXPECT_FALSE(line_with(readelf("--dynamic", with_engine), "[libtorch").empty()) << with_engine;
  if (program == with_engine) return;
  const std::string names = readelf("--dynamic", program);
  EXPECT_FALSE(line_with(names, "[libQt6Core").empty()) << program;
  EXPECT_EQ(line_with(names, "[libtorch"), "") << program;
  EXPECT_EQ(line_with(names, "[libc10"), "") << program;
  EXPECT_EQ(line_with(names, "(RUNPATH)"), "") << program << " needs no library of ours";
}

TEST(LinkedLibraries, LibtorchIsInTheProgramsThatHaveTheEngine) {
  expect_libtorch_only_in(WINNOW_CLI_WITH_ENGINE, WINNOW_CLI_PROGRAM);
#ifdef WINNOW_PROGRAM
  expect_libtorch_only_in(WINNOW_PROGRAM_WITH_ENGINE, WINNOW_PROGRAM);
#endif
}

}  // namespace
