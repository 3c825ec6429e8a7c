#include "engine/text/template/template_date.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <locale>
#include <sstream>

#include "engine/base/error.h"

namespace winnow::chat {
namespace {

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

// The text of one code after the percent sign; a day has no time zone.
std::optional<std::string> field(const std::chrono::year_month_day& date, char code) {
  using namespace std::chrono;
  if (code == 'Z' || code == 'z') return "";
  if (std::string_view("YymdejBbhAaFHMSIpTR%").find(code) == std::string_view::npos) return std::nullopt;
  std::tm day{};
  day.tm_year = static_cast<int>(date.year()) - 1900;
  day.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  day.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
  day.tm_yday = static_cast<int>((sys_days(date) - sys_days(date.year() / January / 1)).count());
  day.tm_wday = static_cast<int>(weekday(date).c_encoding());
  std::ostringstream text;
  const std::locale& english = std::locale::classic();
  std::use_facet<std::time_put<char>>(english).put(text, text, ' ', &day, code);
  return text.str();
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
