// The transcript's view of one message: presentation values only, already translated where they are words of the program.
//
// Made by message_presenter.h from stored messages; read by the transcript. Values; UI thread.
#pragma once

#include <QImage>
#include <QSize>
#include <QString>
#include <QStringList>
#include <chrono>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/media/frame_source.h"
#include "ui/chat_view/place_links.h"
#include "ui/theme/drawn_boxes.h"

namespace winnow::ui {

enum class Speaker : int { kUser = 1, kAssistant = 2 };
enum class MessageStatus : int { kComplete = 1, kWaiting = 2, kStreaming = 3, kInterrupted = 4, kFailed = 5, kAbandoned = 6 };

// The attachment of a question that an answer points at, or the frame of it at `atS`.
struct PointedAt {
  qint64 message = 0;
  int attachment = 0;
  double atS = -1.0;
  QSize pixels;
  std::vector<DrawnBox> boxes;
};

struct AttachmentSummary {
  QImage thumbnail{};  // may be null: a glyph is shown
  MediaKind kind = MediaKind::kImage;
  QString title{};   // file name
  QString detail{};  // "64 of 64 frames · 0:00–2:08"
  QString path;
  std::optional<PointedAt> pointedAt{};  // of an answer, which has no others; `detail` lists the boxes
};

struct MessageMetrics {
  bool valid = false;
  QString method{};  // what made the cache: "vl-cache · 20 %"
  QString ofNew{};   // what holds for what is new, where that is another method; empty: the same
  double ttftMs = 0.0;
  double tokensPerS = 0.0;
  double keptShare = 1.0;
  QString keptOf{};             // what it is the share of: "the video"
  double keptOfAll = 1.0;       // of all that was read, text as well
  int shortTextTokens = 0;      // nothing was compressed, because it was text of fewer tokens; 0: not so
  bool nothingToJudge = false;  // the method compresses pictures alone, and there are none
  qint64 kvBytes = 0;           // of the prompt, with all that was said before
  qint64 kvFullBytes = 0;       // of the same, uncompressed
  qint64 answerBytes = 0;
  int thoughtTokens = 0;
  double thoughtMs = 0.0;
  bool byServer = false;  // a server wrote it: of its cache only the next two are known
  qint64 promptTokens = 0;
  qint64 cachedTokens = 0;  // of them
};

// A word of an answer that deserves a look; drawn with a line under it and a tint.
struct TextMark {
  enum class Kind : int { kDiffers = 1, kFirst = 2 };  // the first one is drawn heavier
  qsizetype from = 0;                                  // in MessageContent::text
  qsizetype length = 0;
  Kind kind = Kind::kDiffers;
  QString note;  // plain text for pointer and keyboard; may be empty

  friend bool operator==(const TextMark&, const TextMark&) = default;
};

enum class Verdict : int { kNone = 0, kSame = 1, kDiffers = 2, kNotChecked = 3 };

struct ComparisonSummary {
  qint64 id = 0;  // 0: it is running
  QString label;  // "Comparison of 3 methods"
};

struct MessageContent {
  qint64 id = 0;
  Speaker speaker = Speaker::kAssistant;
  QString roleLabel;  // from data, never from the text
  QString text;
  QString thought{};  // what the model thought before it; folded, and no part of what is copied
  MessageStatus status = MessageStatus::kComplete;
  std::vector<AttachmentSummary> attachments{};  // of an answer: pictures with its boxes, below the text
  QString noticed{};                             // of the attachments, a line each; of an answer: what it did not see. Empty: nothing
  MessageMetrics metrics{};
  QString phase{};                                                      // "Decoding video 41/64", while waiting
  double phaseShare = -1.0;                                             // 0..1; negative: unknown
  std::optional<std::chrono::steady_clock::time_point> thoughtBegan{};  // of an answer that is being written
  std::optional<std::chrono::steady_clock::time_point> thoughtEnded{};
  bool canAnswerNow = false;  // and can be told to end its thought
  int framesThere = 0;        // of its video, while that is encoded: it can be told to do with them; 0: not so
  bool canGoOn = false;       // the answer did not come to its end
  bool followsTurns = false;  // of an answer: something was said before its question
  int cutAtTokens = 0;        // because it was as long as it was allowed to be; 0: not so
  // Says that the answer saw only what an earlier question left of the attachments. Empty: not so.
  QString chosenEarlier{};
  QString fromPart{};     // says that the answer saw a part of its video's frames; empty: not so
  LinkedPlaces places{};  // in the text, that lead to frames of the thread's video, or to pages of its paper
  std::optional<Error> error{};
  bool hasKeptMap = false;  // of an answer: what its layers kept of the prompt can be shown
  int branch = 0;           // index among its siblings
  int branchCount = 1;
  std::vector<TextMark> marks{};  // ascending, not overlapping
  QString checked{};              // of an answer that was checked against the full cache: how it came out
  QString verdict{};              // the same in two words, or why it was not checked by itself
  Verdict verdictKind = Verdict::kNone;
  QString divergence{};                          // of the same: how far it is apart, for the tool tip
  bool checkable = false;                        // an answer that can be checked
  bool citable = false;                          // an answer whose thread has lines that can be quoted
  QStringList quotes{};                          // of those that fit it best, once asked for: "report.pdf · page 3 · the words"
  std::vector<ComparisonSummary> comparisons{};  // of a question
  bool bare = false;                             // the text alone: no role, no footer, no actions that change the chat
};

}  // namespace winnow::ui
