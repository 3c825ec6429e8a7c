#include "ui/models/found_places_model.h"

#include <QCoreApplication>
#include <QFile>
#include <algorithm>

#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "ui/models/conversation_list_model.h"

namespace winnow::ui {
namespace {

constexpr qsizetype kMostPlaces = 200;

// A row of the list shows about thirty characters: what matches has to stand among them.
constexpr qsizetype kMostBefore = 20;
constexpr qsizetype kKeptBefore = 12;

class PlaceWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::PlaceWords)
};

}  // namespace

QString placeName(const app::FoundPlace& place) {
  const QString name = app::attachedName(QFile::decodeName(place.path));
  const app::FileLine& line = place.line;
  if (line.startS >= 0) return PlaceWords::tr("%1 · %2").arg(name, app::formatClock(line.startS));
  if (line.page > 0) return PlaceWords::tr("%1 · page %2").arg(name).arg(line.page);
  return line.kind == app::LineKind::kPassage ? PlaceWords::tr("%1 · line %2").arg(name).arg(line.line + 1) : name;
}

QString foundWords(const app::SearchHit& hit) {
  QString words = hit.snippet.simplified();
  if (const qsizetype match = words.indexOf(QChar(0x2068)); match > kMostBefore)
    words = QChar(0x2026) + words.mid(std::min(match, words.indexOf(QLatin1Char(' '), match - kKeptBefore) + 1));
  words.remove(QChar(0x2068)).remove(QChar(0x2069));
  return app::displayText(words).simplified();
}

void FoundPlacesModel::setHits(const QList<app::SearchHit>& hits) {
  beginResetModel();
  m_hits.clear();
  for (const app::SearchHit& hit : hits) {
    if (hit.place && m_hits.size() < kMostPlaces) m_hits.append(hit);
  }
  endResetModel();
}

int FoundPlacesModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_hits.size()); }

QVariant FoundPlacesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= m_hits.size()) return {};
  const app::SearchHit& hit = m_hits[index.row()];
  switch (role) {
    case Qt::DisplayRole: return placeName(*hit.place);
    case Qt::ToolTipRole: return app::displayText(hit.place->line.text).toHtmlEscaped();
    case Qt::AccessibleTextRole: return tr("%1: %2").arg(placeName(*hit.place), foundWords(hit));
    case ConversationListModel::kSubtitleRole: return foundWords(hit);
    case ConversationListModel::kGroupRole: return index.row() == 0 ? tr("In files") : QString();
    case ConversationListModel::kRunningRole:
    case ConversationListModel::kPinnedRole: return false;
    default: return {};
  }
}

}  // namespace winnow::ui
