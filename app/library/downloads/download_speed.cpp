#include "app/library/downloads/download_speed.h"

namespace winnow::app {
namespace {

constexpr qint64 kLookedBackMs = 8000;
constexpr qint64 kLeastMs = 500;
constexpr qint64 kSecondMs = 1000;

}  // namespace

void DownloadSpeed::told(qint64 atMs, qint64 doneBytes) {
  if (!m_moments.empty() && doneBytes < m_moments.back().bytes) m_moments.clear();
  m_moments.push_back({atMs, doneBytes});
  while (m_moments.size() > 2 && m_moments.front().atMs < atMs - kLookedBackMs) m_moments.pop_front();
}

qint64 DownloadSpeed::bytesPerSecond() const {
  if (m_moments.empty()) return 0;
  const qint64 ms = m_moments.back().atMs - m_moments.front().atMs;
  return ms < kLeastMs ? 0 : (m_moments.back().bytes - m_moments.front().bytes) * kSecondMs / ms;
}

std::optional<qint64> DownloadSpeed::secondsLeft(qint64 totalBytes) const {
  const qint64 speed = bytesPerSecond();
  if (speed <= 0 || totalBytes <= 0) return std::nullopt;
  return (totalBytes - m_moments.back().bytes + speed - 1) / speed;
}

}  // namespace winnow::app
