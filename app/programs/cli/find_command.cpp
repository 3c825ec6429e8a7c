#include <QFile>
#include <QStringList>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/chats/chat/chat_search.h"
#include "app/chats/settings/app_folders.h"
#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/asked_videos.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/option_checks.h"
#include "app/words/format_text.h"

namespace winnow::cli {
namespace {

using nlohmann::ordered_json;

struct FindOptions : CommandOptions {
  std::vector<std::string> what;  // words; with --ask videos and folders
  int limit = 50;
};

const char* kind_name(app::LineKind kind) {
  switch (kind) {
    case app::LineKind::kHeard: return "heard";
    case app::LineKind::kSubtitle: return "subtitle";
    case app::LineKind::kDescribed: return "described";
    case app::LineKind::kPassage: break;
  }
  return "passage";
}

const char* verdict_name(app::Verdict verdict) {
  return verdict == app::Verdict::kYes ? "yes" : verdict == app::Verdict::kNo ? "no" : "unclear";
}

std::string unmarked(const QString& snippet) {
  QString words = snippet.simplified();
  words.remove(QChar(0x2068)).remove(QChar(0x2069));
  return words.toStdString();
}

ordered_json hit_json(const app::SearchHit& hit) {
  ordered_json object = {{"chat", hit.conversation == 0 ? ordered_json() : ordered_json(hit.conversation)},
                         {"title", hit.title.toStdString()}};
  object["message"] = hit.message == 0 ? ordered_json() : ordered_json(hit.message);
  object["found"] = unmarked(hit.snippet);
  if (!hit.place) return object;
  const app::FileLine& line = hit.place->line;
  object["file"] = hit.place->path.toStdString();
  object["sha256"] = hit.place->sha256.toStdString();
  object["kind"] = kind_name(line.kind);
  object["text"] = line.text.toStdString();
  if (line.startS >= 0) {
    object["start_s"] = line.startS;
    object["end_s"] = line.endS;
  } else if (line.kind == app::LineKind::kPassage) {
    object["line"] = line.line + 1;
    object["page"] = line.page > 0 ? ordered_json(line.page) : ordered_json();
  }
  return object;
}

// "/films/talk.mp4 0:15: the budget was cut", "/papers/plan.pdf page 3: ...", "chat 12, Holiday: ...".
std::string hit_text(const app::SearchHit& hit) {
  if (!hit.place) {
    std::string text =
        "chat " + std::to_string(hit.conversation) + (hit.title.isEmpty() ? "" : ", " + hit.title.simplified().toStdString());
    return hit.snippet.isEmpty() ? text : text + ": " + unmarked(hit.snippet);
  }
  const app::FileLine& line = hit.place->line;
  std::string text = hit.place->path.toStdString();
  if (line.startS >= 0) {
    text += " " + app::formatClock(line.startS).toStdString();
  } else if (line.page > 0) {
    text += " page " + std::to_string(line.page);
  } else if (line.kind == app::LineKind::kPassage) {
    text += " line " + std::to_string(line.line + 1);
  }
  return text + ": " + unmarked(hit.snippet);
}

ExitStatus search(const FindOptions& options) {
  const app::AppFolders own = app::AppFolders::standard();
  std::string words;
  for (const std::string& word : options.what) words += (words.empty() ? "" : " ") + word;
  const QList<app::SearchHit> hits = app::searchSavedChats({own.data, own.cache}, QString::fromStdString(words), options.limit);
  if (options.format == OutputFormat::kJson) {
    ordered_json list = ordered_json::array();
    for (const app::SearchHit& hit : hits) list.push_back(hit_json(hit));
    print_out("%s\n", json_line({{"words", words}, {"hits", std::move(list)}}, 2).c_str());
  } else {
    for (const app::SearchHit& hit : hits) print_out("%s\n", printable_line(hit_text(hit)).c_str());
  }
  if (hits.isEmpty()) print_err("nothing that was attached or said has these words\n");
  return ExitStatus::kAnswered;
}

std::string times_text(const std::vector<double>& times_s) {
  std::string text;
  for (const double time : times_s) text += (text.empty() ? " " : ", ") + app::formatClock(time).toStdString();
  return text;
}

ExitStatus ask_each(FindOptions options) {
  const std::vector<std::string> videos = videos_in(options.what);
  Session session;
  const ModelInfo model = session.load(load_request(options.model));
  require_own_cache(model, "ask it with `batch`");
  suit_model(options.turn, model);
  const app::PutQuestion put = app::putToEach(options.question);
  ordered_json list = ordered_json::array();
  bool any = false, complete = true;
  for (std::size_t i = 0; i < videos.size() && complete; ++i) {
    print_err("%zu of %zu: %s\n", i + 1, videos.size(), videos[i].c_str());
    const std::optional<AskedVideo> asked = ask_video(session, options.turn, videos[i], put);
    complete = asked.has_value();
    if (!asked) break;
    any = any || asked->answer.verdict == app::Verdict::kYes;
    if (options.format == OutputFormat::kJson) {
      list.push_back({{"video", asked->path},
                      {"shows", verdict_name(asked->answer.verdict)},
                      {"times_s", asked->answer.timesS},
                      {"answer", asked->answer.text},
                      {"kept", asked->kept}});
    } else if (asked->answer.verdict != app::Verdict::kNo) {
      print_out("%s%s: %s\n", asked->path.c_str(), times_text(asked->answer.timesS).c_str(), printable_line(asked->answer.text).c_str());
    }
  }
  if (options.format == OutputFormat::kJson) {
    print_out("%s\n",
              json_line({{"question", options.question}, {"asked", put.whether}, {"complete", complete}, {"videos", std::move(list)}}, 2)
                  .c_str());
  } else if (complete && !any) {
    print_err("none of them, by the model's answers\n");
  }
  return complete ? ExitStatus::kAnswered : ExitStatus::kInterrupted;
}

}  // namespace

RunCommand add_find(CLI::App& command) {
  const auto options = std::make_shared<FindOptions>();
  command.add_option("what", options->what, "words of chats, of what is said in videos, and of documents; with --ask: videos and folders")
      ->required();
  command.add_option("--ask", options->question, "put this question to each of the videos: \"Which shows a green star?\"");
  command.add_option("--limit", options->limit, "hits that are listed at most")->check(whole_number(1, 1000))->capture_default_str();
  add_model_options(command, options->model);
  add_frame_options(command, options->turn);
  add_subtitle_option(command, options->turn);
  add_method_options(command, options->turn);
  add_json_option(command, *options, "print one JSON object only");
  return [options] { return options->question.empty() ? search(*options) : ask_each(*options); };
}

}  // namespace winnow::cli
