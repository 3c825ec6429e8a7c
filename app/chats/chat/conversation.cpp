#include "app/chats/chat/conversation.h"

#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <span>

#include "app/ground/worker/engine_end.h"
#include "engine/media/coarse_order.h"

namespace winnow::app {

namespace {

constexpr qsizetype kPreviewCharacters = 120;
constexpr double kLeastMarginS = 0.1;  // of a frame delivered to the time asked

// Guard ram sends every recipe with turn policy whole.
bool sameCause(RecipeSpec a, const RecipeSpec& b) {
  a.turn_policy = b.turn_policy;
  return a == b;
}

QHash<MessageId, qsizetype> placesOf(const QList<StoredMessage>& messages) {
  QHash<MessageId, qsizetype> places;
  places.reserve(messages.size());
  for (qsizetype i = 0; i < messages.size(); ++i) places.insert(messages[i].id, i);
  return places;
}

}  // namespace

QString firstWords(const QString& text, const QList<Attachment>& attachments) {
  QString words = text.left(kPreviewCharacters * 4).simplified().left(kPreviewCharacters);
  if (!words.isEmpty() || attachments.isEmpty()) return words;
  const QString path = QFile::decodeName(attachments.first().path);
  return (wasWatched(attachments.first()) ? path : QFileInfo(path).fileName()).left(kPreviewCharacters);
}

QStringList begunBy(const Run& cut, const QString& modelName) {
  QStringList writers = cut.begunBy;
  writers << cut.modelName;
  if (writers.last() == modelName) writers.removeLast();
  return writers;
}

QList<NamedRecipe> namedMakers(const Run& run) {
  if (run.makers.isEmpty()) return {run.recipe};
  QList<NamedRecipe> named;
  for (const RunMaker& maker : naming_makers(run.makers)) named.push_back(maker.recipe);
  return named;
}

std::optional<NamedRecipe> recipeOfNew(const Run& run) {
  for (const NamedRecipe& named : namedMakers(run)) {
    if (sameCause(named.spec, run.recipe.spec)) return std::nullopt;
  }
  return run.recipe;
}

QList<RunMaker> runMakers(const CacheMakers& makers, const NamedRecipe& own, const QList<StoredMessage>& thread) {
  QList<NamedRecipe> known = {own};
  for (auto message = thread.rbegin(); message != thread.rend(); ++message) {
    for (const RunMaker& maker : message->run.makers) known.push_back(maker.recipe);
    if (message->hasCause) known.push_back(message->run.recipe);
  }
  QList<RunMaker> named;
  for (const CacheMaker& maker : makers) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const NamedRecipe& recipe) { return sameCause(recipe.spec, maker.recipe); });
    named.push_back({{found != known.end() ? found->name : std::string(), maker.recipe}, maker.attached});
  }
  return named;
}

bool canGoOn(const StoredMessage& message) {
  if (message.role != Role::kAssistant || (message.text.isEmpty() && message.thought.isEmpty())) return false;
  const bool engineEnded = message.state == MessageState::kFailed && isEngineEnd(message.failureCode);
  const bool interrupted = message.state == MessageState::kInterrupted || message.state == MessageState::kAbandoned || engineEnded;
  return interrupted || (message.state == MessageState::kComplete && message.hasRun && message.run.stopReason == StopReason::kLength);
}

bool asksTheSame(const Attachment& a, const Attachment& b) {
  return a.path == b.path && a.kind == b.kind && a.plan == b.plan && a.mostTokens == b.mostTokens && a.subtitles == b.subtitles &&
         a.encoding == b.encoding && a.detail == b.detail && a.pages == b.pages;
}

MediaDetails detailsOf(const QList<Attachment>& attachments, MediaDetails before) {
  for (const Attachment& attachment : attachments) {
    if (attachment.kind == MediaKind::kImage) before.pictures = attachment.detail;
    if (attachment.kind == MediaKind::kVideo) before.frames = attachment.detail;
  }
  return before;
}

bool wasWatched(const Attachment& attachment) { return attachment.kind == MediaKind::kVideo && attachment.plan.frame_count == 0; }

std::vector<double> plannedTimes(const Attachment& video) {
  const FramePlan& plan = video.plan;
  const double from = plan.from_s;
  const double to = plan.to_s < 0.0 ? video.durationS : plan.to_s;
  std::vector<double> times;
  if (plan.every_s > 0.0) {
    for (int i = 0; i < plan.max_frames && from + i * plan.every_s < to; ++i) times.push_back(from + i * plan.every_s);
  } else {
    for (int i = 0; i < plan.frame_count; ++i) times.push_back(from + (i + 0.5) * (to - from) / plan.frame_count);
  }
  if (plan.taken == 0) return times;
  return of_frames(std::span<const double>(times), taken_frames(static_cast<int>(times.size()), plan.taken, plan.set_frames));
}

PinnedRanges effectivePins(const Attachment& video) {
  if (video.pins.empty()) return {};
  const std::vector<double> times = plannedTimes(video);
  double spacing = times.size() > 1 ? times[1] - times[0] : video.durationS;
  for (std::size_t i = 2; i < times.size(); ++i) spacing = std::max(spacing, times[i] - times[i - 1]);
  return reachingFrames(video.pins, times, std::max(kLeastMarginS, spacing / 2.0));
}

QList<StoredMessage> branchTo(const QList<StoredMessage>& messages, MessageId leaf) {
  const auto places = placesOf(messages);
  QList<StoredMessage> branch;
  for (MessageId id = leaf; id != 0 && branch.size() <= messages.size();) {
    const auto place = places.constFind(id);
    if (place == places.cend()) break;
    branch.push_back(messages[*place]);
    id = messages[*place].parent;
  }
  std::reverse(branch.begin(), branch.end());
  return branch;
}

QList<MessageId> siblingsOf(const QList<StoredMessage>& messages, MessageId message) {
  const auto self = std::find_if(messages.begin(), messages.end(), [&](const StoredMessage& m) { return m.id == message; });
  QList<MessageId> siblings;
  if (self == messages.end()) return siblings;
  for (const StoredMessage& m : messages)
    if (m.parent == self->parent && m.role == self->role) siblings.push_back(m.id);
  return siblings;
}

MessageId newestLeafUnder(const QList<StoredMessage>& messages, MessageId message) {
  // Children come after their parents, so the last message whose chain leads to `message` is its newest leaf.
  QHash<MessageId, bool> under{{message, true}};
  MessageId newest = message;
  for (const StoredMessage& m : messages) {
    if (m.id == message || m.parent == 0 || !under.value(m.parent)) continue;
    under.insert(m.id, true);
    newest = m.id;
  }
  return newest;
}

}  // namespace winnow::app
