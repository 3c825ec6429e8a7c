// The files that go with the next question, as cards in order; many images as their number and a grid of them, above the rest.
//
// Used by the composer. Refuses what cannot be attached with a reason (too many, the same file twice); the rest is decided by opening it.
// UI thread only.
#pragma once

#include <QPointer>
#include <QScrollArea>
#include <QStringList>
#include <vector>

#include "engine/models/model_info.h"
#include "ui/composer/attachment_card.h"

class QBoxLayout;
class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace winnow::ui {

class DetailChoice;

class AttachmentTray : public QScrollArea {
  Q_OBJECT
 public:
  explicit AttachmentTray(MediaPreview& preview, QWidget* parent = nullptr);

  // Empty when accepted, else the reason in words.
  QString add(app::Attachment attachment);
  void clear();
  int count() const { return static_cast<int>(m_cards.size()); }
  AttachmentCard* card(int index) const { return m_cards[static_cast<std::size_t>(index)]; }
  // The attachments of cards that opened; refused ones do not go with the question.
  QList<app::Attachment> attachments() const;
  bool opening() const;  // or waiting to be heard
  int refusedCount() const;
  void showFirstRefused();
  QString pictureCount() const;  // above the grid; empty: there is none
  // The images that can be shown, in order: what a viewer steps through.
  std::vector<QByteArray> images() const;
  // Takes what a plan, or reading them, has said of the documents.
  void judgeDocuments(const QList<DocumentRoom>& rooms);
  bool tooLong() const;                                         // a document that cannot be sent as it is
  QPushButton* removeAllButton() const { return m_removeAll; }  // shown for several
  void setMaximumShare(int heightPx);
  // Scales the frames of every video, to at least one each.
  void scaleFrames(double factor);
  // Details of all pictures and videos that are attached or will be.
  MediaDetails details() const;
  void setDetails(const MediaDetails& details);
  // Takes the loaded model's choices of detail.
  void offerDetails(const DetailChoices& pictures, const DetailChoices& frames);
  // Takes what the loaded model reads: whether a PDF comes as pages.
  void suit(const ModelTraits& traits);
  void hearWith(Hearing* hearing) { m_hearing = hearing; }  // cards from now on
  DetailChoice* pictureDetail() const { return m_pictureDetail; }
  DetailChoice* frameDetail() const { return m_frameDetail; }

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void changed();
  void judged();  // documents fit or do not
  void contentsRequested(const winnow::app::Attachment& video);
  void emptied();  // the last one was removed, which had the focus
  void frameActivated(const QByteArray& path, winnow::MediaKind kind, const std::vector<double>& times, int index);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void remove(AttachmentCard* card);
  int headerHeight(int width) const;
  void placeHeader();
  void adjust();
  void arrange();
  int columns() const;
  void follow();
  bool holds(MediaKind kind) const;

  MediaPreview& m_preview;
  Hearing* m_hearing = nullptr;
  ModelTraits m_traits;
  QWidget* m_header = nullptr;  // above what scrolls: what concerns all of them
  QWidget* m_content = nullptr;
  QVBoxLayout* m_layout = nullptr;
  DetailChoice* m_pictureDetail = nullptr;
  DetailChoice* m_frameDetail = nullptr;
  QPushButton* m_removeAll = nullptr;
  QBoxLayout* m_details = nullptr;
  QLabel* m_count = nullptr;
  QWidget* m_gridBox = nullptr;
  QGridLayout* m_grid = nullptr;
  std::vector<AttachmentCard*> m_tiles;  // in the grid, in order
  std::vector<AttachmentCard*> m_rows;   // below it
  int m_columns = 0;
  std::vector<AttachmentCard*> m_cards;
  QPointer<AttachmentCard> m_followed;  // kept in view until somebody scrolls or works on another card
  int m_maximumHeight = 260;
};

}  // namespace winnow::ui
