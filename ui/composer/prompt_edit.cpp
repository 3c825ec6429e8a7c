#include "ui/composer/prompt_edit.h"

#include <QKeyEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextLayout>
#include <algorithm>

#include "ui/composer/offered_content.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

PromptEdit::PromptEdit(QWidget* parent) : QPlainTextEdit(parent) {
  setFrameShape(QFrame::NoFrame);
  setTabChangesFocus(true);
  setAccessibleName(tr("Question"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  viewport()->setAutoFillBackground(false);
  document()->setDocumentMargin(theme().px(4));
  connect(this, &QPlainTextEdit::textChanged, this, [this] {
    // A plain text edit aligns all of its text alike, and to the left unless it is told.
    QTextOption option = document()->defaultTextOption();
    const Qt::Alignment side = toPlainText().isRightToLeft() ? Qt::AlignRight : Qt::AlignLeft;
    if (option.alignment() != side) {
      option.setAlignment(side);
      document()->setDefaultTextOption(option);
    }
    updateGeometry();
  });
  connect(&theme(), &Theme::changed, this, [this] {
    document()->setDocumentMargin(theme().px(4));
    updateGeometry();
    showHint();
  });
}

void PromptEdit::quote(const QString& words, int page) {
  QTextCursor cursor = textCursor();
  cursor.setPosition(cursor.selectionEnd());
  const bool apart = cursor.position() > 0 && !document()->characterAt(cursor.position() - 1).isSpace();
  cursor.insertText((apart ? QStringLiteral(" ") : QString()) + tr("“%1” (page %2) ").arg(words).arg(page));
  setTextCursor(cursor);
  setFocus();
}

void PromptEdit::setMaximumLines(int lines) {
  m_maximumLines = std::max(1, lines);
  updateGeometry();
}

void PromptEdit::setHint(const QString& hint, const QString& brief) {
  m_hint = hint;
  m_briefHint = brief;
  showHint();
}

void PromptEdit::showHint() {
  const int room = viewport()->width() - qRound(2 * document()->documentMargin());
  const QString& shown = fontMetrics().horizontalAdvance(m_hint) <= room ? m_hint : m_briefHint;
  if (shown == placeholderText()) return;
  setPlaceholderText(shown);
  viewport()->update();  // Qt paints a placeholder anew only where it comes or goes
}

int PromptEdit::textLines() const {
  int lines = 0;
  for (QTextBlock block = document()->begin(); block.isValid() && lines < m_maximumLines; block = block.next()) {
    // Blocks out of view may not be laid out yet; they count as one line.
    lines += std::max(1, block.layout() != nullptr ? block.layout()->lineCount() : 1);
  }
  return std::clamp(lines, 1, m_maximumLines);
}

QSize PromptEdit::sizeHint() const {
  const int lines = textLines();
  const int margin = qRound(2 * document()->documentMargin());
  return QSize(theme().px(300), lines * fontMetrics().lineSpacing() + margin + theme().px(6));
}

QSize PromptEdit::minimumSizeHint() const {
  return QSize(theme().px(120), fontMetrics().lineSpacing() + qRound(2 * document()->documentMargin()) + theme().px(6));
}

void PromptEdit::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  if (event->oldSize().width() == event->size().width()) return;
  updateGeometry();
  showHint();
}

void PromptEdit::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter) {
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    const bool control = event->modifiers() & Qt::ControlModifier;
    if (shift && control) return;  // goes on with an answer that was cut; where there is none, it is no new line
    const bool sends = m_enterKey == EnterKey::kSends ? !shift : control;
    if (sends) {
      Q_EMIT submitted();
      return;
    }
    insertPlainText(QStringLiteral("\n"));
    ensureCursorVisible();
    return;
  }
  QPlainTextEdit::keyPressEvent(event);
}

bool PromptEdit::canInsertFromMimeData(const QMimeData* source) const { return contentOf(*source).kind != OfferedKind::kNothing; }

void PromptEdit::insertFromMimeData(const QMimeData* source) {
  const OfferedContent offered = contentOf(*source);
  if (offered.kind == OfferedKind::kText) {
    pasteText(offered.text);
  } else if (!source->formats().isEmpty()) {
    Q_EMIT mediaPasted(*source);
  }
}

void PromptEdit::pasteText(const QString& text) {
  const int from = textCursor().selectionStart();
  insertPlainText(text);
  ensureCursorVisible();
  QTextCursor pasted = textCursor();
  const int to = pasted.position();
  pasted.setPosition(from);
  pasted.setPosition(to, QTextCursor::KeepAnchor);
  Q_EMIT textPasted(pasted);
}

}  // namespace winnow::ui
