#include "ui/composer/attachment_card.h"

#include <QApplication>
#include <QBuffer>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/chats/chat/lines_digest.h"
#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "app/words/format_text.h"
#include "app/words/media_names.h"
#include "engine/media/frame_count.h"
#include "ui/composer/encoding_choice.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_strip.h"
#include "ui/composer/hearing.h"
#include "ui/composer/password_dialog.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kMaxFrames = 1024;
constexpr int kTileWidthUnits = 112;  // of a picture in the grid, which its cell is full of
constexpr int kTileHeightUnits = 72;

// The picture of a card: the poster in a rounded frame, or a glyph while there is none.
class PosterLabel : public QLabel {
 public:
  explicit PosterLabel(const AttachmentCard* card) : m_card(card) {}
  QSize sizeHint() const override {
    return m_card->form() == CardForm::kTile ? QSize(theme().px(kTileWidthUnits), theme().px(kTileHeightUnits))
                                             : QSize(theme().px(68), theme().px(48));
  }
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
    const Colors& c = theme().colors();
    QPainterPath path;
    path.addRoundedRect(QRectF(rect()), theme().smallRadius(), theme().smallRadius());
    painter.setClipPath(path);
    painter.fillRect(rect(), c.raised);
    const QImage poster = m_card->thumbnail();
    if (!poster.isNull()) {
      const QSizeF size = QSizeF(poster.size()).scaled(QSizeF(rect().size()), Qt::KeepAspectRatioByExpanding);
      painter.drawImage(QRectF(QRectF(rect()).center() - QPointF(size.width() / 2, size.height() / 2), size), poster);
      const qreal pin = theme().px(16);
      if (m_card->form() == CardForm::kTile && m_card->pins()->any())
        paintGlyph(painter, Glyph::kPin, QRectF(rect().right() - pin, 0, pin, pin), c.accent);
      return;
    }
    const qreal g = theme().px(22);
    const MediaKind kind = m_card->attachment().kind;
    const Glyph glyph = m_card->state() == CardState::kRefused ? Glyph::kWarning
                        : kind == MediaKind::kVideo            ? Glyph::kFilm
                        : kind == MediaKind::kDocument         ? Glyph::kDocument
                                                               : Glyph::kImage;
    paintGlyph(painter, glyph, QRectF(QRectF(rect()).center() - QPointF(g / 2, g / 2), QSizeF(g, g)),
               m_card->state() == CardState::kRefused ? c.danger : c.mutedText);
  }

 private:
  const AttachmentCard* m_card;
};

}  // namespace

AttachmentCard::AttachmentCard(MediaPreview& preview, app::Attachment attachment, Hearing* hearing, QWidget* parent)
    : QFrame(parent), m_preview(preview), m_hearing(hearing), m_attachment(std::move(attachment)) {
  setFocusPolicy(Qt::TabFocus);  // a click opens it, and what is typed after that is the question
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 8, 8, 8, 8);
  setSpacing(layout, 6);
  auto* head = new QHBoxLayout;
  m_head = head;
  setSpacing(head, 10);
  m_picture = new PosterLabel(this);
  m_picture->setAttribute(Qt::WA_TransparentForMouseEvents);
  head->addWidget(m_picture);
  m_words = new QWidget;
  auto* words = new QVBoxLayout(m_words);
  words->setContentsMargins(0, 0, 0, 0);
  setSpacing(words, 2);
  const QString path = QFile::decodeName(m_attachment.path);
  const QString name = app::wasWatched(m_attachment) ? app::displayText(path) : app::attachedName(path);
  m_name = new ElidedLabel(Qt::ElideMiddle, name);
  m_name->setObjectName(QStringLiteral("name"));
  m_name->setMinimumWidth(theme().px(60));
  m_name->setToolTip(name.toHtmlEscaped());
  setTextRole(m_name, TextRole::kStrong);
  m_detail = captionLabel(tr("Opening…"));
  m_noticed = wrappedLabel(QString(), TextRole::kCaption);
  m_noticed->hide();
  words->addWidget(m_name);
  words->addWidget(m_detail);
  words->addWidget(m_noticed);
  m_encoding = new EncodingChoice(m_preview.encodings());
  words->addWidget(m_encoding);
  connect(m_encoding, &EncodingChoice::chosen, this, &AttachmentCard::readIn);
  auto* offers = new QHBoxLayout;
  setSpacing(offers, 6);
  const auto addOffer = [this, offers](std::optional<Offer> (AttachmentCard::*what)()) {
    auto* button = new QPushButton(tr("Use it"));  // says what, once there is something
    setTextRole(button, TextRole::kCaption);
    button->hide();
    offers->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, what] { take((this->*what)()); });
    return button;
  };
  m_offer = addOffer(&AttachmentCard::offer);
  m_instead = addOffer(&AttachmentCard::offerInstead);
  m_instead->setObjectName(QStringLiteral("instead"));
  offers->addStretch(1);
  words->addLayout(offers);
  head->addWidget(m_words, 1);
  m_remove = new QToolButton;
  m_remove->setAutoRaise(true);
  m_remove->setIcon(icon(Glyph::kClose, IconColor::kMuted));
  m_remove->setToolTip(tr("Remove (Delete)"));
  m_remove->setAccessibleName(tr("Remove %1").arg(name));
  m_pin = new QToolButton;
  m_pin->setCheckable(true);
  m_pin->setAutoRaise(true);
  m_pin->setIcon(icon(Glyph::kPin));
  m_pin->setToolTip(tr("Always keep this picture, with any method (P)"));
  m_pin->setAccessibleName(tr("Pin %1").arg(name));
  m_pin->hide();
  head->addWidget(m_pin, 0, Qt::AlignTop);
  head->addWidget(m_remove, 0, Qt::AlignTop);
  layout->addLayout(head);
  setAccessibleName(tr("Attachment %1").arg(name));
  connect(m_remove, &QToolButton::clicked, this, &AttachmentCard::removeRequested);
  m_pins = new FramePins(this);
  m_pins->setRanges(m_attachment.pins);
  connect(m_pin, &QToolButton::clicked, m_pins, [this] { m_pins->toggle(0); });
  connect(m_pins, &FramePins::shown, this, &AttachmentCard::showPins);
  connect(m_pins, &FramePins::changed, this, [this] {
    m_attachment.pins = m_pins->ranges();
    if (m_strip != nullptr) updatePlan();
    Q_EMIT changed();
  });
  connect(&theme(), &Theme::changed, this, &AttachmentCard::showNoticed);
  connect(&m_preview, &MediaPreview::probed, this, [this](PreviewToken token, const MediaSummary& summary) {
    if (token == m_probe) onProbed(summary);
  });
  connect(&m_preview, &MediaPreview::failed, this, [this](PreviewToken token, const Error& error) {
    if (token == m_probe) onFailed(error);
    if (token != m_scan) return;
    onScanned({}, error.code == ErrorCode::kFileNotFound ? tr("Install Tesseract (tesseract-ocr) first, then read it again")
                                                         : tr("Tesseract could not read it"));
  });
  connect(&m_preview, &MediaPreview::stored, this, [this](PreviewToken token, const QByteArray& file) {
    if (token == m_scan) onScanned(file, {});
  });
  connect(&m_preview, &MediaPreview::thumbnailReady, this, [this](PreviewToken token, int index, double actualS, const QImage& image) {
    if (token != m_pictures) return;
    if (m_strip != nullptr) m_strip->setPicture(index, actualS, image);
    if (index < m_pagePictures.size()) {
      QBuffer bytes(&m_pagePictures[index]);
      image.save(&bytes, "PNG");
    }
  });
  if (m_hearing != nullptr) {
    connect(m_hearing, &Hearing::modelChanged, this, [this] {
      showOffer();
      listenUnasked();
    });
    connect(m_hearing, &Hearing::heard, this, &AttachmentCard::onHeard);
    connect(m_hearing, &Hearing::progressed, this, [this](const QByteArray& path, double heardS, double soundS) {
      if (path != m_attachment.path || m_state != CardState::kReady) return;
      m_heardS = heardS;
      m_soundS = soundS;
      showFacts();
      showOffer();
    });
  }
  if (isAsPages()) m_paperForm = app::PaperForm::kPages;
  if (!m_attachment.thumbnailPng.isEmpty()) m_poster.loadFromData(m_attachment.thumbnailPng, "PNG");
  if (app::wasWatched(m_attachment)) {
    refuse(tr("This was watched live and cannot be read again."), QString());
  } else {
    probe();
  }
}

AttachmentCard::~AttachmentCard() {
  if (m_state == CardState::kOpening) m_preview.cancel(m_probe);
  if (m_pictures != 0) m_preview.cancel(m_pictures);
  if (m_scan != 0) m_preview.cancel(m_scan);
}

void AttachmentCard::probe() {
  m_refusal.reset();
  m_probe = m_preview.probe(m_attachment.path, m_attachment.encoding);
}

void AttachmentCard::onProbed(const MediaSummary& summary) {
  const QByteArray& attached = m_attachment.sha256;
  const bool changed = !attached.isEmpty() && !summary.sha256.isEmpty() && attached != summary.sha256;
  const bool otherLines = app::linesDiffer(m_attachment, summary.linesIn(m_attachment.subtitles));
  if (!changed && !otherLines) return take(summary);
  m_summary = summary;
  onFailed({ErrorCode::kMediaChanged, (changed ? m_attachment.path : m_attachment.subtitles).toStdString(), "its bytes have changed"});
}

void AttachmentCard::take(const MediaSummary& summary) {
  m_summary = summary;
  m_state = CardState::kReady;
  m_refusal.reset();
  m_attachment.sha256 = summary.sha256;
  if (summary.pages == 0) m_attachment.kind = summary.kind;
  m_attachment.sizeBytes = summary.sizeBytes;
  m_attachment.widthPx = summary.widthPx;
  m_attachment.heightPx = summary.heightPx;
  m_attachment.durationS = summary.durationS;
  m_attachment.words = summary.words;
  if (summary.pages > 0) showAs(m_paperForm);
  if (!summary.poster.isNull()) m_poster = summary.poster;
  if (!summary.posterPng.isEmpty()) m_attachment.thumbnailPng = summary.posterPng;
  // Subtitles of an earlier draft may be gone, be another file now, or have moved with the video.
  const bool sameLines = !m_attachment.subtitles.isEmpty() && !m_attachment.sampled.linesDigest.isEmpty();
  if (summary.pages == 0 && m_attachment.subtitles != summary.subtitles && m_attachment.subtitles != summary.speech)
    m_attachment.subtitles = sameLines ? summary.subtitles : QByteArray();
  if (std::exchange(m_wasHeard, false) || isSound()) m_attachment.subtitles = summary.speech;
  const bool spokenIn = !summary.lines.empty() || !summary.spoken.empty();
  m_attachment.hasContents = m_attachment.hasContents || (summary.kind == MediaKind::kVideo && spokenIn);
  showFacts();
  showNoticed();
  if (summary.kind == MediaKind::kVideo && summary.durationS > 0) buildVideoControls();
  if (m_attachment.hasContents) noteContents();
  m_pin->setVisible(summary.kind != MediaKind::kVideo && m_form == CardForm::kRow);
  if (summary.kind == MediaKind::kDocument) m_pin->setToolTip(tr("Always keep this document, with any method (P)"));
  showOffer();
  showPins();
  m_picture->update();
  updateGeometry();
  Q_EMIT changed();
  listenUnasked();
}

void AttachmentCard::onFailed(const Error& error) {
  const app::ErrorText text = app::describeError(error);
  m_refusal = error.code;
  refuse(text.cause + QLatin1Char(' ') + text.remedy, text.details);
  // One that was attached right now is asked about at once; of several the first, and the others by their buttons.
  const bool anew = m_attachment.sha256.isEmpty() && isVisible() && QApplication::activeModalWidget() == nullptr;
  if (error.code == ErrorCode::kPasswordNeeded && anew) askPassword();
}

void AttachmentCard::refuse(const QString& why, const QString& details) {
  m_state = CardState::kRefused;
  m_detail->setText(why);
  m_detail->setToolTip(details.toHtmlEscaped());
  m_noticed->hide();
  m_encoding->setVisible(!m_attachment.encoding.isEmpty());  // it may be what was wrong
  showOffer();
  m_picture->update();
  update();
  updateGeometry();
  Q_EMIT changed();
}

void AttachmentCard::showFacts() {
  QStringList facts;
  if (m_summary.pages > 0) facts << formText();
  if (isAsPages()) {
    facts << app::formatBytes(m_summary.sizeBytes);
    if (m_pins->any()) facts << tr("pinned");
    m_detail->setText(facts.join(QStringLiteral(" · ")));
    return;
  }
  if (isSound()) facts << (m_summary.durationS > 0 ? tr("Sound, %1").arg(app::formatLength(m_summary.durationS)) : tr("Sound"));
  if (m_summary.kind == MediaKind::kDocument) {
    const QString length = app::documentLength(m_summary.words, m_room.tokens, m_attachment.mostTokens);
    if (!length.isEmpty()) facts << length;
    facts << app::formatBytes(m_summary.sizeBytes);
    if (const QString sound = soundText(); !sound.isEmpty()) facts << sound;
    if (m_pins->any()) facts << tr("pinned");
    QString text = facts.join(QStringLiteral(" · "));
    if (tooLong() && m_room.most > 0)
      text += QLatin1Char('\n') +
              tr("Too long for the model: its first %1 tokens fit.").arg(app::formatCount(static_cast<double>(m_room.most)));
    if (tooLong() && m_room.most == 0) text += QLatin1Char('\n') + tr("Too long for the model: this chat has no room left for it.");
    m_detail->setText(text);
    return;
  }
  if (m_summary.kind == MediaKind::kVideo) {
    facts << app::formatClock(m_summary.durationS);
    if (m_summary.framesPerS > 0) facts << tr("%1 fps").arg(app::formatReal(m_summary.framesPerS, 4));
    if (!m_summary.codec.isEmpty()) facts << app::displayText(m_summary.codec);
  }
  facts << tr("%1 × %2").arg(m_summary.widthPx).arg(m_summary.heightPx) << app::formatBytes(m_summary.sizeBytes);
  const auto lines = static_cast<int>(m_summary.linesIn(m_attachment.subtitles).size());
  if (!m_attachment.subtitles.isEmpty())
    facts << (readsSpeech() ? tr("with %Ln line(s) heard", nullptr, lines) : tr("with %Ln subtitle line(s)", nullptr, lines));
  if (const QString sound = soundText(); !sound.isEmpty()) facts << sound;
  if (m_summary.kind == MediaKind::kImage && m_pins->any()) facts << tr("pinned");
  m_detail->setText(facts.join(QStringLiteral(" · ")));
}

QString AttachmentCard::formText() const {
  const auto pages = static_cast<int>(m_summary.pages);
  if (isScan() && m_scan != 0) return tr("Tesseract is reading its text");
  if (isScan() && !m_attachment.subtitles.isEmpty()) return tr("as text read by Tesseract, which may have mistakes");
  if (!isAsPages())
    return m_summary.words > 0 ? tr("%Ln page(s), as text", nullptr, pages)
                               : tr("%Ln page(s) without text: a model that sees can read them", nullptr, pages);
  if (pagesAsked() == pages) return tr("%Ln page(s), as pages", nullptr, pages);
  return tr("Pages %1–%2 of %3, as pages").arg(m_attachment.pages.first).arg(m_attachment.pages.last).arg(pages);
}

void AttachmentCard::suit(const ModelTraits& traits) {
  if (traits.sees == m_modelSees) return;
  m_modelSees = traits.sees;
  if (m_state != CardState::kReady || m_summary.pages == 0) return;
  showAs(m_paperForm);
  showFacts();
  showOffer();
  Q_EMIT changed();
}

void AttachmentCard::showAs(app::PaperForm form) {
  m_paperForm = form;
  const bool wanted = m_modelSees && app::seenAsPages(m_summary.pages, m_summary.words);
  const bool pages = form == app::PaperForm::kPages || (form == app::PaperForm::kByModel && wanted);
  if (pages && !isAsPages()) m_attachment.pages = {1, static_cast<int>(std::min<qint64>(m_summary.pages, app::kMaxAttachments))};
  if (!pages && isAsPages()) m_attachment.pages = {};
  m_attachment.kind = pages ? MediaKind::kImage : MediaKind::kDocument;
  if (pages) m_attachment.subtitles.clear();
  if (!pages || m_pagePictures.size() == pagesAsked()) return;
  m_pagePictures = QList<QByteArray>(pagesAsked());
  std::vector<double> numbers;
  for (int page = m_attachment.pages.first; page <= m_attachment.pages.last; ++page) numbers.push_back(page);
  if (m_pictures != 0) m_preview.cancel(m_pictures);
  m_pictures = m_preview.thumbnails(m_attachment.path, MediaKind::kDocument, numbers, m_picture->sizeHint() * 2);
}

QList<app::Attachment> AttachmentCard::asked() const {
  if (!isAsPages()) return {m_attachment};
  QList<app::Attachment> pages;
  for (int page = m_attachment.pages.first; page <= m_attachment.pages.last; ++page) {
    pages.append(m_attachment);
    pages.last().pages = {page, page};
    const qsizetype place = page - m_attachment.pages.first;
    pages.last().thumbnailPng = place < m_pagePictures.size() ? m_pagePictures[place] : QByteArray();
  }
  return pages;
}

bool AttachmentCard::takePage(const app::Attachment& page) {
  const bool next =
      isAsPages() && page.kind == MediaKind::kImage && page.path == m_attachment.path && page.pages.first == m_attachment.pages.last + 1;
  if (next) m_attachment.pages.last = page.pages.last;
  return next;
}

QString AttachmentCard::detail() const { return m_detail->text(); }

QString AttachmentCard::noticed() const { return m_noticed->isHidden() ? QString() : m_noticed->text(); }

void AttachmentCard::showNoticed() {
  std::vector<MediaNotice> notices = m_summary.notices;
  if (isAsPages() || (isScan() && !m_attachment.subtitles.isEmpty())) notices.clear();  // they are the PDF's own text's
  if (!m_attachment.subtitles.isEmpty()) add_notices(notices, m_summary.subtitleNotices);
  QString read = QString::fromLatin1(m_attachment.encoding);
  for (const MediaNotice& notice : notices) {
    if (notice.code == NoticeCode::kEncodingGuessed || notice.code == NoticeCode::kBytesReplaced)
      read = QString::fromStdString(notice.name);
  }
  // The choice of another one says the guess.
  const bool guessed = std::erase_if(notices, [](const MediaNotice& notice) { return notice.code == NoticeCode::kEncodingGuessed; }) > 0;
  if (read.isEmpty()) {
    m_encoding->hide();
  } else {
    m_encoding->show(read, m_attachment.encoding, guessed ? EncodingChoice::Found::kByGuess : EncodingChoice::Found::kForSure);
  }
  m_noticed->setText(app::noticeWords(notices));
  m_noticed->setVisible(!notices.empty());
  QPalette palette = m_noticed->palette();
  palette.setColor(QPalette::WindowText, theme().colors().warning);
  m_noticed->setPalette(palette);
}

void AttachmentCard::judge(const DocumentRoom& room) {
  m_room = room;
  if (m_state != CardState::kReady) return;
  showFacts();
  showOffer();
  update();
  updateGeometry();
}

std::optional<AttachmentCard::Offer> AttachmentCard::offerOfRefused() {
  if (m_refusal == ErrorCode::kFileNotFound) return Offer{tr("Find it…"), [this] { find(); }};
  if (m_refusal == ErrorCode::kPasswordNeeded) return Offer{tr("Enter its password…"), [this] { askPassword(); }};
  if (m_refusal != ErrorCode::kMediaChanged) return std::nullopt;
  return Offer{tr("Use the new file"), [this] {
                 m_attachment.thumbnailPng.clear();
                 m_attachment.sampled = {};
                 take(MediaSummary(m_summary));
               }};
}

std::optional<AttachmentCard::Offer> AttachmentCard::offer() {
  if (m_state == CardState::kRefused) return offerOfRefused();
  const bool document = m_attachment.kind == MediaKind::kDocument;
  const auto read = [this](qint64 mostTokens) {
    return [this, mostTokens] {
      m_attachment.mostTokens = mostTokens;
      m_room.fits = true;
    };
  };
  if (document && m_summary.pages > 0 && m_modelSees)
    return Offer{tr("Use pictures of its pages"), [this] {
                   m_room = {};
                   showAs(app::PaperForm::kPages);
                 }};
  if (document && tooLong() && m_room.most > 0)
    return Offer{tr("Use the first %1 tokens").arg(app::formatCount(m_room.most)), read(m_room.most)};
  if (document && m_attachment.mostTokens > 0) return Offer{tr("Use all of it"), read(0)};
  if (isAsPages() && m_summary.words > 0) return Offer{tr("Use its text"), [this] { showAs(app::PaperForm::kText); }};
  if (isSound()) return offerOfSound();
  if (isScan()) return offerOfScan();
  if (m_attachment.kind != MediaKind::kVideo) return std::nullopt;
  const bool ownLines = !m_summary.subtitles.isEmpty();
  if (!ownLines && m_summary.speech.isEmpty()) return offerOfSound();
  const bool without = m_attachment.subtitles.isEmpty();
  const QString take = ownLines ? tr("Read its subtitles with the frames") : tr("Read what is said with the frames");
  const QString leave = readsSpeech() ? tr("Leave out what is said") : tr("Leave its subtitles out");
  return Offer{without ? take : leave, [this, without, ownLines] {
                 m_attachment.subtitles = !without ? QByteArray() : ownLines ? m_summary.subtitles : m_summary.speech;
               }};
}

// For a video with subtitles, which win unless its user chooses what is said.
std::optional<AttachmentCard::Offer> AttachmentCard::offerInstead() {
  const bool both = m_state == CardState::kReady && m_summary.kind == MediaKind::kVideo && !m_summary.subtitles.isEmpty();
  if (!both || m_hearing == nullptr) return std::nullopt;
  if (m_summary.speech.isEmpty()) return m_hearing->model() == Hearing::Model::kHere ? offerOfSound() : std::nullopt;
  if (readsSpeech()) return Offer{tr("Read its subtitles instead"), [this] { m_attachment.subtitles = m_summary.subtitles; }};
  return Offer{m_attachment.subtitles.isEmpty() ? tr("Read what is said with the frames") : tr("Read what is said instead"),
               [this] { m_attachment.subtitles = m_summary.speech; }};
}

bool AttachmentCard::isListening() const { return m_hearing != nullptr && m_hearing->isListening(m_attachment.path); }

// Once, and not where subtitles say it already.
void AttachmentCard::listenUnasked() {
  const bool wanted = m_state == CardState::kReady && m_summary.hasSound && !m_summary.isHeard && m_summary.subtitles.isEmpty();
  if (!wanted || m_hearing == nullptr || m_hearing->model() != Hearing::Model::kHere || std::exchange(m_heardUnasked, true)) return;
  m_hearing->listenUnasked(m_attachment.path, m_attachment.sha256, m_summary.durationS);
}

QString AttachmentCard::unheard() const {
  if (m_scan != 0) return tr("Tesseract is still reading “%1”.").arg(m_name->text());
  if (m_state != CardState::kReady || !isSound() || !m_attachment.subtitles.isEmpty()) return {};
  if (isListening()) return tr("“%1” is still being listened to.").arg(m_name->text());
  if (m_summary.isHeard) return tr("Nothing is said in “%1”. Remove it, then send.").arg(m_name->text());
  if (m_hearing == nullptr) return tr("“%1” is sound, which nothing here can hear. Remove it, then send.").arg(m_name->text());
  return tr("“%1” has not been listened to. Do that on its card, or remove it.").arg(m_name->text());
}

// "nothing is said in it", "heard 0:32 of 5:10".
QString AttachmentCard::soundText() const {
  if (!m_deaf.isEmpty()) return m_deaf;
  if (isListening())
    return m_soundS > 0 ? tr("heard %1 of %2").arg(app::formatClock(m_heardS), app::formatClock(m_soundS)) : tr("listening…");
  return m_summary.isHeard && m_summary.speech.isEmpty() ? tr("nothing is said in it") : QString();
}

std::optional<AttachmentCard::Offer> AttachmentCard::offerOfSound() {
  if (m_hearing == nullptr || !m_summary.hasSound || m_summary.isHeard) return std::nullopt;
  if (isListening()) return Offer{tr("Stop listening"), [this] { m_hearing->stop(m_attachment.path); }};
  switch (m_hearing->model()) {
    case Hearing::Model::kNone:
      return Offer{tr("Get a model that hears (%1)").arg(m_hearing->modelSize()), [this] { m_hearing->fetchModel(); }};
    case Hearing::Model::kFetching:
      return Offer{tr("Getting a model that hears: %1").arg(app::formatShare(m_hearing->modelShare())), [] {}};
    case Hearing::Model::kHere: break;
  }
  return Offer{tr("Listen to what is said"), [this] {
                 m_deaf.clear();
                 m_hearing->listen(m_attachment.path, m_attachment.sha256);
               }};
}

std::optional<AttachmentCard::Offer> AttachmentCard::offerOfScan() {
  if (m_scan != 0)
    return Offer{tr("Stop reading"), [this] {
                   m_preview.cancel(m_scan);
                   m_scan = 0;
                 }};
  if (!m_attachment.subtitles.isEmpty()) return std::nullopt;
  return Offer{tr("Read the text (Tesseract)"), [this] {
                 m_deaf.clear();
                 m_scan = m_preview.scan(m_attachment.path);
               }};
}

void AttachmentCard::onScanned(const QByteArray& file, const QString& failure) {
  m_scan = 0;
  m_deaf = failure;
  m_attachment.subtitles = file;
  showFacts();
  showNoticed();
  showOffer();
  updateGeometry();
  Q_EMIT changed();
}

void AttachmentCard::onHeard(const QByteArray& path, const QString& failure) {
  const bool ofTheModel = path.isEmpty();
  if (m_state != CardState::kReady || (!ofTheModel && path != m_attachment.path) || (ofTheModel && !m_summary.hasSound)) return;
  m_deaf = failure;
  if (!ofTheModel && failure.isEmpty()) {
    m_wasHeard = true;
    return openAnew();
  }
  showFacts();
  showOffer();
  updateGeometry();
}

void AttachmentCard::showOffer() {
  const auto show = [](QPushButton* button, const std::optional<Offer>& now) {
    if (now) button->setText(now->label);  // hidden, it keeps its last words: its name
    button->setVisible(now.has_value());
  };
  show(m_offer, offer());
  show(m_instead, offerInstead());
}

void AttachmentCard::take(const std::optional<Offer>& now) {
  if (!now) return;
  now->take();
  if (m_state == CardState::kReady) {
    showFacts();
    showNoticed();
  }
  showOffer();
  updateGeometry();
  Q_EMIT changed();
}

void AttachmentCard::readIn(const QByteArray& encoding) {
  if (encoding == m_attachment.encoding) return;
  m_attachment.encoding = encoding;
  m_attachment.sampled = {};  // it was read otherwise
  openAnew();
}

void AttachmentCard::openAnew() {
  m_state = CardState::kOpening;
  m_detail->setText(tr("Opening…"));
  m_picture->update();
  probe();
  showOffer();
  Q_EMIT changed();
}

// Asks where a moved file is now. If it has other bytes, the card says so; it can still be used.
void AttachmentCard::find() {
  QFileDialog* dialog = fileDialog(this, tr("Find %1").arg(m_name->text()), folderHolding(QFile::decodeName(m_attachment.path)));
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) { moveTo(QFile::encodeName(file)); });
  dialog->open();
}

void AttachmentCard::askPassword() {
  auto* dialog = new PasswordDialog(m_preview, m_attachment.path, this);
  connect(dialog, &QDialog::accepted, this, &AttachmentCard::openAnew);
  dialog->open();
}

void AttachmentCard::moveTo(const QByteArray& path) {
  if (m_attachment.subtitles == m_attachment.path) m_attachment.subtitles = path;
  m_attachment.path = path;
  const QString name = app::attachedName(QFile::decodeName(path));
  m_name->setText(name);
  m_name->setToolTip(name.toHtmlEscaped());
  openAnew();
}

bool AttachmentCard::canBeTile() const {
  if (m_state == CardState::kReady) return m_attachment.kind == MediaKind::kImage && m_summary.pages == 0 && m_summary.notices.empty();
  return m_state == CardState::kOpening && app::namedAsPicture(QFileInfo(QFile::decodeName(m_attachment.path)).fileName());
}

void AttachmentCard::setForm(CardForm form) {
  if (form == m_form) return;
  m_form = form;
  m_words->setVisible(form == CardForm::kRow);
  const bool tile = form == CardForm::kTile;
  setMargins(layout(), tile ? 3 : 8, tile ? 3 : 8, tile ? 3 : 8, tile ? 3 : 8);
  m_head->removeWidget(m_remove);
  if (!tile) m_head->addWidget(m_remove, 0, Qt::AlignTop);
  m_remove->setAutoFillBackground(tile);
  placeRemove();
  m_pin->setVisible(form == CardForm::kRow && m_state == CardState::kReady && m_attachment.kind != MediaKind::kVideo);
  setToolTip(form == CardForm::kTile ? m_name->toolTip() : QString());
  m_picture->updateGeometry();
  updateGeometry();
}

// In the grid it lies on the picture's corner, on a ground of its own.
void AttachmentCard::placeRemove() {
  if (m_form != CardForm::kTile) return;
  const int size = theme().px(22);
  const int inset = theme().px(6);
  m_remove->setGeometry(width() - size - inset, inset, size, size);
  m_remove->raise();
}

void AttachmentCard::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  placeRemove();
}

void AttachmentCard::buildVideoControls() {
  if (m_videoArea != nullptr) return;
  m_videoArea = new QWidget;
  auto* area = new QVBoxLayout(m_videoArea);
  area->setContentsMargins(0, 0, 0, 0);
  setSpacing(area, 4);
  m_strip = new FrameStrip;
  const double aspect = m_summary.heightPx > 0 ? double(m_summary.widthPx) / m_summary.heightPx : 16.0 / 9.0;
  m_strip->setVideo(m_summary.durationS, aspect);
  m_strip->setRange(m_attachment.plan.from_s, m_attachment.plan.to_s);
  m_strip->setPins(m_pins);
  area->addWidget(m_strip);
  auto* row = new QHBoxLayout;
  setSpacing(row, 8);
  m_frames = new QSpinBox;
  m_frames->setRange(1, m_summary.frames > 0 ? static_cast<int>(std::min<qint64>(kMaxFrames, m_summary.frames)) : kMaxFrames);
  m_frames->setValue(m_attachment.plan.frame_count > 0 ? m_attachment.plan.frame_count : 64);
  m_frames->setAccessibleName(tr("Number of frames"));
  m_frames->setToolTip(tr("How many frames the model sees"));
  m_plan = captionLabel();
  row->addWidget(m_frames);
  row->addWidget(m_plan, 1);
  m_contents = new QPushButton(tr("Contents"));
  m_contents->setToolTip(tr("What is said and shown in it, by its times"));
  setTextRole(m_contents, TextRole::kCaption);
  m_contents->hide();
  connect(m_contents, &QPushButton::clicked, this, &AttachmentCard::open);
  row->addWidget(m_contents);
  area->addLayout(row);
  static_cast<QVBoxLayout*>(layout())->addWidget(m_videoArea);
  connect(m_frames, &QSpinBox::valueChanged, this, [this] {
    updatePlan();
    Q_EMIT changed();
  });
  connect(m_strip, &FrameStrip::rangeChanged, this, [this](double from, double to) {
    m_attachment.plan.from_s = from;
    m_attachment.plan.to_s = to >= m_summary.durationS ? -1.0 : to;
    updatePlan();
    Q_EMIT changed();
  });
  connect(m_strip, &FrameStrip::picturesWanted, this, &AttachmentCard::requestPictures);
  connect(m_strip, &FrameStrip::frameActivated, this, &AttachmentCard::openFrameAt);
  updatePlan();
}

void AttachmentCard::noteContents() {
  m_attachment.hasContents = true;
  if (m_contents != nullptr) m_contents->show();
}

void AttachmentCard::setStretch(double fromS, double toS) {
  m_attachment.plan.from_s = fromS;
  m_attachment.plan.to_s = toS;
  if (m_strip == nullptr) return;  // it is opening
  m_strip->setRange(fromS, toS);
  if (m_strip->toS() >= m_summary.durationS) m_attachment.plan.to_s = -1.0;
  updatePlan();
  Q_EMIT changed();
}

void AttachmentCard::requestPictures() {
  if (m_pictures != 0) m_preview.cancel(m_pictures);
  const std::vector<double> times = m_strip->pictureTimes();
  m_pictures = times.empty() ? 0 : m_preview.thumbnails(m_attachment.path, m_attachment.kind, times, m_strip->pictureSize() * 2);
}

QString AttachmentCard::planText() const {
  if (m_strip == nullptr) return {};
  const int frames = m_attachment.plan.frame_count;
  const double every = (m_strip->toS() - m_strip->fromS()) / frames;
  const QString spacing = every >= 60 ? app::formatClock(every) : tr("%1 s").arg(app::formatFixed(every, every < 10 ? 2 : 0));
  const QString count = frames == framesThere() ? tr("All %Ln frame(s)", nullptr, frames) : tr("%Ln frame(s)", nullptr, frames);
  const QString text =
      tr("%1 · one every %2 · %3–%4").arg(count, spacing, app::formatClock(m_strip->fromS()), app::formatClock(m_strip->toS()));
  const app::PinnedRanges pins = app::effectivePins(m_attachment);
  int pinned = 0;
  for (const double time : app::plannedTimes(m_attachment)) pinned += app::anyContains(pins, time) ? 1 : 0;
  return pinned > 0 ? text + QStringLiteral(" · ") + tr("%Ln pinned", nullptr, pinned) : text;
}

void AttachmentCard::showPins() {
  const bool pinned = m_pins->any();
  m_pin->setChecked(pinned);
  m_picture->update();  // a tile has the mark there
  m_pin->setAccessibleDescription(pinned ? tr("Pinned: every method keeps it") : QString());
  if (m_state == CardState::kReady) showFacts();
}

// Frames in the chosen range; 0: not known.
qint64 AttachmentCard::framesThere() const {
  if (m_summary.frames == 0) return 0;
  return frames_in_range(m_strip->toS() - m_strip->fromS(), m_summary.durationS, m_summary.frames);
}

void AttachmentCard::updatePlan() {
  m_attachment.plan.frame_count = m_frames->value();
  if (const qint64 there = framesThere(); there > 0)
    m_attachment.plan.frame_count = static_cast<int>(std::min<qint64>(there, m_frames->value()));
  m_strip->setPlannedFrames(m_attachment.plan.frame_count);
  m_strip->setSampledPins(app::effectivePins(m_attachment));
  m_plan->setText(planText());
}

void AttachmentCard::open() {
  if (m_state != CardState::kReady || !unheard().isEmpty()) return;
  if (m_attachment.kind == MediaKind::kVideo && m_attachment.hasContents) {
    Q_EMIT contentsRequested(m_attachment);
  } else if (m_attachment.kind == MediaKind::kVideo && m_strip != nullptr) {
    openFrameAt(m_strip->fromS());
  } else if (isAsPages()) {
    std::vector<double> pages;
    for (int page = m_attachment.pages.first; page <= m_attachment.pages.last; ++page) pages.push_back(page);
    Q_EMIT frameActivated(m_attachment.path, MediaKind::kDocument, pages, 0);
  } else {
    Q_EMIT frameActivated(m_attachment.path, m_attachment.kind, {}, 0);
  }
}

// Shows the frames that the model will see, not the strip's few pictures: pinning one there pins no stretch of the video.
void AttachmentCard::openFrameAt(double seconds) {
  const std::vector<double> times = app::plannedTimes(m_attachment);
  const auto nearest =
      std::min_element(times.begin(), times.end(), [seconds](double a, double b) { return std::abs(a - seconds) < std::abs(b - seconds); });
  Q_EMIT frameActivated(m_attachment.path, m_attachment.kind, times, static_cast<int>(nearest - times.begin()));
}

void AttachmentCard::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && rect().contains(event->pos())) open();
}

void AttachmentCard::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace) {
    Q_EMIT removeRequested();
  } else if (event->key() == Qt::Key_P && m_state == CardState::kReady && m_attachment.kind != MediaKind::kVideo) {
    m_pins->toggle(0);
  } else if (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    open();
  } else {
    QFrame::keyPressEvent(event);
  }
}

void AttachmentCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(m_state == CardState::kRefused || tooLong() ? c.dangerSoft : c.raised);
  painter.setPen(QPen(hasFocus() ? c.accent : c.border, hasFocus() ? 1.6 : 1.0));
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), theme().cornerRadius(), theme().cornerRadius());
}

}  // namespace winnow::ui
