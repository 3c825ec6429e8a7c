#include "ui/chat_view/message_actions.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "app/words/error_text.h"
#include "ui/chat_view/answer_figures.h"
#include "ui/chat_view/message_geometry.h"
#include "ui/chat_view/message_note.h"
#include "ui/chat_view/message_rows.h"

namespace winnow::ui {
namespace {

class ActionWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::ActionWords)
};

qreal labelWidth(const QString& text) {
  return std::ceil(QFontMetricsF(theme().font(TextRole::kCaption)).horizontalAdvance(text)) + theme().px(20);
}
qreal glyphAndLabelWidth(const QString& text) { return labelWidth(text) + theme().px(16); }

// A question's own buttons sit beside its bubble.
void addBesideBubble(const MessageRows& message, std::vector<ActionArea>& areas) {
  const QRectF box = message.bubble();
  if (box.isEmpty()) return;
  const qreal size = buttonHeight();
  qreal x = box.left() - theme().px(4);
  const std::pair<Action, QString> buttons[] = {{Action::kCopy, ActionWords::tr("Copy")}, {Action::kEdit, ActionWords::tr("Edit")}};
  for (const auto& [action, label] : buttons) {
    x -= size;
    if (x >= 0) areas.push_back({action, QRectF(x, box.bottom() - size, size, size), label, 0, true, {}});
  }
}

void addAttachments(const MessageRows& message, const QRectF& rect, std::vector<ActionArea>& areas) {
  const std::vector<AttachmentSummary>& attachments = message.content().attachments;
  const AttachmentGrid grid(message.innerWidth(), attachments);
  for (int i = 0; i < static_cast<int>(attachments.size()); ++i) {
    const QRectF at = grid.rect(i, rect.topLeft());
    const int more = grid.standsForMore(i);
    const AttachmentSummary& attachment = attachments[static_cast<std::size_t>(i)];
    const QString title = attachment.pointedAt ? attachment.title + QLatin1Char('\n') + attachment.detail : attachment.title;
    const QString label = more > 0 ? ActionWords::tr("%Ln more image(s)", nullptr, more) : title;
    if (!at.isEmpty()) areas.push_back({Action::kAttachment, at, label, i, false, {}});
  }
}

ActionArea copyCode(const QRectF& frame, int index) {
  const QString label = ActionWords::tr("Copy");
  const qreal width = glyphAndLabelWidth(label);
  return {Action::kCopyCode,
          QRectF(frame.right() - width - theme().px(4), frame.top() + theme().px(3), width, codeHeaderHeight() - theme().px(4)),
          label,
          index,
          true,
          label};
}

void addCopyCode(const MessageRows& message, const Row& row, const QRectF& rect, std::vector<ActionArea>& areas) {
  if (message.isCode(row)) {
    if (!message.splitter().blocks()[row.block].continues) areas.push_back(copyCode(rect, listingIndex(row.block, -1)));
    return;
  }
  if (!row.document || message.styleOf(row) != BlockStyle::kMarkdown) return;
  const QPointF origin = message.textRect(row).topLeft();
  int listing = 0;
  for (const BlockDocument::Listing& each : row.document->listings())
    areas.push_back(copyCode(each.frame.translated(origin), listingIndex(row.block, listing++)));
}

void addSideways(const MessageRows& message, std::size_t row, std::vector<ActionArea>& areas) {
  if (message.rows()[row].overflow <= 0) return;
  const QRectF rect = message.rowRect(message.rows()[row]);
  const QRectF bar(rect.left(), rect.bottom() - sidewaysBarHeight(), rect.width(), sidewaysBarHeight());
  areas.push_back({Action::kSideways, bar, ActionWords::tr("Scroll the table"), static_cast<int>(row), false, {}});
}

void addThought(const MessageRows& message, const QRectF& rect, std::vector<ActionArea>& areas) {
  const QString label = thoughtLine(message.content());
  const qreal width = std::min(rect.width(), glyphAndLabelWidth(label));
  areas.push_back({Action::kThought, QRectF(rect.left() - theme().px(6), rect.top(), width, rect.height()), label,
                   message.open(Fold::kThought) ? 1 : 0, true, label});
  if (!thinks(message.content()) || !message.content().canAnswerNow) return;
  const QString now = ActionWords::tr("Answer now");
  // Leaves room for the widest count of seconds, so that it does not move while they pass.
  const qreal beside = std::max(width, glyphAndLabelWidth(label + QStringLiteral("00"))) + theme().px(4);
  const qreal left = rect.left() + std::min(std::ceil(beside / theme().px(24)) * theme().px(24), rect.width() - labelWidth(now));
  areas.push_back({Action::kAnswerNow, QRectF(left, rect.top(), labelWidth(now), rect.height()), now, 0, false, {}});
}

void addStop(const MessageContent& content, const QRectF& rect, std::vector<ActionArea>& areas) {
  const QString label = ActionWords::tr("Stop");
  const qreal width = glyphAndLabelWidth(label);
  const QRectF stop(rect.right() - width, rect.top(), width, phaseLineHeight());
  areas.push_back({Action::kStop, stop, label, 0, true, label});
  if (content.framesThere == 0) return;
  const QString part = ActionWords::tr("Answer from these %Ln frame(s)", nullptr, content.framesThere);
  const qreal beside = labelWidth(part);
  areas.push_back(
      {Action::kAnswerNow, QRectF(stop.left() - beside - theme().px(4), stop.top(), beside, stop.height()), part, 0, false, {}});
}

// From the left edge of an error's words on, the top of the first at 0.
std::vector<ActionArea> errorActions(const MessageContent& content, bool detailsShown, qreal width) {
  const bool full = content.error->code == ErrorCode::kContextFull;
  const std::optional<WayOn> way = wayOn(content);
  const QString goesOn = way && way->action == Action::kContinue ? way->label : QString();
  const std::pair<Action, QString> buttons[] = {
      {Action::kFindFile, app::repairOf(*content.error)},
      {Action::kNewChat, full ? ActionWords::tr("New chat with this question") : QString()},
      {Action::kAnswerAlone, full && content.followsTurns ? ActionWords::tr("Leave out earlier turns") : QString()},
      {Action::kContinue, goesOn},
      {Action::kRetry, goesOn.isEmpty() ? ActionWords::tr("Try again") : ActionWords::tr("Again")},
      {Action::kErrorDetails, detailsShown ? ActionWords::tr("Hide details") : ActionWords::tr("Details")},
      {Action::kErrorCopy, detailsShown ? ActionWords::tr("Copy") : QString()}};
  std::vector<ActionArea> areas;
  qreal x = 0;
  qreal y = 0;
  for (const auto& [action, label] : buttons) {
    if (label.isEmpty()) continue;
    if (x > 0 && x + labelWidth(label) > width) {
      x = 0;
      y += buttonHeight() + theme().px(6);
    }
    areas.push_back({action, QRectF(x, y, labelWidth(label), buttonHeight()), label, 0, false, {}});
    x += labelWidth(label) + theme().px(6);
  }
  return areas;
}

void addOfError(const MessageRows& message, const QRectF& rect, std::vector<ActionArea>& areas) {
  const bool detailsShown = message.open(Fold::kErrorDetails);
  const qreal top = rect.bottom() - errorPadding() - errorActionsHeight(message, rect.width());
  for (ActionArea& area : errorActions(message.content(), detailsShown, errorTextWidth(rect.width()))) {
    area.rect.translate(rect.left() + errorTextLeft(), top);
    areas.push_back(std::move(area));
  }
}

void addWayOn(const MessageContent& content, const QRectF& rect, std::vector<ActionArea>& areas) {
  const std::optional<WayOn> way = wayOn(content);
  if (!way || content.error) return;
  const QRectF at(rect.left(), rect.bottom() - buttonHeight(), std::min(rect.width(), labelWidth(way->label)), buttonHeight());
  areas.push_back({way->action, at, way->label, 0, false, {}});
}

std::vector<std::pair<Action, QString>> buttonsOf(const MessageContent& answer) {
  std::vector<std::pair<Action, QString>> buttons;
  if (answer.error) return buttons;  // its card has them
  if (!answer.text.isEmpty()) buttons.emplace_back(Action::kCopy, ActionWords::tr("Copy answer"));
  buttons.emplace_back(Action::kRegenerate, ActionWords::tr("Answer again"));
  if (answer.checkable) {
    const QString check = ActionWords::tr("What changed? Check against the full cache");
    buttons.emplace_back(Action::kCheck, answer.divergence.isEmpty() ? check : check + QLatin1Char('\n') + answer.divergence);
  }
  if (answer.citable) buttons.emplace_back(Action::kCite, ActionWords::tr("Where it stands: the lines that fit this answer best"));
  if (answer.hasKeptMap) buttons.emplace_back(Action::kKeptMap, ActionWords::tr("What each layer kept of the prompt"));
  return buttons;
}

void addBranches(const MessageContent& content, qreal x, qreal y, std::vector<ActionArea>& areas) {
  const qreal size = buttonHeight();
  const bool user = content.speaker == Speaker::kUser;
  const QString previous = user ? ActionWords::tr("Previous wording") : ActionWords::tr("Previous answer");
  const QString next = user ? ActionWords::tr("Next wording") : ActionWords::tr("Next answer");
  if (content.branch > 0) areas.push_back({Action::kPreviousBranch, QRectF(x, y, size, size), previous, 0, true, {}});
  x += size + branchNumberWidth();
  if (content.branch + 1 < content.branchCount) areas.push_back({Action::kNextBranch, QRectF(x, y, size, size), next, 0, true, {}});
}

// Under an answer its figures, its branches and, while it is looked at, its buttons, from the right edge on; under a question with
// several wordings these alone. The figures have the same room whether the buttons are shown or not.
void addFooter(const MessageContent& content, const QRectF& rect, bool showAll, std::vector<ActionArea>& areas) {
  const qreal size = buttonHeight();
  const qreal y = rect.bottom() - size;
  qreal right = rect.right();
  if (content.speaker == Speaker::kAssistant) {
    const std::vector<std::pair<Action, QString>> buttons = buttonsOf(content);
    right -= static_cast<qreal>(buttons.size()) * size;
    qreal x = right;
    for (const auto& [action, label] : buttons) {
      if (showAll) areas.push_back({action, QRectF(x, y, size, size), label, 0, true, {}});
      x += size;
    }
  }
  if (content.branchCount > 1) {
    right -= 2 * size + branchNumberWidth();
    addBranches(content, right, y, areas);
  }
  if (content.speaker == Speaker::kUser || !content.metrics.valid) return;
  const qreal most = right - rect.left() - theme().px(8);
  const QFontMetricsF font(theme().font(TextRole::kCaption));
  const FiguresLine line = figuresLine(content, font, most);
  qreal wide = font.horizontalAdvance(line.figures);
  if (!line.verdict.isEmpty()) wide += verdictGap() + font.horizontalAdvance(line.verdict);
  const QRectF at(rect.left(), y, std::min(std::ceil(wide), most), size);
  areas.push_back({Action::kFigures, at, line.figures, 0, false, {}});
}

void addQuotes(const MessageContent& content, const QRectF& rect, std::vector<ActionArea>& areas) {
  qreal y = rect.top();
  for (int i = 0; i < content.quotes.size(); ++i) {
    const QString& label = content.quotes[i];
    const qreal width = std::min(rect.width(), labelWidth(label) + theme().px(40));
    areas.push_back({Action::kQuote, QRectF(rect.left(), y, width, buttonHeight()), label, i, true, label});
    y += quoteStep();
  }
}

void addComparisons(const MessageContent& content, const QRectF& rect, std::vector<ActionArea>& areas) {
  qreal y = rect.top();
  for (std::size_t i = 0; i < content.comparisons.size(); ++i) {
    const QString& label = content.comparisons[i].label;
    const qreal width = std::min(rect.width(), labelWidth(label) + theme().px(24));
    areas.push_back({Action::kComparison, QRectF(rect.right() - width, y, width, buttonHeight()), label, static_cast<int>(i), true, label});
    y += comparisonStep();
  }
}

}  // namespace

// A long listing may have been cut into several blocks; the code is all of them.
QString codeOf(const MessageRows& message, int index) {
  const auto [first, listing] = listingOf(index);
  const MarkdownSplitter& splitter = message.splitter();
  const std::vector<SourceBlock>& blocks = splitter.blocks();
  if (first >= blocks.size()) return {};
  if (listing >= 0) {
    const std::vector<QString> code = listingsIn(splitter.source(blocks[first]));
    return listing < static_cast<int>(code.size()) ? code[static_cast<std::size_t>(listing)] : QString();
  }
  QString code;
  for (std::size_t b = first; b < blocks.size() && (b == first || blocks[b].continues); ++b) code += splitter.code(blocks[b]);
  return code;
}

qreal errorActionsHeight(const MessageRows& message, qreal width) {
  return errorActions(message.content(), message.open(Fold::kErrorDetails), errorTextWidth(width)).back().rect.bottom();
}

std::vector<ActionArea> actionsOf(const MessageRows& message, bool showAll) {
  std::vector<ActionArea> areas;
  const MessageContent& content = message.content();
  if (showAll) addBesideBubble(message, areas);
  for (std::size_t r = 0; r < message.rows().size(); ++r) {
    const Row& row = message.rows()[r];
    const QRectF rect = message.rowRect(row);
    switch (row.kind) {
      case RowKind::kAttachments: addAttachments(message, rect, areas); break;
      case RowKind::kText:
        addCopyCode(message, row, rect, areas);
        addSideways(message, r, areas);
        break;
      case RowKind::kThought: addThought(message, rect, areas); break;
      case RowKind::kPhase: addStop(message.content(), rect, areas); break;
      case RowKind::kError: addOfError(message, rect, areas); break;
      case RowKind::kQuotes: addQuotes(content, rect, areas); break;
      case RowKind::kNote: addWayOn(content, rect, areas); break;
      case RowKind::kFooter: addFooter(content, rect, showAll, areas); break;
      case RowKind::kComparisons: addComparisons(content, rect, areas); break;
      case RowKind::kRole:
      case RowKind::kThoughtTail:
      case RowKind::kThoughtText: break;
    }
  }
  return areas;
}

}  // namespace winnow::ui
