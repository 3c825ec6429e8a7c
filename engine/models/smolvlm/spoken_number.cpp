#include "engine/models/smolvlm/spoken_number.h"

#include <array>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::array<const char*, 20> kSmall = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                                "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                                "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<const char*, 10> kTens = {"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};

std::string below_hundred(std::int64_t number) {
  if (number < 20) return kSmall[static_cast<std::size_t>(number)];
  std::string words = kTens[static_cast<std::size_t>(number / 10)];
  if (number % 10 != 0) words.append("-").append(kSmall[static_cast<std::size_t>(number % 10)]);
  return words;
}

std::string below_thousand(std::int64_t number) {
  if (number < 100) return below_hundred(number);
  std::string words = std::string(kSmall[static_cast<std::size_t>(number / 100)]) + " hundred";
  if (number % 100 != 0) words += " and " + below_hundred(number % 100);
  return words;
}

}  // namespace

std::string spoken_number(std::int64_t number) {
  require(number >= 0 && number < 1'000'000, "numbers are spoken up to a million");
  if (number < 1000) return below_thousand(number);
  const std::int64_t rest = number % 1000;
  std::string words = below_thousand(number / 1000) + " thousand";
  if (rest != 0) words += (rest < 100 ? " and " : ", ") + below_thousand(rest);
  return words;
}

}  // namespace winnow
