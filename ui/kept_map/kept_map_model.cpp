#include "ui/kept_map/kept_map_model.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

// The token's share of heads from which it counts as kept where only yes or no can be said.
constexpr double kHalf = 0.5;

std::vector<double> shares(const app::KeptMap& map, const std::vector<PromptPart>& parts, int head) {
  const int firstHead = head == KeptMapModel::kAllHeads ? 0 : head;
  const int lastHead = head == KeptMapModel::kAllHeads ? map.heads() - 1 : head;
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(map.layers()) * parts.size());
  for (int layer = 0; layer < map.layers(); ++layer) {
    for (const PromptPart& part : parts) {
      int kept = 0;
      for (int at = firstHead; at <= lastHead; ++at) {
        for (const int token : part.tokens) kept += map.isKept(layer, at, token) ? 1 : 0;
      }
      const double all = static_cast<double>(part.tokens.size()) * (lastHead - firstHead + 1);
      result.push_back(all > 0 ? kept / all : 0.0);
    }
  }
  return result;
}

}  // namespace

int pageOf(const MapMedia* media, int line) {
  if (media == nullptr) return 0;
  return static_cast<int>(std::ranges::upper_bound(media->pageLines, line) - media->pageLines.begin());
}

QString lineName(const MapMedia* media, int line) {
  const auto at = static_cast<std::size_t>(std::max(0, line));
  return media != nullptr && at < media->linesS.size() ? app::formatClock(media->linesS[at]) : QString::number(line + 1);
}

KeptBy keptBy(double byFirst, double bySecond) {
  const bool first = byFirst >= kHalf && byFirst > 0.0;
  const bool second = bySecond >= kHalf && bySecond > 0.0;
  if (first) return second ? KeptBy::kBoth : KeptBy::kFirst;
  return second ? KeptBy::kSecond : KeptBy::kNone;
}

void KeptMapModel::clear() {
  m_first.reset();
  m_second.reset();
  m_media.clear();
  m_parts.clear();
  Q_EMIT mapChanged();
}

void KeptMapModel::setMap(app::SharedKeptMap map, std::vector<MapMedia> media) {
  m_first = std::move(map);
  m_second.reset();
  install(std::move(media));
}

bool KeptMapModel::setDifference(const app::SharedKeptMap& first, const app::SharedKeptMap& second, const QString& firstName,
                                 const QString& secondName, std::vector<MapMedia> media) {
  if (!first || !second || first->layers() != second->layers() || first->heads() != second->heads()) return false;
  app::SharedKeptMap one = first, two = second;
  if (std::optional<app::KeptMap> told = second->over(first->origins())) {
    two = std::make_shared<const app::KeptMap>(*std::move(told));
  } else if (std::optional<app::KeptMap> other = first->over(second->origins())) {
    one = std::make_shared<const app::KeptMap>(*std::move(other));
  } else {
    return false;
  }
  m_first = std::move(one);
  m_second = std::move(two);
  m_firstName = firstName;
  m_secondName = secondName;
  install(std::move(media));
  return true;
}

void KeptMapModel::install(std::vector<MapMedia> media) {
  const std::size_t before = m_parts.size();
  m_media = std::move(media);
  std::vector<MediaKind> kinds;
  for (const MapMedia& item : m_media) kinds.push_back(item.kind);
  m_parts = m_first ? promptParts(m_first->origins(), kinds) : std::vector<PromptPart>();
  m_headsDiffer = m_first && (m_first->headsDiffer() || (m_second && m_second->headsDiffer()));
  m_head = kAllHeads;
  count();
  // From one method to another of the same prompt one goes on looking at the same place.
  if (before != m_parts.size() || m_layer >= layers()) selectWhatSaysMost();
  Q_EMIT mapChanged();
}

// The question was about the newest picture, video or document: selects of it the part of which most is kept, or on which two maps differ
// most, in the layer where that is so.
void KeptMapModel::selectWhatSaysMost() {
  m_layer = 0;
  m_part = 0;
  std::pair<int, double> best{-1, -1.0};
  for (int part = 0; part < static_cast<int>(m_parts.size()); ++part) {
    const PromptPart& p = m_parts[static_cast<std::size_t>(part)];
    const std::pair<int, double> here{p.media, std::abs(meanShare(part))};
    if (!p.attached() || here <= best) continue;
    best = here;
    m_part = part;
  }
  if (m_parts.empty()) return;
  for (int layer = 1; layer < layers(); ++layer) {
    if (std::abs(share(layer, m_part)) > std::abs(share(m_layer, m_part))) m_layer = layer;
  }
}

void KeptMapModel::count() {
  m_firstShares = m_first ? shares(*m_first, m_parts, m_head) : std::vector<double>();
  m_secondShares = m_second ? shares(*m_second, m_parts, m_head) : std::vector<double>();
}

const MapMedia* KeptMapModel::mediaOf(const PromptPart& part) const {
  return part.media >= 0 && part.media < static_cast<int>(m_media.size()) ? &m_media[static_cast<std::size_t>(part.media)] : nullptr;
}

bool KeptMapModel::merges() const { return (m_first && m_first->merges()) || (m_second && m_second->merges()); }

void KeptMapModel::setLayer(int layer) {
  layer = std::clamp(layer, 0, std::max(0, layers() - 1));
  if (layer == m_layer) return;
  m_layer = layer;
  Q_EMIT selectionChanged();
}

void KeptMapModel::setPart(int part) {
  part = std::clamp(part, 0, std::max(0, static_cast<int>(m_parts.size()) - 1));
  if (part == m_part) return;
  m_part = part;
  Q_EMIT selectionChanged();
}

void KeptMapModel::setHead(int head) {
  head = std::clamp(head, kAllHeads, heads() - 1);
  if (head == m_head) return;
  m_head = head;
  count();
  Q_EMIT sharesChanged();
}

double KeptMapModel::firstShare(int layer, int part) const {
  return m_firstShares[static_cast<std::size_t>(layer) * m_parts.size() + static_cast<std::size_t>(part)];
}

double KeptMapModel::secondShare(int layer, int part) const {
  return m_secondShares.empty() ? 0.0 : m_secondShares[static_cast<std::size_t>(layer) * m_parts.size() + static_cast<std::size_t>(part)];
}

double KeptMapModel::share(int layer, int part) const {
  return isDifference() ? secondShare(layer, part) - firstShare(layer, part) : firstShare(layer, part);
}

double KeptMapModel::meanShare(int part) const {
  double sum = 0.0;
  for (int layer = 0; layer < layers(); ++layer) sum += share(layer, part);
  return layers() > 0 ? sum / layers() : 0.0;
}

double KeptMapModel::shareOfHeads(const app::KeptMap& map, int token) const {
  if (m_head != kAllHeads) return map.isKept(m_layer, m_head, token) ? 1.0 : 0.0;
  return map.heads() > 0 ? static_cast<double>(map.keptHeads(m_layer, token)) / map.heads() : 0.0;
}

double KeptMapModel::kept(int token) const { return shareOfHeads(*m_first, token); }
double KeptMapModel::keptBySecond(int token) const { return m_second ? shareOfHeads(*m_second, token) : 0.0; }
KeptBy KeptMapModel::keptBy(int token) const { return ui::keptBy(kept(token), keptBySecond(token)); }

int KeptMapModel::merged(int token) const {
  return m_head == kAllHeads ? m_first->mostMerged(m_layer, token) : m_first->merged(m_layer, m_head, token);
}

QString KeptMapModel::partName(int part) const {
  const PromptPart& p = m_parts[static_cast<std::size_t>(part)];
  const MapMedia* media = mediaOf(p);
  // Says which one of several pictures or videos it is.
  return media != nullptr && m_media.size() > 1 ? tr("%1: %2").arg(media->title, placeOf(p)) : placeOf(p);
}

QString KeptMapModel::placeOf(const PromptPart& p) const {
  const MapMedia* media = mediaOf(p);
  switch (p.kind) {
    case PartKind::kSystem: return tr("System text");
    case PartKind::kText: return tr("Text %1").arg(p.number);
    case PartKind::kWhole: return tr("Picture, whole");
    case PartKind::kTiles: return tr("Picture, tiles");
    case PartKind::kLines: {
      const QString lines = p.frame == p.lastLine ? tr("Line %1").arg(p.frame + 1) : tr("Lines %1–%2").arg(p.frame + 1).arg(p.lastLine + 1);
      if (const int page = pageOf(media, p.frame); page > 0) return tr("%1 · page %2").arg(lines).arg(page);
      const bool timed = media != nullptr && !media->linesS.empty();
      return timed ? tr("%1 · said at %2").arg(lines, lineName(media, p.frame)) : lines;
    }
    case PartKind::kFrame: break;
  }
  const auto frame = static_cast<std::size_t>(std::max(0, p.frame));
  if (media == nullptr || frame >= media->timesS.size()) return tr("Frame %1").arg(frame + 1);
  return tr("Frame %1 of %2 · %3").arg(frame + 1).arg(media->timesS.size()).arg(app::formatClock(media->timesS[frame]));
}

QString KeptMapModel::describe(int layer, int part) const {
  if (isEmpty() || layer < 0 || layer >= layers() || part < 0 || part >= static_cast<int>(m_parts.size())) return {};
  const PromptPart& p = m_parts[static_cast<std::size_t>(part)];
  const auto tokens = static_cast<double>(p.tokens.size());
  const QString place = tr("Layer %1 · %2").arg(layer).arg(partName(part));
  if (isDifference()) {
    return tr("%1 · “%2” keeps %3 of it, “%4” keeps %5")
        .arg(place, m_firstName, app::formatShare(firstShare(layer, part)), m_secondName, app::formatShare(secondShare(layer, part)));
  }
  const double share = firstShare(layer, part);
  return tr("%1 · %2 of %3 tokens kept (%4)")
      .arg(place, app::formatCount(share * tokens), app::formatCount(tokens), app::formatShare(share));
}

QString KeptMapModel::describeToken(int token) const {
  if (isEmpty() || token < 0 || token >= m_first->tokens()) return {};
  const TokenOrigin& origin = m_first->origins()[static_cast<std::size_t>(token)];
  QStringList words;
  if (origin.row >= 0) words << tr("Row %1, column %2").arg(origin.row + 1).arg(origin.column + 1);
  if (origin.modality == Modality::kDocument || origin.modality == Modality::kSubtitle) words << tr("line %1").arg(origin.frame + 1);
  const bool known = origin.media >= 0 && origin.media < static_cast<int>(m_media.size());
  if (const int page = known ? pageOf(&m_media[static_cast<std::size_t>(origin.media)], origin.frame) : 0; page > 0)
    words << tr("page %1").arg(page);
  words << tr("token %1").arg(token);
  if (isDifference()) {
    switch (keptBy(token)) {
      case KeptBy::kBoth: words << tr("kept by both"); break;
      case KeptBy::kFirst: words << tr("kept by %1 only").arg(m_firstName); break;
      case KeptBy::kSecond: words << tr("kept by %1 only").arg(m_secondName); break;
      case KeptBy::kNone: words << tr("dropped by both"); break;
    }
    return words.join(QStringLiteral(" · "));
  }
  const double share = kept(token);
  if (m_head != kAllHeads || heads() == 1 || share <= 0.0 || share >= 1.0) {
    words << (share > 0.0 ? tr("kept") : tr("dropped"));
  } else {
    words << tr("kept by %1 of %2 heads").arg(m_first->keptHeads(m_layer, token)).arg(heads());
  }
  if (const int taken = merged(token); taken > 0) words << tr("merged in: %1").arg(taken);
  if (m_first->isPinned(token)) words << tr("pinned");
  return words.join(QStringLiteral(" · "));
}

KeptTableModel::KeptTableModel(KeptMapModel& model, QObject* parent) : QAbstractTableModel(parent), m_model(model) {
  const auto reset = [this] {
    beginResetModel();
    endResetModel();
  };
  connect(&m_model, &KeptMapModel::mapChanged, this, reset);
  connect(&m_model, &KeptMapModel::sharesChanged, this, [this] {
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  });
}

int KeptTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() || m_model.isEmpty() ? 0 : m_model.layers(); }

int KeptTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || m_model.isEmpty() ? 0 : kFirstPart + static_cast<int>(m_model.parts().size());
}

QVariant KeptTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (index.column() == kLayer) return role == Qt::DisplayRole || role == Qt::UserRole ? QVariant(index.row()) : QVariant();
  const int part = index.column() - kFirstPart;
  const double share = m_model.share(index.row(), part);
  if (role == Qt::UserRole) return share;
  if (role == Qt::ToolTipRole) return m_model.describe(index.row(), part);
  if (role != Qt::DisplayRole) return {};
  return m_model.isDifference() && share > 0 ? QLatin1Char('+') + app::formatShare(share)
         : share < 0                         ? QChar(u'−') + app::formatShare(-share)
                                             : app::formatShare(share);
}

QVariant KeptTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || m_model.isEmpty()) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  if (section == kLayer) return tr("Layer");
  const int part = section - kFirstPart;
  return part < static_cast<int>(m_model.parts().size()) ? m_model.partName(part) : QVariant();
}

}  // namespace winnow::ui
