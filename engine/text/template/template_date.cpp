#include "engine/text/template/template_date.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "engine/base/error.h"

namespace winnow::chat {
namespace {

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view kWeekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

std::optional<int> digits(std::string_view text) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && number >= 0;
  return all ? std::optional(number) : std::nullopt;
}

std::optional<std::chrono::year_month_day> parsed_day(std::string_view day) {
  if (day.size() != 10 || day[4] != '-' || day[7] != '-') return std::nullopt;
  const auto year = digits(day.substr(0, 4));
  const auto month = digits(day.substr(5, 2));
  const auto number = digits(day.substr(8, 2));
  if (!year || !month || !number) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*number))};
  return date.ok() ? std::optional(date) : std::nullopt;
}

std::string padded(int number, int width) {
  char text[16];
  std::snprintf(text, sizeof text, "%0*d", width, number);
  return text;
}

int day_of_year(const std::chrono::year_month_day& date) {
  using namespace std::chrono;
  return static_cast<int>((sys_days(date) - sys_days(date.year() / January / 1)).count()) + 1;
}

// The text of one code after the percent sign.
std::optional<std::string> field(const std::chrono::year_month_day& date, char code) {
  const auto year = static_cast<int>(date.year());
  const auto month = static_cast<unsigned>(date.month());
  const auto day = static_cast<int>(static_cast<unsigned>(date.day()));
  const std::string_view month_name = kMonths[month - 1];
  const std::string_view weekday = kWeekdays[std::chrono::weekday(date).c_encoding()];
  switch (code) {
    case 'Y':
      return padded(year, 4);
    case 'y':
      return padded(year % 100, 2);
    case 'm':
      return padded(static_cast<int>(month), 2);
    case 'd':
      return padded(day, 2);
    case 'e':
      return (day < 10 ? " " : "") + std::to_string(day);
    case 'j':
      return padded(day_of_year(date), 3);
    case 'B':
      return std::string(month_name);
    case 'b':
    case 'h':
      return std::string(month_name.substr(0, 3));
    case 'A':
      return std::string(weekday);
    case 'a':
      return std::string(weekday.substr(0, 3));
    case 'F':
      return padded(year, 4) + "-" + padded(static_cast<int>(month), 2) + "-" + padded(day, 2);
    case 'H':
    case 'M':
    case 'S':
      return "00";
    case 'I':
      return "12";
    case 'p':
      return "AM";
    case 'T':
      return "00:00:00";
    case 'R':
      return "00:00";
    case 'Z':
    case 'z':
      return "";
    case '%':
      return "%";
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_day(std::string_view day) { return parsed_day(day).has_value(); }

std::optional<std::string> date_text(std::string_view day, std::string_view format) {
  const auto date = parsed_day(day);
  require(date.has_value(), "date_text: no day");
  std::string text;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    if (++i == format.size()) return std::nullopt;
    // "%-d" of the GNU library: without the zero.
    const bool bare = format[i] == '-' && i + 1 < format.size();
    if (bare) ++i;
    const auto written = field(*date, format[i]);
    if (!written) return std::nullopt;
    const std::size_t from = bare && !written->empty() ? std::min(written->find_first_not_of("0 "), written->size() - 1) : 0;
    text += written->substr(from);
  }
  return text;
}

}  // namespace winnow::chat
