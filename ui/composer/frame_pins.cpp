#include "ui/composer/frame_pins.h"

#include <algorithm>
#include <cmath>

namespace winnow::ui {

void FramePins::setFrames(std::vector<double> timesS, double durationS) {
  m_times = std::move(timesS);
  m_durationS = durationS;
  m_actual.assign(m_times.size(), std::nullopt);
  Q_EMIT shown();
}

void FramePins::setShown(int index, double actualS) {
  if (index >= 0 && index < static_cast<int>(m_actual.size())) m_actual[static_cast<std::size_t>(index)] = actualS;
}

void FramePins::setRanges(const app::PinnedRanges& ranges) {
  m_ranges = ranges;
  Q_EMIT shown();
}

app::PinnedRange FramePins::rangeOf(int index) const {
  if (m_times.empty()) return {};
  const int last = static_cast<int>(m_times.size()) - 1;
  const auto at = static_cast<std::size_t>(std::clamp(index, 0, last));
  app::PinnedRange range{0.0, m_durationS};
  if (at > 0) range.fromS = (m_times[at - 1] + m_times[at]) / 2.0;
  if (static_cast<int>(at) < last) range.toS = (m_times[at] + m_times[at + 1]) / 2.0;
  // Where pictures stand still for long, the one shown may be older than its place on the strip.
  const double actual = m_actual[at].value_or(m_times[at]);
  return {std::min(range.fromS, actual), std::max(range.toS, actual)};
}

int FramePins::nearest(double timeS) const {
  const auto found =
      std::min_element(m_times.begin(), m_times.end(), [timeS](double a, double b) { return std::abs(a - timeS) < std::abs(b - timeS); });
  return m_times.empty() ? 0 : static_cast<int>(found - m_times.begin());
}

void FramePins::toggle(int index) {
  const app::PinnedRange range = rangeOf(index);
  if (isPinned(index)) {
    m_anchor.reset();
    set(app::withoutRange(m_ranges, range));
  } else {
    m_anchor = range;
    set(app::withRange(m_ranges, range));
  }
}

void FramePins::pinThrough(int index) {
  app::PinnedRange range = rangeOf(index);
  if (m_anchor) range = {std::min(range.fromS, m_anchor->fromS), std::max(range.toS, m_anchor->toS)};
  m_anchor = rangeOf(index);
  set(app::withRange(m_ranges, range));
}

void FramePins::clear() {
  m_anchor.reset();
  set({});
}

void FramePins::set(app::PinnedRanges ranges) {
  if (ranges == m_ranges) return;
  m_ranges = std::move(ranges);
  Q_EMIT shown();
  Q_EMIT changed();
}

}  // namespace winnow::ui
