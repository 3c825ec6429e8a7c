// Attachments of questions that were sent: what is said of them, and their pins, whose change the next answer has to be told of.
#include "ui/shell/chat_controller.h"
#include "ui/words/format_text.h"

namespace winnow::ui {
namespace {

// Images and videos of the turns before the last question.
std::size_t earlierMedia(const Turn& turn) {
  std::size_t count = 0;
  for (std::size_t m = 0; m + 1 < turn.messages.size(); ++m) {
    for (const Item& item : turn.messages[m].items) count += std::holds_alternative<MediaItem>(item) ? 1 : 0;
  }
  return count;
}

}  // namespace

void ChatController::setPins(app::MessageId question, int place, const app::PinnedRanges& pins) {
  app::StoredMessage* message = stored(question);
  if (message == nullptr || place < 0 || place >= message->attachments.size()) return;
  app::Attachment& attachment = message->attachments[place];
  if (attachment.pins == pins) return;
  attachment.pins = pins;
  m_store.storePins(question, place, pins);
  Q_EMIT messageChanged(contentOf(*message));
}

// Compression has dropped what was not pinned when earlier media were read: other pins need them to be read again.
Guard ChatController::guardOf(const Turn& turn, const std::vector<app::PinnedRanges>& pins) const {
  const std::vector<app::PinnedRanges> answered = m_answeredPins.value(turn.conversation);
  const auto pinsOf = [](const std::vector<app::PinnedRanges>& all, std::size_t medium) {
    return medium < all.size() ? all[medium] : app::PinnedRanges();
  };
  for (std::size_t medium = 0; medium < earlierMedia(turn); ++medium) {
    if (pinsOf(pins, medium) != pinsOf(answered, medium)) return Guard::kPrefill;
  }
  return Guard::kKeep;
}

void ChatController::setAnswered(ConversationId conversation, const QList<app::StoredMessage>& thread) {
  m_answeredPins[conversation] = pinsOf(thread);
}

std::vector<app::PinnedRanges> ChatController::pinsOf(const QList<app::StoredMessage>& thread) {
  std::vector<app::PinnedRanges> pins;
  for (const app::StoredMessage& message : thread) {
    if (message.role != Role::kUser) continue;
    for (const app::Attachment& attachment : message.attachments) pins.push_back(attachment.pins);
  }
  return pins;
}

QString ChatController::planDetail(const app::Attachment& attachment) const {
  if (attachment.kind == MediaKind::kImage) {
    return attachment.widthPx > 0 ? tr("%1 × %2 pixels").arg(attachment.widthPx).arg(attachment.heightPx) : tr("Image");
  }
  const double to = attachment.plan.to_s < 0 ? attachment.durationS : attachment.plan.to_s;
  const QString range = QStringLiteral("%1–%2").arg(formatClock(attachment.plan.from_s), formatClock(to));
  const app::SampledTimes& sampled = attachment.sampled;
  if (!sampled.actualS.empty()) return tr("%1 asked, %2 done · %3").arg(sampled.askedS.size()).arg(sampled.actualS.size()).arg(range);
  return tr("Frames: %1 · %2").arg(attachment.plan.frame_count).arg(range);
}

QString ChatController::pinDetail(const app::Attachment& attachment) const {
  if (attachment.pins.empty()) return {};
  if (attachment.kind == MediaKind::kImage) return QStringLiteral(" · ") + tr("pinned");
  const app::PinnedRanges pins = app::effectivePins(attachment);
  const std::vector<double> times = attachment.sampled.actualS.empty() ? app::plannedTimes(attachment) : attachment.sampled.actualS;
  int pinned = 0;
  for (const double time : times) pinned += app::anyContains(pins, time) ? 1 : 0;
  return QStringLiteral(" · ") + tr("%n pinned", nullptr, pinned);
}

}  // namespace winnow::ui
