#include "app/engine/host/turn_builder.h"

#include <QDateTime>

#include <iterator>
#include <utility>

namespace winnow::app {

namespace {

// pins: receives those of the question's media, the first of which is number `media` of the thread; moved on.
void appendQuestion(const StoredMessage& question, Message& into, std::int32_t& media, std::vector<Pin>& pins) {
  for (const Attachment& attachment : question.attachments) {
    MediaItem item{{attachment.path.toStdString(), attachment.kind, attachment.plan, attachment.mostTokens,
                    attachment.subtitles.toStdString(), attachment.encoding.toStdString()}};
    item.media.content = attachment.sha256.toStdString();
    item.media.detail = attachment.detail;
    item.media.pages = attachment.pages;
    into.items.emplace_back(std::move(item));
    if (!attachment.pins.empty() && attachment.kind != MediaKind::kVideo) pins.push_back(Pin{media});
    if (attachment.kind == MediaKind::kVideo) {
      for (const PinnedRange& range : effectivePins(attachment)) pins.push_back({media, range.fromS, range.toS});
    }
    ++media;
  }
  if (!question.text.isEmpty()) into.items.emplace_back(TextItem{question.text.toStdString()});
}

// The day on which the thread's first question was asked; one that is not saved yet is of today.
std::string dayOf(const QList<StoredMessage>& thread) {
  const qint64 ms = thread.isEmpty() ? 0 : thread.first().createdMs;
  const QDate day = ms > 0 ? QDateTime::fromMSecsSinceEpoch(ms).date() : QDate::currentDate();
  return day.toString(Qt::ISODate).toStdString();
}

bool isAnswered(const StoredMessage& answer) { return answer.state != MessageState::kFailed && !answer.text.isEmpty(); }

}  // namespace

Turn buildTurn(ConversationId conversation, const QList<StoredMessage>& thread, const TurnOptions& options) {
  Turn turn;
  turn.conversation = conversation;
  turn.sampling = options.sampling;
  turn.recipe = options.recipe;
  turn.prompt.day = dayOf(thread);
  turn.prompt.thinking = thinking_of(options.sampling);
  if (!options.systemPrompt.trimmed().isEmpty()) turn.messages.push_back({Role::kSystem, {TextItem{options.systemPrompt.toStdString()}}});

  std::int32_t media = 0;
  Message pending;  // questions that have no answer yet
  for (const StoredMessage& message : thread) {
    if (message.role == Role::kUser) {
      appendQuestion(message, pending, media, turn.pins);
    } else if (message.role == Role::kAssistant && isAnswered(message) && !pending.items.empty()) {
      turn.messages.push_back(std::exchange(pending, {}));
      turn.messages.push_back({Role::kAssistant, {TextItem{message.text.toStdString()}}, message.thought.toStdString()});
      turn.goes_on_from.clear();
      for (const RunMaker& maker : message.run.makers) turn.goes_on_from.push_back({maker.recipe.spec, maker.attached});
    }
  }
  if (pending.items.empty())
    throw Exception(ErrorCode::kInvalidArgument, "question", "the thread does not end with a question that has text or media");
  turn.messages.push_back(std::move(pending));
  return turn;
}

MediaRequest* videoInParts(Turn& turn) {
  MediaRequest* last = nullptr;
  bool inQuestion = false;
  int videos = 0;
  for (Message& message : turn.messages) {
    for (Item& item : message.items) {
      auto* medium = std::get_if<MediaItem>(&item);
      if (medium == nullptr || medium->media.kind != MediaKind::kVideo) continue;
      last = &medium->media;
      inQuestion = &message == &turn.messages.back();
      ++videos;
    }
  }
  return videos == 1 && inQuestion ? last : nullptr;
}

int framesToAnswerFrom(const Progress& frames) {
  constexpr std::uint64_t kLeast = 4;  // that say something about a video
  const bool part = frames.phase == Phase::kEncodeFrames && frames.part_will_do && frames.done >= kLeast && frames.done < frames.total;
  return part ? static_cast<int>(frames.done) : 0;
}

}  // namespace winnow::app
