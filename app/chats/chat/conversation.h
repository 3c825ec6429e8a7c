// The parts of a saved chat: plain values, no database and no engine objects.
//
// Made by ChatDatabase, carried by value through ChatStore's signals, read by ui, the terminal program and turn_builder. Messages form a
// tree: a regenerated answer or an edited question is a sibling (same parent). Order is by `sequence`, never by clock. Text is stored
// exactly; times are ms since the epoch and for display only. Media files are referenced by path and hash, never stored.
// Threads: values; share by copy.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QMetaType>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "app/chats/chat/file_lines.h"
#include "app/chats/chat/pinned_ranges.h"
#include "app/chats/chat/turn_timeline.h"
#include "app/chats/kept_map/kept_map.h"
#include "app/ground/recipes/recipe_json.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow::app {

using MessageId = qint64;      // 0: none
using RequestToken = quint64;  // one call of ChatStore; 0: none

// Stored enums are never renumbered.
enum class MessageState : int {
  kComplete = 1,
  kStreaming = 2,    // being written by a running engine
  kInterrupted = 3,  // stopped by the user
  kFailed = 4,       // the engine reported an error; `failure` says which
  kAbandoned = 5,    // found `streaming` at the start: the program ended while it was written
};

// Frames of a video as asked for and as delivered, and lines of its subtitles that stand between them, in seconds from its start; of a
// document how many tokens it has; what was noticed of any medium, and how large it was read. Empty until an answer sampled it.
struct SampledTimes {
  std::vector<double> askedS{};
  std::vector<double> actualS{};
  qint64 tokens = 0;             // of all of a document, however few were read
  std::vector<double> linesS{};  // when each line begins
  QByteArray linesDigest{};      // of their times and words: other subtitles than before have another one
  std::vector<MediaNotice> notices{};
  int planned = 0;                        // of a video of which a part was read (FramePlan::taken): all frames of its plan
  std::vector<std::int32_t> pageLines{};  // of a document with pages: the line at which each begins
  int readWidthPx = 0;                    // MediaSampled::read_width_px
  int readHeightPx = 0;

  friend bool operator==(const SampledTimes&, const SampledTimes&) = default;
};

struct Attachment {
  qint64 id = 0;
  MediaKind kind = MediaKind::kImage;
  QByteArray path{};    // file name as bytes, never a URL
  QByteArray sha256{};  // 64 lower-case hex digits of the file's bytes (FrameSource::content_hash); empty: not hashed yet
  qint64 sizeBytes = 0;
  int widthPx = 0;
  int heightPx = 0;
  double durationS = 0.0;     // 0 for an image
  qint64 words = 0;           // of a document
  qint64 mostTokens = 0;      // of a document: that are read, from its beginning; 0: all
  QByteArray subtitles{};     // the file of the lines between a video's frames, or of a sound's text (MediaRequest::subtitles); empty: none
  QByteArray encoding{};      // of a document or of subtitles, as it is read (MediaRequest::encoding); empty: by its bytes
  FramePlan plan{};           // videos: which frames the question is about
  PageRange pages{};          // of a document: those that are read; of a picture: the page of a PDF that it shows
  MediaDetail detail{};       // of a picture, or of each frame: how many tokens it may take
  PinnedRanges pins{};        // never dropped by compression
  SampledTimes sampled{};     // what the last answer really saw; stored by storeSampled() only
  bool hasContents = false;   // lines with times are kept of it (file_lines.h); not stored with it
  QByteArray thumbnailPng{};  // poster, PNG; lives as a file in the cache folder and may be empty when that was cleared
};

// The engine names a medium by what was asked of it: whether two questions asked the same of the same file.
bool asksTheSame(const Attachment& a, const Attachment& b);
// The details of the last picture and the last video among them; of a kind that is not there as before.
MediaDetails detailsOf(const QList<Attachment>& attachments, MediaDetails before);
// Not a file, but a source that was watched while it ran: frames at a distance, and no number of them.
bool wasWatched(const Attachment& attachment);
// The times at which the plan asks for frames of a video, in order.
std::vector<double> plannedTimes(const Attachment& video);
// The parts of a video that are really pinned: its pins, widened so that each reaches a frame of the plan. The same before and after it was
// sampled, so that an answer can be repeated and checked.
PinnedRanges effectivePins(const Attachment& video);

// A recipe that made the cache of an answer (engine's CacheMaker), under the name that it was chosen by.
struct RunMaker {
  NamedRecipe recipe;
  bool attached = false;

  friend bool operator==(const RunMaker&, const RunMaker&) = default;
};

// The origin of an answer (saved before its first word), and its figures (when it has ended).
struct Run {
  QString modelName{};
  QStringList begunBy{};  // names of the models that wrote its beginning, where this one went on; no two neighbours are the same
  QString modelFolder{};
  QString family{};                                // ModelInfo::family; empty: not known
  QString device{};                                // "cpu", "cuda"
  NamedRecipe recipe{};                            // as it was sent
  QList<RunMaker> makers{};                        // of the cache that it was written from; empty: not told yet, or of an older version
  Guard guard = Guard::kKeep;                      // likewise
  SamplingChoice sampling{};                       // likewise; empty: of an older version, which was greedy
  TurnFigures figures{};                           // method, retention, seed, counts, bytes, timings, layers
  TurnTimeline timeline{};                         // empty: not recorded
  std::optional<Agreement> agreement{};            // with the full cache, if the answer was checked
  std::optional<SelectionFigures> selection{};     // what the full cache's attention says of what was kept, of a comparison's columns
  StopReason stopReason = StopReason::kStopToken;  // kLength: the answer was cut at figures.tokens.generated tokens
};

struct StoredMessage {
  MessageId id = 0;
  ConversationId conversation = 0;
  MessageId parent = 0;  // 0: first of the conversation
  qint64 sequence = 0;   // ascending in the order of writing, within the database
  Role role = Role::kUser;
  QString text{};
  bool damaged = false;  // its words are not those that were written: the disk changed them
  QString thought{};     // of an answer: what the model thought before it
  MessageState state = MessageState::kComplete;
  qint64 createdMs = 0;
  QString failure{};                             // "<code>: <subject>: <reason>" of a failed answer
  ErrorCode failureCode = ErrorCode::kInternal;  // valid when state is kFailed
  QList<Attachment> attachments{};
  bool hasCause = false;  // of an answer: `run` tells model, recipe, makers, guard and sampling
  bool hasRun = false;    // and its figures
  Run run{};
  bool hasKeptMap = false;  // ChatStore::loadKeptMap() has it
};
// The writers so far of the answer that this model would continue, if somebody else has a part in it.
QStringList begunBy(const Run& cut, const QString& modelName);
// The recipes that the answer is called by: those that had a say in what is left of what is attached; where nothing is, all that made its
// cache. An answer of an older version has its own recipe. Whoever tells of a method in an answer asks here.
QList<NamedRecipe> namedMakers(const Run& run);
// The recipe that the answer was asked under, where it holds for what is new only.
std::optional<NamedRecipe> recipeOfNew(const Run& run);
// The makers in the engine's report, by the names that the recipe of this answer, or of earlier ones of its thread, was chosen by.
QList<RunMaker> runMakers(const CacheMakers& makers, const NamedRecipe& own, const QList<StoredMessage>& thread);
// An answer that reached its limit, was stopped, or was cut by the end of the program or of its engine: it can go on.
bool canGoOn(const StoredMessage& message);

// How the answer of a comparison's column ended.
enum class ColumnState : int {
  kAnswered = 1,
  kStopped = 2,  // by the user, while it was written
  kFailed = 3,   // Comparison::failure says how
  kLeftOut = 4,  // the comparison ended before its turn
};

// One column of a comparison.
struct ComparedAnswer {
  ColumnState state = ColumnState::kLeftOut;
  bool sharesPrefill = true;
  QString text;
  Run run;  // the recipe always; the rest when hasFigures
  bool hasFigures = false;
  MessageId usedAs = 0;             // the answer that it became in the chat; 0: none
  bool hasKeptMap = false;          // of one that was read: ChatStore::loadComparedKeptMap() has it
  SharedKeptMap keptMap = nullptr;  // of one to be saved: null: none; not saved if larger than KeptMap::kMaxBytes
  QString thought{};                // before `text`
};

// A question answered under several recipes, saved when it has ended.
struct Comparison {
  qint64 id = 0;
  MessageId question = 0;
  qint64 createdMs = 0;
  ColumnOrder order = ColumnOrder::kOneAfterAnother;
  Compared totals{};
  QString failure{};                             // as of a message; empty: it did not fail
  ErrorCode failureCode = ErrorCode::kInternal;  // valid with a failure
  std::vector<ComparedAnswer> columns{};
};

// Remembered choices of one conversation; a new one takes them from the settings.
struct ConversationOptions {
  NamedRecipe recipe{};
  int frameCount = 64;
  QString systemPrompt{};               // empty: none, the model's template decides
  SamplingChoice sampling{};            // what is not as the settings say
  Guard laterQuestions = Guard::kKeep;  // what a later question goes on from
};

struct Conversation {
  ConversationId id = 0;
  QString title;  // empty: not named yet; ui shows the first words or "New chat"
  qint64 createdMs = 0;
  qint64 updatedMs = 0;
  qint64 activity = 0;   // sequence number of the last change; the list is sorted by it, newest first
  qint64 deletedMs = 0;  // 0: not deleted
  bool pinned = false;
  int messageCount = 0;
  QString preview{};         // first words of the first question or of the draft before it, or the file that it begins with
  MessageId activeLeaf = 0;  // end of the branch on screen; 0: empty
  ConversationOptions options;
};

// The words being written but not sent, and where the transcript was scrolled to.
struct Draft {
  QString text{};
  QList<Attachment> attachments;
  bool isEmpty() const { return text.isEmpty() && attachments.isEmpty(); }
};

struct ViewState {
  MessageId anchorMessage = 0;  // topmost visible message; 0: bottom
  double anchorOffset = 0.0;    // px below the top of that message
};

struct LoadedConversation {
  Conversation conversation;
  QList<StoredMessage> messages;  // all branches, by sequence
  QList<Comparison> comparisons;  // of its questions, oldest first
  Draft draft;
  ViewState view;
};

struct NewQuestion {
  ConversationId conversation = 0;
  MessageId parent = 0;  // message that the question follows; 0: first
  QString text;          // at most kMaxMessageBytes as UTF-8
  QList<Attachment> attachments;
};

struct TurnIds {
  ConversationId conversation = 0;
  MessageId question = 0;
  MessageId answer = 0;  // 0: the question has none yet
};

// An answer so far, while it is written.
struct AnswerSoFar {
  AnswerSoFar() = default;
  AnswerSoFar(QString text, std::optional<Run> cause = {}) : text(std::move(text)), cause(std::move(cause)) {}

  QString text;              // whole
  std::optional<Run> cause;  // what it comes from, where that is news
  QString thought;           // whole
};

struct FinishedTurn {
  MessageId answer = 0;
  QString text{};
  MessageState state = MessageState::kComplete;
  QString failure{};
  ErrorCode failureCode = ErrorCode::kInternal;
  bool hasRun = false;
  Run run{};
  SharedKeptMap keptMap = nullptr;  // null: none; not saved if larger than KeptMap::kMaxBytes
  bool hasCause = false;            // without figures: `run` tells what the answer comes from
  QString thought{};
};

struct SearchHit {
  ConversationId conversation = 0;  // 0: in none, but in a video of a folder that is asked
  MessageId message = 0;            // 0: title or draft matched
  QString title;
  QString snippet;                    // plain text; matches between U+2068 and U+2069; empty: of title or draft
  std::optional<FoundPlace> place{};  // in a file that the message has, or the draft
};

inline constexpr qint64 kMaxMessageBytes = qint64{4} << 20;
inline constexpr int kMaxTitleLength = 300;
inline constexpr int kMaxAttachments = 64;  // of one question

// The stand-in title of a chat that begins with this: at most 120 characters of the words, else the first file's name.
QString firstWords(const QString& text, const QList<Attachment>& attachments);
// The branch that ends in `leaf`, root first; empty when `leaf` is not among the messages.
QList<StoredMessage> branchTo(const QList<StoredMessage>& messages, MessageId leaf);
// Messages with the same parent and role as `message` (itself included), by sequence: "branch 2 of 3".
QList<MessageId> siblingsOf(const QList<StoredMessage>& messages, MessageId message);
// The newest leaf under `message`: what to show after switching to another branch.
MessageId newestLeafUnder(const QList<StoredMessage>& messages, MessageId message);

}  // namespace winnow::app

Q_DECLARE_METATYPE(winnow::app::Conversation)
Q_DECLARE_METATYPE(winnow::app::LoadedConversation)
Q_DECLARE_METATYPE(winnow::app::TurnIds)
Q_DECLARE_METATYPE(winnow::app::Comparison)
Q_DECLARE_METATYPE(winnow::Error)
