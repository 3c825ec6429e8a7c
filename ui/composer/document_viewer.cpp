#include "ui/composer/document_viewer.h"

#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTextBlock>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>

#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/viewer_parts.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

// The action of a key that the focused part of the viewer has no use for.
std::optional<QAbstractSlider::SliderAction> scrollAction(int key) {
  switch (key) {
    case Qt::Key_Up: return QAbstractSlider::SliderSingleStepSub;
    case Qt::Key_Down: return QAbstractSlider::SliderSingleStepAdd;
    case Qt::Key_PageUp: return QAbstractSlider::SliderPageStepSub;
    case Qt::Key_PageDown: return QAbstractSlider::SliderPageStepAdd;
    case Qt::Key_Home: return QAbstractSlider::SliderToMinimum;
    case Qt::Key_End: return QAbstractSlider::SliderToMaximum;
    default: return std::nullopt;
  }
}

}  // namespace

DocumentViewer::DocumentViewer(MediaPreview& preview, const app::Attachment& document, int line, QWidget* parent)
    : QDialog(parent), m_preview(preview), m_line(line) {
  setAttribute(Qt::WA_DeleteOnClose);
  setArrowsStep(this);
  setWindowTitle(app::attachedName(QFile::decodeName(document.path)));
  if (parent != nullptr) resize(parent->window()->size() * 0.86);
  auto* layout = new QVBoxLayout(this);
  m_changed = new ChangedFileNote(preview);
  layout->addWidget(m_changed);
  m_text = new QPlainTextEdit(tr("Opening…"));
  setFocusFrame(m_text);
  m_text->setReadOnly(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_text->setAccessibleName(tr("Text of the document"));
  layout->addWidget(m_text, 1);
  auto* bar = new QHBoxLayout;
  setSpacing(bar, 8);
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Find (Ctrl+F)"));
  m_search->setAccessibleName(tr("Find in the document"));
  m_search->setClearButtonEnabled(true);
  m_caption = lineLabel(QString(), TextRole::kCaption);
  setMuted(m_caption);
  m_pin = new PinButton(tr("Pin this document"), tr("Unpin this document"));
  bar->addWidget(m_search, 1);
  bar->addWidget(m_caption);
  bar->addWidget(m_pin);
  layout->addLayout(bar);
  connect(m_search, &QLineEdit::returnPressed, this, [this] { find(false); });
  connect(m_pin, &PinButton::clicked, this, [this] {
    if (m_pins) m_pins->toggle(0);
    showPin();
  });
  connect(m_text, &QPlainTextEdit::cursorPositionChanged, this,
          [this] { m_caption->setText(tr("Line %1 of %2").arg(m_text->textCursor().blockNumber() + 1).arg(m_text->blockCount())); });
  connect(&m_preview, &MediaPreview::textRead, this, [this](PreviewToken token, const QString& text) {
    if (token == m_token) showText(text);
  });
  connect(&m_preview, &MediaPreview::failed, this, [this](PreviewToken token, const Error& error) {
    if (token != m_token) return;
    const app::ErrorText why = app::describeError(error);
    m_text->setPlainText(why.cause + QLatin1Char('\n') + why.remedy);
  });
  m_token = m_preview.readText(document.subtitles.isEmpty() ? document.path : document.subtitles, document.encoding);
  m_changed->look(document);
  m_text->setFocus();
}

void DocumentViewer::showText(const QString& text) {
  m_text->setPlainText(app::displayText(text));
  m_text->setTextCursor(QTextCursor(m_text->document()->findBlockByNumber(std::clamp(m_line, 0, m_text->blockCount() - 1))));
  m_text->centerCursor();
}

void DocumentViewer::setPins(FramePins* pins, const QString& consequence) {
  m_pins = pins;
  m_pin->offer(tr("Always keep this document, with any method (P)"), consequence);
  connect(pins, &FramePins::shown, this, &DocumentViewer::showPin);
  showPin();
}

void DocumentViewer::showPin() {
  if (!m_pins.isNull()) m_pin->setPinned(m_pins->any());
}

void DocumentViewer::find(bool backward) {
  const QString wanted = m_search->text();
  if (wanted.isEmpty()) return;
  const QTextDocument::FindFlags flags = backward ? QTextDocument::FindBackward : QTextDocument::FindFlags();
  if (m_text->find(wanted, flags)) return;
  m_text->moveCursor(backward ? QTextCursor::End : QTextCursor::Start);
  if (!m_text->find(wanted, flags)) m_caption->setText(tr("Not found"));
}

void DocumentViewer::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Find)) {
    m_search->setFocus();
    m_search->selectAll();
  } else if (event->matches(QKeySequence::FindNext) || event->matches(QKeySequence::FindPrevious)) {
    find(event->matches(QKeySequence::FindPrevious));
  } else if (event->key() == Qt::Key_P && !m_pins.isNull() && !m_search->hasFocus()) {
    m_pins->toggle(0);
  } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_search->hasFocus()) {
    return;  // has searched; closes nothing
  } else if (const std::optional<QAbstractSlider::SliderAction> action = scrollAction(event->key())) {
    m_text->verticalScrollBar()->triggerAction(*action);
  } else {
    QDialog::keyPressEvent(event);
  }
}

}  // namespace winnow::ui
