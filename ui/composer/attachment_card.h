// One attached file in the composer: what it is, a look at it, for a video the frames that the question will see and whether its subtitles
// or what is said are read with them, for a document how much of it is read, for a PDF if as text or as pictures of its pages. Sound alone
// is a document of what is said in it, once that was heard.
//
// Used by attachment_tray.h. Asks MediaPreview for facts and pictures and keeps the Attachment up to date, what is pinned of it included
// (an image or a document as a whole: button, or P on the card). A file that cannot be opened, or is not the one that was attached, stays
// visible with the reason and what can be done about it until it is removed. UI thread only.
#pragma once

#include <QFrame>
#include <functional>
#include <optional>

#include "app/chats/chat/conversation.h"
#include "app/media/files/paper_form.h"
#include "engine/models/model_info.h"
#include "ui/composer/media_preview.h"

class QBoxLayout;
class QLabel;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace winnow::ui {

class ElidedLabel;
class EncodingChoice;
class FramePins;
class FrameStrip;
class Hearing;

enum class CardState : int { kOpening = 1, kReady = 2, kRefused = 3 };
// A row with all that is known and can be done, or one picture among many.
enum class CardForm : int { kRow = 1, kTile = 2 };

// For an attached document: its length in tokens, and how many of them there is room for.
struct DocumentRoom {
  QByteArray path;
  qint64 tokens = 0;  // of all of it
  bool fits = true;   // what is to be read of it
  qint64 most = 0;    // where it does not fit: so many tokens would; 0: none
};

class AttachmentCard : public QFrame {
  Q_OBJECT
 public:
  // hearing: null where nothing hears. It outlives the card.
  AttachmentCard(MediaPreview& preview, app::Attachment attachment, Hearing* hearing = nullptr, QWidget* parent = nullptr);
  ~AttachmentCard() override;

  const app::Attachment& attachment() const { return m_attachment; }
  // The attachments that go with the question: of a PDF as pages one for each of them.
  QList<app::Attachment> asked() const;
  // Takes the model into account: one that sees gets pages, unless the user has chosen.
  void suit(const ModelTraits& traits);
  // The next page of a PDF whose pages come one by one, out of a draft; false: it is none.
  bool takePage(const app::Attachment& page);
  CardState state() const { return m_state; }
  // An image that has nothing to say; while it opens, what is named like one.
  bool canBeTile() const;
  CardForm form() const { return m_form; }
  void setForm(CardForm form);
  QImage thumbnail() const { return m_poster; }
  FrameStrip* strip() const { return m_strip; }
  QSpinBox* frameCount() const { return m_frames; }
  FramePins* pins() const { return m_pins; }
  QToolButton* pinButton() const { return m_pin; }  // images and documents
  QPushButton* offerButton() const { return m_offer; }
  QString detail() const;
  qint64 pages() const { return m_summary.pages; }  // of a PDF
  QString noticed() const;                          // what is wrong with the file, a line each; empty: nothing
  void judge(const DocumentRoom& room);
  bool tooLong() const { return !m_room.fits; }
  QString unheard() const;                    // of sound and scans: why it cannot be asked about yet
  void setStretch(double fromS, double toS);  // of a video, which the question is about
  void noteContents();                        // of a video: lines with times are kept of it by now
  QString planText() const;                   // "64 frames · one every 2 s · 0:00–2:08"

 Q_SIGNALS:
  void changed();
  void removeRequested();
  void contentsRequested(const winnow::app::Attachment& video);
  void frameActivated(const QByteArray& path, winnow::MediaKind kind, const std::vector<double>& times, int index);

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void placeRemove();
  void onProbed(const MediaSummary& summary);
  void onFailed(const Error& error);
  void refuse(const QString& why, const QString& details);
  void probe();
  void find();
  void askPassword();
  void openAnew();
  void moveTo(const QByteArray& path);
  void take(const MediaSummary& summary);
  void showFacts();
  void showNoticed();
  void readIn(const QByteArray& encoding);
  bool isAsPages() const { return m_attachment.kind == MediaKind::kImage && m_attachment.pages.first > 0; }
  int pagesAsked() const { return m_attachment.pages.last - m_attachment.pages.first + 1; }
  void showAs(app::PaperForm form);
  QString formText() const;
  // One thing that can be done about it.
  struct Offer {
    QString label;
    std::function<void()> take;
  };
  std::optional<Offer> offer();
  std::optional<Offer> offerOfRefused();
  std::optional<Offer> offerOfSound();
  std::optional<Offer> offerInstead();
  bool isSound() const { return m_summary.kind == MediaKind::kDocument && m_summary.hasSound; }
  bool readsSpeech() const { return !m_summary.speech.isEmpty() && m_attachment.subtitles == m_summary.speech; }
  bool isListening() const;
  void listenUnasked();
  void take(const std::optional<Offer>& offer);
  void onHeard(const QByteArray& path, const QString& failure);
  bool isScan() const { return m_summary.pages > 0 && m_summary.words == 0 && !isAsPages(); }
  std::optional<Offer> offerOfScan();
  void onScanned(const QByteArray& file, const QString& failure);
  QString soundText() const;
  void showOffer();
  void buildVideoControls();
  void requestPictures();
  void updatePlan();
  qint64 framesThere() const;
  void showPins();
  void open();
  void openFrameAt(double seconds);

  MediaPreview& m_preview;
  Hearing* m_hearing;
  bool m_wasHeard = false;      // just now: its lines are read with the frames
  bool m_heardUnasked = false;  // it was tried
  double m_heardS = 0;
  double m_soundS = 0;  // 0: not known
  QString m_deaf;       // why it could not be heard, or read
  app::Attachment m_attachment;
  MediaSummary m_summary;
  CardState m_state = CardState::kOpening;
  CardForm m_form = CardForm::kRow;
  std::optional<ErrorCode> m_refusal;                     // why it cannot be used
  app::PaperForm m_paperForm = app::PaperForm::kByModel;  // as chosen
  bool m_modelSees = false;
  QList<QByteArray> m_pagePictures;  // PNG, of a PDF as pages
  PreviewToken m_probe = 0;
  PreviewToken m_pictures = 0;
  PreviewToken m_scan = 0;  // 0: its text is not being read
  QImage m_poster;
  QBoxLayout* m_head = nullptr;
  QLabel* m_picture = nullptr;
  ElidedLabel* m_name = nullptr;
  QLabel* m_detail = nullptr;
  QLabel* m_noticed = nullptr;
  EncodingChoice* m_encoding = nullptr;
  QPushButton* m_offer = nullptr;
  QPushButton* m_instead = nullptr;
  QWidget* m_words = nullptr;  // beside the picture
  DocumentRoom m_room;
  QToolButton* m_remove = nullptr;
  QToolButton* m_pin = nullptr;
  FramePins* m_pins = nullptr;
  QWidget* m_videoArea = nullptr;
  FrameStrip* m_strip = nullptr;
  QSpinBox* m_frames = nullptr;
  QLabel* m_plan = nullptr;
  QPushButton* m_contents = nullptr;
};

}  // namespace winnow::ui
