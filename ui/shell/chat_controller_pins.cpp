// Attachments of questions that were sent: what is said of them, and their pins.
#include "ui/shell/chat_controller.h"
#include "ui/words/format_text.h"

namespace winnow::ui {

void ChatController::setPins(app::MessageId question, int place, const app::PinnedRanges& pins) {
  app::StoredMessage* message = stored(question);
  if (message == nullptr || place < 0 || place >= message->attachments.size()) return;
  app::Attachment& attachment = message->attachments[place];
  if (attachment.pins == pins) return;
  attachment.pins = pins;
  m_store.storePins(question, place, pins);
  Q_EMIT messageChanged(contentOf(*message));
}

QString ChatController::planDetail(const app::Attachment& attachment) const {
  if (attachment.kind == MediaKind::kImage) {
    return attachment.widthPx > 0 ? tr("%1 × %2 pixels").arg(attachment.widthPx).arg(attachment.heightPx) : tr("Image");
  }
  const double to = attachment.plan.to_s < 0 ? attachment.durationS : attachment.plan.to_s;
  const QString range = QStringLiteral("%1–%2").arg(formatClock(attachment.plan.from_s), formatClock(to));
  const app::SampledTimes& sampled = attachment.sampled;
  const auto asked = sampled.askedS.empty() ? attachment.plan.frame_count : static_cast<int>(sampled.askedS.size());
  const auto done = sampled.actualS.empty() ? asked : static_cast<int>(sampled.actualS.size());
  if (asked != done) return tr("%1 frames asked, %2 done · %3").arg(asked).arg(done).arg(range);
  return tr("%n frame(s)", nullptr, done) + QStringLiteral(" · ") + range;
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
