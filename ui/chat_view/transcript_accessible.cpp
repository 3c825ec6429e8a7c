#include "ui/chat_view/transcript_accessible.h"

#include <QAccessibleWidget>
#include <map>

#include "app/words/error_text.h"
#include "ui/chat_view/answer_figures.h"
#include "ui/chat_view/message_note.h"
#include "ui/chat_view/transcript_view.h"

namespace winnow::ui {
namespace {

// One message. Owned by the list's interface; told by index, because messages come and go.
class MessageInterface : public QAccessibleInterface {
 public:
  MessageInterface(TranscriptView* view, int index) : m_view(view), m_index(index) {}
  bool isValid() const override { return m_view != nullptr && m_index < m_view->messageCount(); }
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(m_view); }
  QAccessibleInterface* child(int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QString text(QAccessible::Text kind) const override {
    if (kind != QAccessible::Name || !isValid()) return {};
    const MessageContent& content = m_view->messageAt(m_index);
    QString name = content.roleLabel + QStringLiteral(": ");
    if (!content.thought.isEmpty())
      name +=
          thoughtLine(content) + QLatin1Char('\n') + (m_view->thoughtOpen(content.id) ? content.thought + QLatin1Char('\n') : QString());
    name += content.text;
    for (const AttachmentSummary& attachment : content.attachments) {
      name += QStringLiteral(" [") + attachment.title;
      if (attachment.pointedAt) name += QStringLiteral(": ") + attachment.detail;
      name += QLatin1Char(']');
    }
    if (!content.phase.isEmpty()) name += QStringLiteral(" ") + content.phase;
    if (content.error) name += QLatin1Char('\n') + app::describeError(*content.error).cause + QLatin1Char(' ') + remedyOf(content);
    if (const QString note = noteOf(content); !note.isEmpty()) name += QLatin1Char('\n') + note;
    for (const QString& figure : metricTexts(content)) name += QLatin1Char('\n') + figure;
    for (const TextMark& mark : content.marks) {
      if (!mark.note.isEmpty()) name += QLatin1Char('\n') + mark.note;
    }
    for (const QString& quote : content.quotes) name += QStringLiteral(" [") + quote + QLatin1Char(']');
    for (const ComparisonSummary& comparison : content.comparisons) name += QStringLiteral(" [") + comparison.label + QLatin1Char(']');
    return name;
  }
  void setText(QAccessible::Text, const QString&) override {}
  QRect rect() const override { return m_view->rect().translated(m_view->mapToGlobal(QPoint())); }
  QAccessible::Role role() const override { return QAccessible::ListItem; }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.focusable = true;
    state.readOnly = true;
    state.focused = isValid() && m_view->hasFocus() && m_view->focusedMessage() == m_index;
    return state;
  }
  int index() const { return m_index; }

 private:
  TranscriptView* m_view;
  int m_index;
};

class TranscriptInterface : public QAccessibleWidget {
 public:
  explicit TranscriptInterface(TranscriptView* view) : QAccessibleWidget(view, QAccessible::List), m_view(view) {}
  ~TranscriptInterface() override {
    for (const auto& [index, id] : m_children) QAccessible::deleteAccessibleInterface(id);
  }
  int childCount() const override { return m_view->messageCount(); }
  QAccessibleInterface* child(int index) const override {
    if (index < 0 || index >= m_view->messageCount()) return nullptr;
    const auto found = m_children.find(index);
    if (found != m_children.end()) return QAccessible::accessibleInterface(found->second);
    auto* made = new MessageInterface(m_view, index);  // owned by the accessibility cache from here on
    m_children[index] = QAccessible::registerAccessibleInterface(made);
    return made;
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    const auto* message = dynamic_cast<const MessageInterface*>(child);
    return message != nullptr ? message->index() : -1;
  }

 private:
  TranscriptView* m_view;
  mutable std::map<int, QAccessible::Id> m_children;
};

QAccessibleInterface* makeInterface(const QString&, QObject* object) {
  auto* view = qobject_cast<TranscriptView*>(object);
  return view != nullptr ? new TranscriptInterface(view) : nullptr;
}

}  // namespace

void installTranscriptAccessibility() {
  static const bool installed = [] {
    QAccessible::installFactory(makeInterface);
    return true;
  }();
  Q_UNUSED(installed);
}

}  // namespace winnow::ui
