#include "app/programs/cli/option_checks.h"

#include <QDate>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

namespace winnow::cli {
namespace {

// The whole text as a number, whatever the locale; nothing for "nan" and "inf".
template <typename Number>
std::optional<Number> read(const std::string& text) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || rest != end || !std::isfinite(static_cast<double>(value))) return std::nullopt;
  return value;
}

std::string plain(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

template <typename Holds>
CLI::Validator validator(const std::string& range, const std::string& sentence, Holds holds) {
  return {[holds, sentence](std::string& text) { return holds(text) ? std::string() : "must be " + sentence; }, range};
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  return validator(range, "a whole number from " + range, [least, most](const std::string& text) {
    const auto value = read<std::int64_t>(text);
    return value && *value >= least && *value <= most;
  });
}

CLI::Validator number(double least, double most) {
  const std::string range = plain(least) + " to " + plain(most);
  return validator(range, "a number from " + range, [least, most](const std::string& text) {
    const auto value = read<double>(text);
    return value && *value >= least && *value <= most;
  });
}

CLI::Validator number_above_zero(double most) {
  return validator("above 0", "a number above 0 and at most " + plain(most), [most](const std::string& text) {
    const auto value = read<double>(text);
    return value && *value > 0.0 && *value <= most;
  });
}

std::string share_problem(const std::string& text) {
  const auto value = read<double>(text);
  return value && *value > 0.0 && *value <= 1.0 ? "" : "must be above 0 and at most 1";
}

std::string day_problem(const std::string& text) {
  const QString day = QString::fromStdString(text);
  return text.size() == 10 && QDate::fromString(day, Qt::ISODate).isValid() ? "" : "must be a day such as 2026-11-27";
}

std::string file_name_problem(const std::string& text) { return text.empty() ? "must name a file or folder" : ""; }

}  // namespace winnow::cli
