#include "app/programs/cli/asked_videos.h"

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QString>
#include <QtEndian>
#include <algorithm>
#include <utility>

#include "app/chats/settings/app_folders.h"
#include "app/ground/recipes/recipe_json.h"
#include "app/media/files/typed_path.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "app/words/folder_files.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

std::string keeping_folder() { return QFile::encodeName(app::AppFolders::standard().data).toStdString() + "/kept/videos"; }

// "a green star" -> "the green star".
QString definite(QString thing) {
  static const QRegularExpression kArticle(QStringLiteral("^(a|an|any|some)\\s+"), QRegularExpression::CaseInsensitiveOption);
  return thing.replace(kArticle, QStringLiteral("the "));
}

}  // namespace

PutQuestion put_to_each(const std::string& asked) {
  static const QRegularExpression kWhich(
      QStringLiteral("^\\s*(?:which|what)(?:\\s+ones?)?(?:\\s+of\\s+(?:these|those|them|the))?(?:\\s+(?:videos?|films?|clips?|files?))?"
                     "\\s+(?:shows?|has|have|contains?|includes?)\\s+(.+?)[\\s?]*$"),
      QRegularExpression::CaseInsensitiveOption);
  const QRegularExpressionMatch which = kWhich.match(QString::fromStdString(asked));
  if (!which.hasMatch()) return {asked, {}};
  static const QRegularExpression kOne(QStringLiteral("^(a|an|any|the|one)\\s"), QRegularExpression::CaseInsensitiveOption);
  const QString thing = which.captured(1);
  const bool one = kOne.match(thing).hasMatch();
  return {QStringLiteral("%1 %2?").arg(one ? QStringLiteral("Is there") : QStringLiteral("Are there"), thing).toStdString(),
          QStringLiteral("When %1 %2 appear?").arg(one ? QStringLiteral("does") : QStringLiteral("do"), definite(thing)).toStdString()};
}

Verdict verdict_of(const std::string& answer) {
  static const QRegularExpression kNo(
      QStringLiteral("^\\W*(no|none|not|never)\\b|\\bthere\\s+(is|are|was|were)(\\s+not\\b|n['’]t\\b|\\s+no\\b)"),
      QRegularExpression::CaseInsensitiveOption);
  static const QRegularExpression kYes(QStringLiteral("^\\W*yes\\b|\\bthere\\s+(is|are|was|were)\\b"),
                                       QRegularExpression::CaseInsensitiveOption);
  const QString words = QString::fromStdString(answer);
  if (kNo.match(words).hasMatch()) return Verdict::kNo;
  return kYes.match(words).hasMatch() ? Verdict::kYes : Verdict::kUnclear;
}

std::vector<double> times_in(const std::string& answer, double duration_s) {
  static const QRegularExpression kTime(
      QStringLiteral("(?<![\\d:.,])(?:(\\d{1,3}):([0-5]\\d)(?::([0-5]\\d))?(?![\\d:])|(\\d+(?:\\.\\d+)?)\\s*(?:s|sec|seconds?)\\b)"),
      QRegularExpression::CaseInsensitiveOption);
  std::vector<double> times;
  for (auto it = kTime.globalMatch(QString::fromStdString(answer)); it.hasNext();) {
    const QRegularExpressionMatch match = it.next();
    const double first = match.captured(1).toDouble(), second = match.captured(2).toDouble();
    const double seconds = match.hasCaptured(4)   ? match.captured(4).toDouble()
                           : match.hasCaptured(3) ? 3600 * first + 60 * second + match.captured(3).toDouble()
                                                  : 60 * first + second;
    if (seconds <= duration_s && std::ranges::find(times, seconds) == times.end()) times.push_back(seconds);
  }
  return times;
}

VideoQuestions::VideoQuestions(Session& session, const TurnOptions& options, const ModelInfo& model)
    : session_(session), options_(options), model_(model), caches_(keeping_folder()), silent_(silent_sink()) {}

// The turn without its question; nothing: it was interrupted.
std::optional<Turn> VideoQuestions::prepared(const TurnOptions& of_video, ConversationId number, bool& kept) {
  session_.run(ForgetConversation{1}, silent_);
  if (caches_.has(number)) {
    try {
      const Restored restored = session_.load_cache(caches_.pathOf(number));
      caches_.used(number);
      kept = !restored.prepared.empty();
      if (kept) {
        Turn turn{1, restored.prepared, sampling_of(options_), restored.recipe, Guard::kAlone, restored.pins};
        turn.prompt = prompt_settings(options_);
        turn.prompt.day = restored.prompt.day;
        return turn;
      }
    } catch (const Exception&) {
      caches_.remove(number);  // it does not fit any more: the video is read again
    }
  }
  Turn turn = turn_of(of_video, first_thread(of_video, std::vector<Item>()));
  ConsoleSink sink = silent_sink();
  session_.run(Prepare{turn}, sink);
  if (!sink.prepared) return std::nullopt;
  if (sink.prepared->compressed) {
    session_.save_cache(caches_.pathToWrite(number));
    caches_.written(number);
  }
  return turn;
}

std::optional<std::string> VideoQuestions::answer(Turn& turn, const std::string& question) {
  if (turn.messages.back().role == Role::kAssistant) turn.messages.push_back({Role::kUser, {}});
  turn.messages.back().items.emplace_back(TextItem{question});
  ConsoleSink sink = silent_sink();
  session_.run(turn, sink);
  const Finished& finished = *sink.finished;
  if (finished.reason == StopReason::kInterrupted) return std::nullopt;
  turn.messages.push_back({Role::kAssistant, {TextItem{finished.answer}}, finished.thought});
  return finished.answer;
}

std::optional<AskedVideo> VideoQuestions::ask(const std::string& video, const PutQuestion& question) {
  TurnOptions of_video = options_;
  of_video.videos = {video};
  of_video.guard = Guard::kAlone;
  name_media_for_every_folder(of_video);
  double duration_s = 0;
  const MediaRequest request =
      video_request(of_video.videos.front(), of_video.plan, subtitles_for(of_video.videos.front(), of_video), of_video);
  QCryptographicHash made(QCryptographicHash::Sha256);
  {
    const std::unique_ptr<app::MediaSource> source = media_reader().openSource(request, {});
    duration_s = source->info().durationS;
    for (const std::string& part :
         {source->content_hash(), session_.fingerprint(), app::recipeToJson({"", recipe_of(of_video)}, -1), request.subtitles,
          options_.system_prompt, detail_word(request.detail), std::to_string(request.plan.frame_count),
          std::to_string(request.plan.every_s), std::to_string(request.plan.from_s), std::to_string(request.plan.to_s)})
      made.addData(QByteArray::fromStdString(part) + '\n');
  }
  AskedVideo asked;
  asked.path = video;
  std::optional<Turn> turn = prepared(of_video, qFromBigEndian<quint64>(made.result().constData()) | 1, asked.kept);
  if (!turn) return std::nullopt;
  const std::optional<std::string> said = answer(*turn, question.whether);
  if (!said) return std::nullopt;
  asked.answer = *said;
  asked.verdict = verdict_of(*said);
  asked.times_s = times_in(*said, duration_s);
  if (asked.verdict != Verdict::kYes || question.when.empty() || !asked.times_s.empty()) return asked;
  const std::optional<std::string> when = answer(*turn, question.when);
  if (!when) return std::nullopt;
  asked.times_s = times_in(*when, duration_s);
  return asked;
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
