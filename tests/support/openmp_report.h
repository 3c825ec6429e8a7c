// What OpenMP's library says of itself when a program starts: the settings that it has really read.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace winnow::test {

// settings: words of env(1) for the program's environment ("NAME=value"), in which the running test's own wait policy is not; program: a
// shell word.
inline std::string openmp_report(const std::string& settings, const std::string& program) {
  std::string report;
  FILE* pipe = popen(
      ("env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT " + settings + " OMP_DISPLAY_ENV=verbose " + program + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return report;
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) report.append(piece.data(), count);
  return pclose(pipe) == 0 ? report : "failed: " + report;
}

// 'PASSIVE' is printed for want of a policy too. That threads sleep at once is told by the spins: 300000 without a policy.
inline constexpr const char* kSleepsAtOnce = "GOMP_SPINCOUNT = '0'";

}  // namespace winnow::test
