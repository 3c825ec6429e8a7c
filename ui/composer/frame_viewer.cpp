#include "ui/composer/frame_viewer.h"

#include <QFile>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/attached_words.h"
#include "app/words/format_text.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/viewer_parts.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
constexpr int kPage = 10;  // frames, of Page up and Page down
}  // namespace

FrameViewer::FrameViewer(MediaPreview& preview, const QByteArray& path, MediaKind kind, std::vector<double> times, int index,
                         QWidget* parent)
    : QDialog(parent), m_path(path), m_kind(kind), m_times(std::move(times)) {
  setAttribute(Qt::WA_DeleteOnClose);
  setArrowsStep(this);
  setWindowTitle(app::attachedName(QFile::decodeName(path)));
  if (parent != nullptr) resize(parent->window()->size() * 0.86);
  auto* layout = new QVBoxLayout(this);
  m_changed = new ChangedFileNote(preview);
  layout->addWidget(m_changed);
  m_picture = new FramePicture(preview);
  layout->addWidget(m_picture, 1);
  auto* bar = new QHBoxLayout;
  m_previous = new QToolButton;
  m_previous->setIcon(icon(Glyph::kChevronLeft));
  m_previous->setToolTip(tr("Previous frame (Left)"));
  m_previous->setAccessibleName(tr("Previous frame"));
  m_next = new QToolButton;
  m_next->setIcon(icon(Glyph::kChevronRight));
  m_next->setToolTip(tr("Next frame (Right)"));
  m_next->setAccessibleName(tr("Next frame"));
  for (QToolButton* button : {m_previous, m_next}) {
    button->setAutoRaise(true);
    button->setVisible(m_times.size() > 1);
  }
  m_caption = new QLabel;
  m_caption->setAlignment(Qt::AlignCenter);
  setMuted(m_caption);
  bar->addWidget(m_previous);
  bar->addWidget(m_caption, 1);
  bar->addWidget(m_next);
  m_pin = new PinButton(tr("Pin this frame"), tr("Unpin this frame"));
  bar->addWidget(m_pin);
  layout->addLayout(bar);
  connect(m_pin, &PinButton::clicked, this, [this] { pin((QGuiApplication::keyboardModifiers() & Qt::ShiftModifier) != 0); });
  connect(m_previous, &QToolButton::clicked, this, [this] { show(m_index - 1); });
  connect(m_next, &QToolButton::clicked, this, [this] { show(m_index + 1); });
  connect(m_picture, &FramePicture::shown, this, [this](double actualS, const QSize& pixels) {
    m_actualS = actualS;
    m_picture->setBoxes(m_index == m_boxesAt ? m_boxes : std::vector<DrawnBox>());
    showPin();
    if (m_kind == MediaKind::kVideo) {
      m_caption->setText(tr("%1 · frame %2 of %3").arg(app::formatClock(actualS)).arg(m_index + 1).arg(m_times.size()));
    } else {
      const QString size = tr("%1 × %2 pixels").arg(pixels.width()).arg(pixels.height());
      m_caption->setText(m_pictures.empty() ? size : tr("%1 · image %2 of %3").arg(size).arg(m_index + 1).arg(m_pictures.size()));
    }
  });
  show(index);
}

bool FrameViewer::hasPicture() const { return m_picture->hasPicture(); }

void FrameViewer::setPins(FramePins* pins, const QString& consequence) {
  if (!m_pins.isNull()) disconnect(m_pins, nullptr, this, nullptr);
  m_pins = pins;
  m_pin->offer(m_times.size() > 1
                   ? tr("Always keep this frame, with any method (P). With Shift: everything from the last pinned frame to this one.")
                   : tr("Always keep this picture, with any method (P)"),
               consequence);
  connect(pins, &FramePins::shown, this, &FrameViewer::showPin);
  showPin();
}

void FrameViewer::setBoxes(std::vector<DrawnBox> boxes) {
  m_boxes = std::move(boxes);
  m_boxesAt = m_index;
  m_picture->setBoxes(m_boxes);
}

void FrameViewer::compareWith(const app::Attachment& attached) { m_changed->look(attached); }

void FrameViewer::showPin() {
  if (!m_pins.isNull()) m_pin->setPinned(m_pins->isPinned(shownRange()));
}

app::PinnedRange FrameViewer::shownRange() const {
  const app::PinnedRange range = m_pins->rangeAmong(m_times, m_index);
  if (m_times.empty() || !m_actualS) return range;
  // If pictures stand still for long, the one shown may be older than its place in the plan.
  return {std::min(range.fromS, *m_actualS), std::max(range.toS, *m_actualS)};
}

void FrameViewer::pin(bool fromAnchor) {
  if (m_pins.isNull()) return;
  fromAnchor ? m_pins->pinThrough(shownRange()) : m_pins->toggle(shownRange());
  showPin();
}

void FrameViewer::setPictures(std::vector<QByteArray> paths) {
  const auto here = std::find(paths.begin(), paths.end(), m_path);
  if (paths.size() < 2 || here == paths.end()) return;
  m_index = static_cast<int>(here - paths.begin());
  m_pictures = std::move(paths);
  m_previous->setToolTip(tr("Previous image (Left)"));
  m_previous->setAccessibleName(tr("Previous image"));
  m_next->setToolTip(tr("Next image (Right)"));
  m_next->setAccessibleName(tr("Next image"));
  for (QToolButton* button : {m_previous, m_next}) button->show();
  m_previous->setEnabled(m_index > 0);
  m_next->setEnabled(m_index + 1 < steps());
}

void FrameViewer::showPicture(int index) {
  m_index = std::clamp(index, 0, steps() - 1);
  m_path = m_pictures[static_cast<std::size_t>(m_index)];
  setWindowTitle(app::attachedName(QFile::decodeName(m_path)));
  m_previous->setEnabled(m_index > 0);
  m_next->setEnabled(m_index + 1 < steps());
  Q_EMIT pictureShown(m_path);
  m_picture->open(m_path, m_kind, 0);
}

void FrameViewer::show(int index) {
  if (!m_pictures.empty()) return showPicture(index);
  m_index = m_times.empty() ? 0 : std::clamp(index, 0, static_cast<int>(m_times.size()) - 1);
  m_previous->setEnabled(m_index > 0);
  m_next->setEnabled(m_index + 1 < static_cast<int>(m_times.size()));
  m_actualS.reset();
  showPin();
  m_picture->open(m_path, m_kind, m_times.empty() ? 0.0 : m_times[static_cast<std::size_t>(m_index)]);
}

void FrameViewer::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left: show(m_index - 1); return;
    case Qt::Key_Right: show(m_index + 1); return;
    case Qt::Key_PageUp: show(m_index - kPage); return;
    case Qt::Key_PageDown: show(m_index + kPage); return;
    case Qt::Key_P: pin((event->modifiers() & Qt::ShiftModifier) != 0); return;
    case Qt::Key_Home: show(0); return;
    case Qt::Key_End: show(steps() - 1); return;
    default: QDialog::keyPressEvent(event); return;
  }
}

}  // namespace winnow::ui
