#include "app/programs/cli/asked_videos.h"

#include <QFile>
#include <QFileInfo>
#include <QString>
#include <memory>
#include <utility>

#include "app/chats/settings/app_folders.h"
#include "app/media/files/typed_path.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "app/words/folder_files.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

class StepSink : public EventSink {
 public:
  explicit StepSink(app::VideoSteps& steps) : steps_(steps) {}
  void on_event(Event event) override {
    steps_.take(event.body);
    progress_.on_event(std::move(event));
  }

 private:
  app::VideoSteps& steps_;
  ConsoleSink progress_ = silent_sink();
};

}  // namespace

std::optional<AskedVideo> ask_video(Session& session, const TurnOptions& options, const std::string& video,
                                    const app::PutQuestion& question) {
  TurnOptions of_video = options;
  of_video.videos = {video};
  of_video.guard = Guard::kAlone;
  name_media_for_every_folder(of_video);
  app::UnreadVideo unread{turn_of(of_video, first_thread(of_video, std::vector<Item>())), {}, 0.0, session.fingerprint()};
  {
    const MediaRequest& request = std::get<MediaItem>(unread.turn.messages.back().items.front()).media;
    const std::unique_ptr<app::MediaSource> source = media_reader().openSource(request, {});
    unread.content = source->content_hash();
    unread.durationS = source->info().durationS;
  }
  ConsoleSink silent = silent_sink();
  session.run(ForgetConversation{unread.turn.conversation}, silent);
  app::ConversationCaches kept(QFile::encodeName(app::AppFolders::standard().data).toStdString() + "/kept/videos");
  app::VideoSteps steps(kept, std::move(unread), question);
  while (std::optional<RequestBody> request = steps.next()) {
    StepSink sink(steps);
    try {
      session.run(*std::move(request), sink);
    } catch (const Exception&) {
      if (steps.error()) throw;
    }
  }
  if (steps.interrupted()) return std::nullopt;
  return AskedVideo{video, steps.wasKept(), steps.answer()};
}

std::vector<std::string> videos_in(const std::vector<std::string>& paths) {
  std::vector<std::string> videos;
  for (const std::string& typed : paths) {
    const std::string path = app::typedPath(typed);
    const QString name = QFile::decodeName(QByteArray::fromStdString(path));
    if (!QFileInfo(name).isDir()) {
      videos.push_back(path);
      continue;
    }
    const std::size_t before = videos.size();
    for (const app::FolderFile& file : app::filesIn(name)) {
      if (file.kind == MediaKind::kVideo) videos.push_back(file.path.toStdString());
    }
    if (videos.size() == before) throw Exception(ErrorCode::kInvalidArgument, path, "there is no video in this folder");
  }
  return videos;
}

}  // namespace winnow::cli
