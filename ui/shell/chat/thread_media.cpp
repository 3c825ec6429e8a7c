#include "ui/shell/chat/thread_media.h"

#include <algorithm>

namespace winnow::ui {
namespace {

bool hasWatched(const app::StoredMessage& message) {
  return std::any_of(message.attachments.begin(), message.attachments.end(), app::wasWatched);
}

// thread.rend(): there is none.
auto lastQuestion(const QList<app::StoredMessage>& thread) {
  return std::find_if(thread.rbegin(), thread.rend(), [](const app::StoredMessage& message) { return message.role == Role::kUser; });
}

}  // namespace

bool isAboutWatched(const QList<app::StoredMessage>& thread) {
  const auto last = lastQuestion(thread);
  return last != thread.rend() && hasWatched(*last);
}

bool wasWatchedBefore(const QList<app::StoredMessage>& thread) { return std::any_of(thread.begin(), thread.end(), hasWatched); }

std::vector<ThreadMedium> mediaOf(const QList<app::StoredMessage>& thread) {
  const bool watched = isAboutWatched(thread);
  const auto last = lastQuestion(thread);
  std::vector<ThreadMedium> media;
  for (const app::StoredMessage& message : thread) {
    if (watched && message.id != last->id) continue;
    for (int place = 0; place < message.attachments.size(); ++place) {
      if (watched || !app::wasWatched(message.attachments[place])) media.push_back({&message, place});
    }
  }
  return media;
}

app::AttachedKind attachedIn(const QList<app::StoredMessage>& thread) {
  app::AttachedCounts counts;
  for (const ThreadMedium& medium : mediaOf(thread)) counts.add(medium.attachment().kind);
  return app::attachedKind(counts);
}

QList<app::StoredMessage> askable(QList<app::StoredMessage> thread) {
  for (qsizetype i = 0; i + 1 < thread.size(); ++i) thread[i].attachments.removeIf(app::wasWatched);
  return thread;
}

}  // namespace winnow::ui
