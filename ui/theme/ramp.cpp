#include "ui/theme/ramp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

QColor between(const QColor& a, const QColor& b, double share) {
  const auto mix = [share](int from, int to) { return static_cast<int>(std::lround(from + (to - from) * share)); };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

QColor along(std::span<const QColor> stops, double at) {
  const double place = std::clamp(at, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto first = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  return between(stops[first], stops[first + 1], place - static_cast<double>(first));
}

// The scale is that of the square root.
double placeOf(double share) { return std::sqrt(std::clamp(share, 0.0, 1.0)); }

}  // namespace

QColor shareColorOnPaper(double share) {
  // ColorBrewer's YlGnBu (Apache 2.0).
  static const std::array<QColor, 7> kLight = {QColor(0xf7, 0xf6, 0xe4), QColor(0xdd, 0xee, 0xbb), QColor(0xa6, 0xdb, 0xb8),
                                               QColor(0x5f, 0xc1, 0xc0), QColor(0x2b, 0x93, 0xc0), QColor(0x22, 0x5e, 0xa8),
                                               QColor(0x10, 0x2a, 0x6b)};
  return along(kLight, placeOf(share));
}

QColor shareColor(double share) {
  // cividis (Nuñez, Anderton, Renslow 2018) on dark grounds.
  static const std::array<QColor, 6> kDark = {QColor(0x0a, 0x1c, 0x3a), QColor(0x30, 0x41, 0x6b), QColor(0x5d, 0x61, 0x6f),
                                              QColor(0x8b, 0x86, 0x78), QColor(0xc3, 0xb3, 0x69), QColor(0xfd, 0xe7, 0x37)};
  return theme().colors().dark ? along(kDark, placeOf(share)) : shareColorOnPaper(share);
}

QColor differenceColor(double difference) {
  const Colors& c = theme().colors();
  const QColor below = c.dark ? QColor(0x56, 0xb4, 0xe9) : QColor(0x00, 0x5a, 0x9c);
  const QColor above = c.dark ? QColor(0xf0, 0x9a, 0x3c) : QColor(0xc2, 0x4e, 0x00);
  const double far = std::sqrt(std::min(1.0, std::abs(difference)));
  return between(c.raised, difference < 0 ? below : above, far);
}

QColor inkOn(const QColor& ground) {
  const double lightness = 0.2126 * ground.redF() + 0.7152 * ground.greenF() + 0.0722 * ground.blueF();
  return lightness > 0.45 ? QColor(0x14, 0x16, 0x18) : QColor(0xff, 0xff, 0xff);
}

}  // namespace winnow::ui
