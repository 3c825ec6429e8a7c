// The legal values of options, in words a person reads, and the bounds that batch files share with them.
//
// Used by the commands. CLI11's own checks print a bound as 300 digits and let "nan" through.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace winnow::cli {

inline constexpr int kMostFrames = 1024;
inline constexpr int kMostTokens = 1 << 20;
inline constexpr int kMostSlots = 1 << 24;
inline constexpr double kLongestS = 1e9;  // of a video, in seconds

CLI::Validator whole_number(std::int64_t least, std::int64_t most);
CLI::Validator number(double least, double most);
CLI::Validator number_above_zero(double most);

// For check(): why the text is no share of the cache, no day, no file name; empty if it is.
std::string share_problem(const std::string& text);
std::string day_problem(const std::string& text);
std::string file_name_problem(const std::string& text);

}  // namespace winnow::cli
