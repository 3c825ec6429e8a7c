#include "ui/models/wait_progress.h"

#include <algorithm>

namespace winnow::ui {
namespace {

// The place of each phase on the way of a video that is read and compressed before a question, as it was measured on a CPU. It need not be
// right: the rest is foreseen anew with every step.
struct Stretch {
  double from = 0.0;
  double to = 0.0;
};
constexpr double kPicturesEnd = 0.5;
constexpr Stretch kPictures{0.0, kPicturesEnd};
constexpr Stretch kPrefill{kPicturesEnd, 0.75};
constexpr Stretch kProbe{0.75, 0.97};
constexpr Stretch kCompress{0.97, 1.0};

constexpr double kLeastShare = 0.08;  // from here on the pace says something
constexpr double kLeastMs = 1000.0;

Stretch stretchOf(Phase phase) {
  switch (phase) {
    case Phase::kPrefill: return kPrefill;
    case Phase::kProbe: return kProbe;
    case Phase::kCompress: return kCompress;
    default: return kPictures;
  }
}

}  // namespace

void WaitProgress::begin(Parts parts, Clock::time_point now) {
  m_parts = parts;
  m_begun = now;
  m_share = 0.0;
  m_startsAgain = false;
}

void WaitProgress::take(const Progress& progress, Clock::time_point now) {
  if (progress.phase == Phase::kLoadWeights) begin(m_parts, now);
  m_startsAgain = progress.phase == Phase::kLoadWeights;
  // Decoding goes ahead of encoding by a batch: the later of the two tells how far the pictures are.
  if (progress.total == 0 || progress.phase == Phase::kDecodeMedia || progress.phase == Phase::kLoadWeights) return;
  const Stretch stretch = stretchOf(progress.phase);
  const double done = std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total));
  const double place = stretch.from + (stretch.to - stretch.from) * done;
  const double from = m_parts.pictures ? 0.0 : kPicturesEnd;
  const double to = m_parts.reading ? 1.0 : kPicturesEnd;
  m_share = std::max(m_share, std::clamp((place - from) / (to - from), 0.0, 1.0));
}

std::optional<double> WaitProgress::leftMs(Clock::time_point now) const {
  const double elapsed = std::chrono::duration<double, std::milli>(now - m_begun).count();
  if (m_share < kLeastShare || elapsed < kLeastMs) return std::nullopt;
  return elapsed * (1.0 - m_share) / m_share;
}

}  // namespace winnow::ui
