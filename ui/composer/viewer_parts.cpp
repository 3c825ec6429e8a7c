#include "ui/composer/viewer_parts.h"

#include <QFile>
#include <QPainter>
#include <utility>

#include "app/chats/chat/lines_digest.h"
#include "app/words/attached_words.h"
#include "app/words/error_text.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

namespace {
constexpr QSize kLargest(1600, 1200);
}  // namespace

FramePicture::FramePicture(MediaPreview& preview, QWidget* parent) : QLabel(tr("Opening…"), parent), m_preview(preview) {
  setAlignment(Qt::AlignCenter);
  setMinimumSize(theme().px(160), theme().px(120));
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
  setWordWrap(true);
  connect(&m_preview, &MediaPreview::thumbnailReady, this, [this](PreviewToken token, int, double actualS, const QImage& image) {
    if (token != m_token) return;
    m_image = image;
    present();
    Q_EMIT shown(actualS, image.size());
  });
  connect(&m_preview, &MediaPreview::failed, this, [this](PreviewToken token, const Error& error) {
    if (token != m_token) return;
    const app::ErrorText text = app::describeError(error);
    setText(text.cause + QLatin1Char('\n') + text.remedy);
  });
}

void FramePicture::open(const QByteArray& path, MediaKind kind, double at) {
  if (m_token != 0) m_preview.cancel(m_token);
  m_token = m_preview.thumbnails(path, kind, {at}, kLargest);
}

void FramePicture::setBoxes(std::vector<DrawnBox> boxes) {
  m_boxes = std::move(boxes);
  present();
}

void FramePicture::present() {
  if (m_image.isNull()) return;
  QPixmap pixmap = QPixmap::fromImage(m_image.scaled(size() * devicePixelRatioF(), Qt::KeepAspectRatio, Qt::SmoothTransformation));
  pixmap.setDevicePixelRatio(devicePixelRatioF());
  if (!m_boxes.empty()) {
    QPainter painter(&pixmap);
    paintBoxes(painter, QRectF(QPointF(), pixmap.deviceIndependentSize()), m_boxes);
  }
  setPixmap(pixmap);
}

void FramePicture::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  present();
}

PinButton::PinButton(const QString& pinWhat, const QString& unpinWhat) : m_pinWhat(pinWhat), m_unpinWhat(unpinWhat) {
  setCheckable(true);
  setAutoRaise(true);
  setIcon(ui::icon(Glyph::kPin));
  setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  hide();
}

void PinButton::offer(const QString& tip, const QString& consequence) {
  const QString words = consequence.isEmpty() ? tip : tip + QLatin1Char(' ') + consequence;
  setToolTip(words);
  setAccessibleDescription(words);
  show();
}

void PinButton::setPinned(bool pinned) {
  setChecked(pinned);
  setText(pinned ? tr("Pinned") : tr("Pin"));
  setAccessibleName(pinned ? m_unpinWhat : m_pinWhat);
}

ChangedFileNote::ChangedFileNote(MediaPreview& preview, QWidget* parent) : QLabel(parent), m_preview(preview) {
  setWordWrap(true);
  setTextFormat(Qt::PlainText);
  hide();
  const auto colour = [this] {
    QPalette palette = this->palette();
    palette.setColor(QPalette::WindowText, theme().colors().warning);
    setPalette(palette);
  };
  connect(&theme(), &Theme::changed, this, colour);
  colour();
  connect(&m_preview, &MediaPreview::probed, this, [this](PreviewToken token, const MediaSummary& summary) {
    if (token == m_token) compare(summary);
  });
}

void ChangedFileNote::look(const app::Attachment& attached) {
  if (m_token != 0) m_preview.cancel(m_token);
  m_token = 0;
  m_attached = attached;
  hide();
  if (!m_attached.sha256.isEmpty()) m_token = m_preview.probe(attached.path, attached.encoding);
}

void ChangedFileNote::compare(const MediaSummary& summary) {
  const bool changed = !summary.sha256.isEmpty() && summary.sha256 != m_attached.sha256;
  const bool otherLines = app::linesDiffer(m_attached, summary.linesIn(m_attached.subtitles));
  setText(changed ? tr("This is not the file that was asked about: it has changed since it was attached.")
                  : tr("Its subtitles are not those that were asked about: “%1” has changed since.")
                        .arg(app::attachedName(QFile::decodeName(m_attached.subtitles))));
  setVisible(changed || otherLines);
}

}  // namespace winnow::ui
