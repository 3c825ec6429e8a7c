// Places in attached files that a search has found, best first: the file and its time or page, and what stands there.
//
// Shown under the chats of the sidebar, with the roles of conversation_list_model.h. UI thread only.
#pragma once

#include <QAbstractListModel>

#include "app/chats/chat/conversation.h"

namespace winnow::ui {

// "clip.mp4 · 0:15", "report.pdf · page 3", "notes.txt · line 12".
QString placeName(const app::FoundPlace& place);
// One line of a hit's words, without the marks around what matches, which stands near its beginning.
QString foundWords(const app::SearchHit& hit);

class FoundPlacesModel : public QAbstractListModel {
  Q_OBJECT
 public:
  using QAbstractListModel::QAbstractListModel;
  // Those of them that are in files; so many that one looks through.
  void setHits(const QList<app::SearchHit>& hits);
  const app::SearchHit& at(int row) const { return m_hits[row]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  QList<app::SearchHit> m_hits;
};

}  // namespace winnow::ui
