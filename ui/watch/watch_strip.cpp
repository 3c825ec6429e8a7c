#include "ui/watch/watch_strip.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/words/format_text.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kBarUnits = 4;  // with the gap behind it

}  // namespace

std::vector<double> binnedMeans(const std::vector<double>& values, int most) {
  const std::size_t count = values.size();
  const std::size_t bins = std::min(count, static_cast<std::size_t>(std::max(0, most)));
  std::vector<double> means;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const std::size_t first = bin * count / bins;
    const std::size_t end = (bin + 1) * count / bins;
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = values.begin() + static_cast<std::ptrdiff_t>(end);
    means.push_back(std::accumulate(from, to, 0.0) / static_cast<double>(end - first));
  }
  return means;
}

WatchStrip::WatchStrip(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("How much of each frame is kept"));
  connect(&theme(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

QSize WatchStrip::sizeHint() const { return QSize(theme().px(120), theme().px(22)); }

void WatchStrip::setShares(const std::vector<double>& shares) {
  m_shares = shares;
  const auto forgotten = static_cast<int>(std::count(shares.begin(), shares.end(), 0.0));
  QString words;
  if (!shares.empty()) {
    const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
    words = tr("%Ln frame(s)", nullptr, static_cast<int>(shares.size())) + QStringLiteral(" · ") +
            tr("%1 of a frame kept on average").arg(app::formatShare(mean)) + QStringLiteral(" · ") +
            tr("%Ln forgotten", nullptr, forgotten);
  }
  setToolTip(words.toHtmlEscaped());
  setAccessibleDescription(words);
  update();
}

std::vector<double> WatchStrip::bars() const { return binnedMeans(m_shares, width() / std::max(1, theme().px(kBarUnits))); }

void WatchStrip::paintEvent(QPaintEvent*) {
  const std::vector<double> shares = bars();
  if (shares.empty()) return;
  QPainter painter(this);
  const Colors& c = theme().colors();
  // Few frames do not fill the row.
  const double step = std::min(static_cast<double>(width()) / static_cast<double>(shares.size()), 2.0 * theme().px(kBarUnits));
  const double gap = std::max(1.0, step / 4);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const QRectF ground(static_cast<double>(i) * step, 0, step - gap, height());
    painter.fillRect(ground, c.chartTrack);
    const double tall = height() * std::sqrt(std::clamp(shares[i], 0.0, 1.0));
    painter.fillRect(QRectF(ground.left(), height() - tall, ground.width(), tall), c.chartVisual);
  }
}

}  // namespace winnow::ui
