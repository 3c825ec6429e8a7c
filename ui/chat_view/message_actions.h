// The actions of a message, and where they are clicked.
//
// Used inside ui/chat_view; tests and the window name actions by it. Rectangles are relative to the message, in logical pixels. UI thread
// only (translations).
#pragma once

#include <QRectF>
#include <QString>
#include <utility>
#include <vector>

namespace winnow::ui {

class MessageRows;

enum class Action : int {
  kNone = 0,
  kCopy,
  kRegenerate,
  kStop,
  kCopyCode,
  kErrorDetails,
  kErrorCopy,
  kRetry,
  kPreviousBranch,
  kNextBranch,
  kAttachment,
  kEdit,
  kCheck,
  kComparison,
  kCite,   // the lines that fit the answer best
  kQuote,  // one of them
  kKeptMap,
  kContinue,
  kReadAgain,
  kReadAll,   // frames of the video
  kFindFile,  // that an answer failed for, or its password
  kThought,
  kSideways,
  kAnswerNow,    // the thought ends, or the frames that are there will do
  kNewChat,      // with this answer's question
  kAnswerAlone,  // without what was said before
  kFigures,      // the line of an answer
};

struct ActionArea {
  Action action = Action::kNone;
  QRectF rect;
  QString label;
  int index = 0;          // attachment, comparison, quote, block of code
  bool hasGlyph = false;  // drawn as one
  QString word;           // beside the glyph, where there is room; the label is its tooltip
};

// The index of Action::kCopyCode for a block of code (listing -1), or for a listing within a block of Markdown; and back.
inline int listingIndex(std::size_t block, int listing) { return static_cast<int>(block) | (listing + 1) << 20; }
inline std::pair<std::size_t, int> listingOf(int index) { return {static_cast<std::size_t>(index & ((1 << 20) - 1)), (index >> 20) - 1}; }

// The text of a listing that Action::kCopyCode names.
QString codeOf(const MessageRows& message, int index);

// The height of its error card's buttons, which take as many lines as they need.
qreal errorActionsHeight(const MessageRows& message, qreal width);

// showAll: those too that are drawn only while the pointer or the focus is there.
std::vector<ActionArea> actionsOf(const MessageRows& message, bool showAll);

}  // namespace winnow::ui
