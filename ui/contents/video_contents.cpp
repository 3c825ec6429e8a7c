#include "ui/contents/video_contents.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/attached_words.h"
#include "app/words/format_text.h"
#include "app/words/transcript_text.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_strip.h"
#include "ui/composer/viewer_parts.h"
#include "ui/contents/contents_list.h"
#include "ui/inspector/chart_export.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kNarrowUnits = 700;  // below this the list stands under the frame
constexpr int kLowUnits = 460;     // and in a page that is lower, the strip steps aside
constexpr double kLeastStretchS = 1.0;

enum class Shown : int { kAll = 0, kSaid = 1, kDescribed = 2 };  // the entries of the choice

QByteArray asFile(const std::vector<TimedLine>& lines, const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  return QByteArray::fromStdString(ending == QLatin1String("srt")   ? app::subRipText(lines)
                                   : ending == QLatin1String("vtt") ? app::webVttText(lines)
                                                                    : app::clockedText(lines));
}

}  // namespace

VideoContents::VideoContents(MediaPreview& preview, const app::Attachment& video, QWidget* parent)
    : QDialog(parent), m_preview(preview), m_video(video) {
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle(tr("Contents of %1").arg(app::attachedName(QFile::decodeName(m_video.path))));
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 16, 4, 16, 12);
  m_changed = new ChangedFileNote(preview);
  layout->addWidget(m_changed);
  m_halves = new QBoxLayout(QBoxLayout::LeftToRight);
  setSpacing(m_halves, 12);
  m_halves->addWidget(buildPicture(), 3);
  m_halves->addWidget(buildList(), 4);
  layout->addLayout(m_halves, 1);
  connect(&m_preview, &MediaPreview::thumbnailReady, this, [this](PreviewToken token, int index, double actualS, const QImage& image) {
    if (token == m_pictures) m_strip->setPicture(index, actualS, image);
  });
  onStretch();
}

QWidget* VideoContents::buildPicture() {
  auto* half = new QWidget;
  auto* column = new QVBoxLayout(half);
  column->setContentsMargins(0, 0, 0, 0);
  setSpacing(column, 6);
  m_picture = new FramePicture(m_preview);
  column->addWidget(m_picture, 1);
  auto* bar = new QHBoxLayout;
  m_caption = new QLabel;
  setMuted(m_caption);
  m_pin = new PinButton(tr("Pin this stretch"), tr("Unpin this stretch"));
  connect(m_pin, &PinButton::clicked, this, &VideoContents::pin);
  bar->addWidget(m_caption, 1);
  bar->addWidget(m_pin);
  column->addLayout(bar);
  m_strip = new FrameStrip;
  const double aspect = m_video.heightPx > 0 ? double(m_video.widthPx) / m_video.heightPx : 16.0 / 9.0;
  m_strip->setVideo(m_video.durationS, aspect);
  m_strip->setPlannedFrames(m_video.plan.frame_count);
  column->addWidget(m_strip);
  connect(m_strip, &FrameStrip::picturesWanted, this, [this] {
    if (m_pictures != 0) m_preview.cancel(m_pictures);
    const std::vector<double> times = m_strip->pictureTimes();
    m_pictures = times.empty() ? 0 : m_preview.thumbnails(m_video.path, m_video.kind, times, m_strip->pictureSize() * 2);
  });
  connect(m_strip, &FrameStrip::frameActivated, this, [this](double seconds) { m_list->goTo(seconds); });
  connect(m_strip, &FrameStrip::rangeChanged, this, [this] { showPins(); });
  return half;
}

QWidget* VideoContents::buildList() {
  auto* half = new QWidget;
  auto* column = new QVBoxLayout(half);
  column->setContentsMargins(0, 0, 0, 0);
  setSpacing(column, 6);
  m_choice = new QComboBox;
  m_choice->setAccessibleName(tr("What is listed"));
  m_choice->addItems({tr("All that is said and shown"), tr("What is said"), tr("What the model described")});
  m_choice->hide();
  connect(m_choice, &QComboBox::currentIndexChanged, this, &VideoContents::showChoice);
  column->addWidget(m_choice);
  m_list = new ContentsList;
  connect(m_list, &ContentsList::stretchChanged, this, &VideoContents::onStretch);
  column->addWidget(m_list, 1);
  auto* buttons = new QHBoxLayout;
  setSpacing(buttons, 6);
  auto* copyIt = new QPushButton(tr("Copy"));
  copyIt->setToolTip(tr("Copy the chosen lines with their times, or all of them (Ctrl+C)"));
  auto* saveIt = new QPushButton(tr("Save as…"));
  saveIt->setToolTip(tr("Save the listed lines as subtitles (.srt, .vtt) or as text"));
  m_ask = new QPushButton;
  m_ask->setToolTip(
      tr("Attach this stretch of the video to the next question (Enter). Shift and a click, or an arrow, chooses several lines."));
  setPrimary(m_ask);
  connect(copyIt, &QPushButton::clicked, this, &VideoContents::copy);
  connect(saveIt, &QPushButton::clicked, this, &VideoContents::save);
  connect(m_ask, &QPushButton::clicked, this, &VideoContents::ask);
  buttons->addWidget(copyIt);
  buttons->addWidget(saveIt);
  buttons->addStretch(1);
  buttons->addWidget(m_ask);
  column->addLayout(buttons);
  return half;
}

void VideoContents::setLines(const QList<app::FileLine>& lines) {
  m_lines = lines;
  const auto described = [](const app::FileLine& line) { return line.kind == app::LineKind::kDescribed; };
  m_choice->setVisible(std::ranges::any_of(lines, described) && !std::ranges::all_of(lines, described));
  showChoice();
}

void VideoContents::showChoice() {
  const auto shown = static_cast<Shown>(m_choice->currentIndex());
  QList<app::FileLine> listed;
  for (const app::FileLine& line : m_lines) {
    if (shown == Shown::kAll || (line.kind == app::LineKind::kDescribed) == (shown == Shown::kDescribed)) listed << line;
  }
  const double at = m_wantedS;  // the list goes to its first line
  m_list->setLines(listed);
  m_list->goTo(at);
}

void VideoContents::compareWith(const app::Attachment& attached) { m_changed->look(attached); }

void VideoContents::showAt(double seconds) {
  m_wantedS = seconds;
  m_list->goTo(seconds);
}

void VideoContents::setPins(FramePins* pins, const QString& consequence) {
  m_pins = pins;
  m_pin->offer(tr("Always keep this stretch, with any method (P)"), consequence);
  connect(pins, &FramePins::shown, this, &VideoContents::showPins);
  showPins();
}

void VideoContents::onStretch() {
  auto stretch = m_list->stretch();
  if (stretch) stretch->second = std::max(stretch->second, stretch->first + kLeastStretchS);
  m_ask->setEnabled(stretch.has_value());
  m_ask->setText(stretch ? tr("Ask about %1–%2").arg(app::formatClock(stretch->first), app::formatClock(stretch->second))
                         : tr("Ask about it"));
  if (!stretch) return;
  // The frame of the line that was gone to, of several.
  const int row = m_list->currentIndex().row();
  const double at = row >= 0 && row < m_list->lines().size() ? m_list->lines()[row].startS : stretch->first;
  m_wantedS = at;
  if (at != m_shownS) m_picture->open(m_video.path, m_video.kind, at);
  m_shownS = at;
  m_caption->setText(app::formatClock(at));
  m_strip->setRange(stretch->first, stretch->second);
  showPins();
}

void VideoContents::showPins() {
  if (m_pins.isNull()) return;
  m_pin->setPinned(m_pins->isPinned({m_strip->fromS(), m_strip->toS()}));
  app::Attachment pinned = m_video;
  pinned.pins = m_pins->ranges();
  m_strip->setSampledPins(app::effectivePins(pinned));
}

void VideoContents::pin() {
  if (m_pins.isNull()) return;
  m_pins->toggle(app::PinnedRange{m_strip->fromS(), m_strip->toS()});
  showPins();
}

void VideoContents::ask() {
  if (!m_ask->isEnabled()) return;
  Q_EMIT stretchChosen(m_strip->fromS(), m_strip->toS());
  accept();
}

void VideoContents::copy() const {
  const QList<app::FileLine> chosen = m_list->chosen();
  const std::vector<TimedLine> lines = app::timedLines(chosen.size() > 1 ? chosen : m_list->lines());
  QApplication::clipboard()->setText(QString::fromStdString(app::clockedText(lines)));
}

void VideoContents::save() {
  const QString name = QFileInfo(app::attachedName(QFile::decodeName(m_video.path))).completeBaseName();
  QFileDialog* dialog = saveDialog(window(), tr("Save the contents"), name + QStringLiteral(".srt"));
  const QStringList filters{tr("SubRip subtitles (*.srt)"), tr("WebVTT subtitles (*.vtt)"), tr("Text with times (*.txt)")};
  dialog->setNameFilters(filters);
  dialog->setDefaultSuffix(QStringLiteral("srt"));
  connect(dialog, &QFileDialog::filterSelected, dialog, [dialog, filters](const QString& filter) {
    dialog->setDefaultSuffix(
        QStringList{QStringLiteral("srt"), QStringLiteral("vtt"), QStringLiteral("txt")}.value(filters.indexOf(filter)));
  });
  connect(dialog, &QFileDialog::fileSelected, this,
          [this](const QString& path) { writeInBackground(this, path, asFile(app::timedLines(m_list->lines()), path)); });
  dialog->open();
}

void VideoContents::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return copy();
  if (event->key() == Qt::Key_P && event->modifiers() == Qt::NoModifier) return pin();
  if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter) return QDialog::keyPressEvent(event);
  if (m_list->hasFocus()) ask();  // no button is pressed by it
}

void VideoContents::resizeEvent(QResizeEvent* event) {
  QDialog::resizeEvent(event);
  m_halves->setDirection(width() < theme().px(kNarrowUnits) ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  m_strip->setVisible(height() >= theme().px(kLowUnits));
}

}  // namespace winnow::ui
