// The media of a thread as the engine is told of them, in its order.
//
// Nothing of a live source outlives the watching of it: a question about it was asked with that source alone, and later questions of its
// chat go by what was said, without it. Whoever puts a thread to the engine, or finds a medium that the engine names by its number, asks
// here. Threads: any.
#pragma once

#include "app/chats/chat/conversation.h"
#include "app/chats/settings/settings.h"
#include "app/words/attached_words.h"
#include "engine/models/model_info.h"

namespace winnow::ui {

struct ThreadMedium {
  const app::StoredMessage* question = nullptr;
  int place = 0;  // among its attachments
  const app::Attachment& attachment() const { return question->attachments[place]; }
};

// Not a stretch: what is learned of the medium then is known of all of it.
inline bool isWhole(const FramePlan& plan) { return plan.from_s <= 0 && plan.to_s < 0; }
// The frames that a video begins with: as the settings say, or fewer where the usual number would take over a minute.
inline int framesToBeginWith(const app::Settings& settings, const ModelInfo& model) {
  const int frames = settings.defaultFrameCount();
  return frames != app::ConversationOptions().frameCount ? frames : frames_in_a_minute(model, frames);
}

// The media of the thread's last question, and of its answer. Points into `thread`.
std::vector<ThreadMedium> mediaOf(const QList<app::StoredMessage>& thread);
app::AttachedKind attachedIn(const QList<app::StoredMessage>& thread);
// The thread, which ends with a question, without what can only be told by earlier answers.
QList<app::StoredMessage> askable(QList<app::StoredMessage> thread);
// Its last question, or its answer, is about a live source.
bool isAboutWatched(const QList<app::StoredMessage>& thread);
// A live source was watched in an earlier question, of which later ones know by the answers alone.
bool wasWatchedBefore(const QList<app::StoredMessage>& thread);

}  // namespace winnow::ui
