#include "ui/composer/frame_pins.h"

#include <algorithm>
#include <utility>

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
  // If pictures stand still for long, the one shown may be older than its place on the strip.
  const double actual = m_actual[at].value_or(m_times[at]);
  return {std::min(range.fromS, actual), std::max(range.toS, actual)};
}

app::PinnedRange FramePins::rangeAmong(const std::vector<double>& timesS, int index) const {
  if (timesS.empty()) return {};
  if (timesS.size() == 1) return {0.0, std::max(m_durationS, timesS.front())};
  const int last = static_cast<int>(timesS.size()) - 1;
  const auto at = static_cast<std::size_t>(std::clamp(index, 0, last));
  const double time = timesS[at];
  const auto middle = [&timesS](std::size_t i) { return (timesS[i] + timesS[i + 1]) / 2.0; };
  // The outer ones reach as far out as they reach in.
  const double from = at > 0 ? middle(at - 1) : time - (middle(0) - time);
  const double to = static_cast<int>(at) < last ? middle(at) : time + (time - from);
  return {std::max(0.0, from), std::max(time, std::min(m_durationS, to))};
}

void FramePins::toggle(app::PinnedRange range) {
  if (isPinned(range)) {
    m_anchor.reset();
    set(app::withoutRange(m_ranges, range));
  } else {
    m_anchor = range;
    set(app::withRange(m_ranges, range));
  }
}

void FramePins::pinThrough(app::PinnedRange range) {
  const app::PinnedRange from = std::exchange(m_anchor, range).value_or(range);
  set(app::withRange(m_ranges, {std::min(range.fromS, from.fromS), std::max(range.toS, from.toS)}));
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
