#include "app/programs/cli/console.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "app/ground/notices/notice_text.h"
#include "app/programs/cli/console_output.h"
#include "app/words/format_text.h"
#include "engine/metrics/kept_figures.h"

namespace winnow::cli {
namespace {

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::kLoadWeights: return "loading weights";
    case Phase::kDecodeMedia: return "decoding video";
    case Phase::kEncodeFrames: return "encoding frames";
    case Phase::kPrefill: return "prefill";
    case Phase::kCompress: return "compressing the cache";
    case Phase::kDecode: return "answering";
    case Phase::kProbe: return "deciding what to keep";
  }
  return "working";
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

std::string bytes_text(std::int64_t bytes) { return app::formatBytes(bytes).toStdString(); }

ConsoleSink::ConsoleSink(AnswerOutput output, ProgressOutput progress)
    : output_(output), progress_(progress), interactive_(isatty(STDERR_FILENO) == 1) {}

void ConsoleSink::on_event(Event event) {
  if (const auto* progress = std::get_if<Progress>(&event.body)) {
    show_progress(*progress);
  } else if (const auto* loaded = std::get_if<ModelLoaded>(&event.body)) {
    clear_line();
    model = loaded->info;
  } else if (auto* sampled = std::get_if<MediaSampled>(&event.body)) {
    media.push_back(std::move(*sampled));
  } else if (const auto* delta = std::get_if<TextDelta>(&event.body)) {
    clear_line();
    if (output_ == AnswerOutput::kStream) show_text(*delta);
  } else if (auto* cache = std::get_if<CacheReport>(&event.body)) {
    report = std::move(*cache);
  } else if (auto* done = std::get_if<Finished>(&event.body)) {
    clear_line();
    end_thought();
    finished = std::move(*done);
  } else if (const auto* plan = std::get_if<Planned>(&event.body)) {
    clear_line();
    planned = *plan;
  } else if (const auto* ready = std::get_if<Prepared>(&event.body)) {
    clear_line();
    prepared = *ready;
  } else if (auto* seen = std::get_if<Watched>(&event.body)) {
    clear_line();
    watched = std::move(*seen);
  } else if (const auto* kept = std::get_if<Saved>(&event.body)) {
    saved = *kept;
  } else if (auto* found = std::get_if<Restored>(&event.body)) {
    restored = std::move(*found);
  } else if (auto* scored = std::get_if<Scored>(&event.body)) {
    clear_line();
    agreement = std::move(scored->agreement);
    selection = std::move(scored->selection);
  } else if (const auto* heard = std::get_if<LinesHeard>(&event.body)) {
    show_heard(*heard);
  } else if (auto* transcript = std::get_if<Transcribed>(&event.body)) {
    clear_line();
    transcribed = std::move(*transcript);
  } else if (std::holds_alternative<Failed>(event.body) || std::holds_alternative<Compared>(event.body)) {
    clear_line();
    end_thought();
  }
}

void ConsoleSink::show_progress(const Progress& progress) {
  if (progress.phase == Phase::kDecode) return;  // the answer itself is the progress
  if (!interactive_ && progress_ == ProgressOutput::kTerminalOnly) return;
  if (interactive_) {
    std::string line = phase_name(progress.phase);
    if (progress.total > 0 && progress.phase == Phase::kLoadWeights) {
      line.append(" ").append(bytes_text(static_cast<std::int64_t>(progress.done)));
      line.append(" of ").append(bytes_text(static_cast<std::int64_t>(progress.total)));
    } else if (progress.total > 0)
      line.append(" ").append(std::to_string(progress.done)).append("/").append(std::to_string(progress.total));
    status_line(line);
    line_open_ = true;
  } else if (!any_phase_ || progress.phase != last_phase_) {
    // A log file gets one line per phase; decoding and encoding alternate, so say them once each.
    if (progress.done == 0) print_err("%s\n", phase_name(progress.phase));
  }
  last_phase_ = progress.phase;
  any_phase_ = true;
}

void ConsoleSink::show_heard(const LinesHeard& heard) {
  if (!heard.lines.empty()) clear_line();
  if (on_lines && !heard.lines.empty()) on_lines(heard.lines);
  if (!interactive_) return;
  const bool reading = heard.heard_s == 0.0;
  std::string line = reading ? "reading the sound" : "listening";
  line.append(" ").append(app::formatClock(reading ? heard.read_s : heard.heard_s).toStdString());
  if (heard.sound_s > 0.0) line.append(" of ").append(app::formatClock(heard.sound_s).toStdString());
  status_line(line);
  line_open_ = true;
}

// Dimmed on a terminal, else behind a word that says what it is.
void ConsoleSink::show_text(const TextDelta& delta) {
  if (delta.kind == TextKind::kAnswer) {
    end_thought();
    write_out(delta.text);
    return;
  }
  if (!thinking_ && !interactive_) print_err("thought: ");
  thinking_ = true;
  dimmed_err(delta.text);
}

void ConsoleSink::end_thought() {
  if (thinking_) print_err("\n");
  thinking_ = false;
}

void ConsoleSink::clear_line() {
  if (!line_open_) return;
  status_line("");
  line_open_ = false;
}

std::string media_text(const std::vector<MediaSampled>& sampled) {
  std::ostringstream text;
  for (const MediaSampled& media : sampled) {
    if (media.kind == MediaKind::kDocument && media.tokens < media.all_tokens)
      text << "the first " << media.tokens << " of " << media.all_tokens << " tokens of " << media.path << '\n';
    if (media.kind != MediaKind::kVideo) continue;
    double largest_shift = 0.0;
    for (std::size_t i = 0; i < media.asked_s.size() && i < media.actual_s.size(); ++i) {
      largest_shift = std::max(largest_shift, std::abs(media.asked_s[i] - media.actual_s[i]));
    }
    const std::size_t planned = media.planned_frames > 0 ? static_cast<std::size_t>(media.planned_frames) : media.asked_s.size();
    text << media.actual_s.size() << " of " << planned << " frames read, from "
         << fixed(media.actual_s.empty() ? 0.0 : media.actual_s.front(), 2) << " s to "
         << fixed(media.actual_s.empty() ? 0.0 : media.actual_s.back(), 2) << " s, within " << fixed(largest_shift, 2)
         << " s of the times asked for\n";
    if (!media.subtitles.empty()) text << media.lines.size() << " subtitle lines between them, from " << media.subtitles << '\n';
  }
  return text.str();
}

namespace {

std::string maker_text(const RecipeSpec& recipe) {
  const std::string read = recipe.before == BeforeDecoder() ? std::string() : " of what " + text_of(recipe.before) + " leaves";
  return (keeps_everything(recipe) ? recipe.method : recipe.method + " at " + fixed(100.0 * recipe.retention, 0) + " %") + read;
}

std::string empty_answer_note(const Finished& finished) {
  const std::string why = empty_answer_text(finished);
  return why.empty() ? why : "note: " + why + "\n";
}

// Figures of an answer that a server wrote: the cache is its own.
std::string server_figures_text(const ConsoleSink& sink) {
  const TurnFigures& f = sink.finished->figures;
  std::ostringstream text;
  text << media_text(sink.media);
  // An answer that was stopped ends without its count.
  if (f.tokens.thread_text > 0)
    text << f.tokens.thread_text << " prompt tokens (" << f.tokens.thread_text - f.tokens.prompt << " from the server's cache) · ";
  text << "first token " << fixed(f.timings_ms.ttft, 0) << " ms · " << f.tokens.generated << " tokens";
  if (f.tokens_per_s > 0.0) text << " at " << fixed(f.tokens_per_s, 1) << "/s";
  if (f.tokens.thought > 0) text << ", " << f.tokens.thought << " of them thinking";
  text << '\n' << empty_answer_note(*sink.finished);
  return text.str();
}

// The methods that made the cache, and the one for what is new if it differs; of an older engine, the one asked for.
std::string makers_text(const CacheMakers& makers, const TurnFigures& figures) {
  std::string text;
  bool named = false;
  for (const CacheMaker& maker : naming_makers(makers)) {
    text += (text.empty() ? "" : ", then ") + maker_text(maker.recipe);
    named = named || (maker.recipe.method == figures.method && maker.recipe.retention == figures.retention);
  }
  RecipeSpec asked{.method = figures.method, .retention = figures.retention};
  if (text.empty()) return maker_text(asked);
  return named ? text : text + " (new files: " + maker_text(asked) + ")";
}

}  // namespace

// The length below which text stays whole is the last recipe's that read something.
std::string note_text(CompressionNote note, const ConsoleSink& sink) {
  const bool known = sink.report && !sink.report->makers.empty();
  const std::string clause = app::cacheNoteText(note, (known ? sink.report->makers.back().recipe : RecipeSpec()).min_event_tokens);
  return note == CompressionNote::kShortText ? clause + " (--min-event-tokens)" : clause;
}

std::string figures_text(const ConsoleSink& sink) {
  if (!sink.finished) return {};
  if (sink.finished->figures.method.empty()) return server_figures_text(sink);
  const TurnFigures& f = sink.finished->figures;
  std::ostringstream text;
  text << media_text(sink.media);
  text << makers_text(sink.report ? sink.report->makers : CacheMakers(), f) << " · " << fixed(100.0 * kept_share(f), 1) << " % of "
       << (f.tokens.thread_visual > 0 ? "what is attached" : "the text") << " kept";
  text << " · " << f.tokens.prompt << " prompt tokens (" << f.tokens.visual << " attached) · KV " << bytes_text(f.kv_bytes.after_event)
       << " of " << bytes_text(f.kv_bytes.full);
  if (f.kv_bytes.states > 0) text << " + " << bytes_text(f.kv_bytes.states) << " of fixed size";
  text << " · first token " << fixed(f.timings_ms.ttft, 0) << " ms · " << f.tokens.generated << " tokens";
  if (f.tokens_per_s > 0.0) text << " at " << fixed(f.tokens_per_s, 1) << "/s";
  if (f.tokens.thought > 0) text << ", " << f.tokens.thought << " of them thinking, in " << fixed(f.timings_ms.thought / 1000.0, 1) << " s";
  if (f.tokens.drafted > 0) text << ", " << f.tokens.drafted << " of them guessed ahead";
  text << '\n';
  if (f.tokens.unread > 0) text << f.tokens.unread << " visual tokens were never read, so no cache held them\n";
  if (sink.report && !sink.report->pinned.empty()) text << "pinned: " << sink.report->pinned.size() << " tokens in every layer\n";
  for (const CompressionNote note : f.notes) text << "note: " << note_text(note, sink) << '\n';
  text << empty_answer_note(*sink.finished);
  return text.str();
}

std::string empty_answer_text(const Finished& finished) {
  const bool said = finished.answer.find_first_not_of(" \t\r\n") != std::string::npos;
  if (said || finished.reason == StopReason::kInterrupted) return {};
  const bool thought = !finished.thought.empty() || finished.figures.tokens.thought > 0;
  if (finished.reason != StopReason::kLength)
    return thought ? "the model stopped after its thoughts, without an answer" : "the model ended without a word";
  const std::string limit = "the limit of " + std::to_string(finished.figures.tokens.generated) + " tokens was ";
  return limit + (thought ? "spent on thinking, and no answer came (--max-tokens raises it, --think off answers at once)"
                          : "reached without a word (--max-tokens raises it)");
}

std::string agreement_text(const Agreement& agreement) {
  std::ostringstream text;
  text << "agrees with the full cache at " << fixed(100.0 * agreement.top1, 1) << " % of " << agreement.tokens << " tokens";
  if (agreement.mean_kl) text << " · KL " << fixed(*agreement.mean_kl, 4) << " nats per token";
  text << '\n';
  const auto per_cent = [](double share) { return fixed(100.0 * share, 1) + " %"; };
  for (const WordDifference& each : agreement.differences) {
    text << "  word " << each.word + 1 << ": ";
    text << (each.text.empty() ? "the end" : "\"" + each.text + "\"") << " (";
    if (each.probability) text << per_cent(*each.probability) << ", ";
    text << "with the full cache " << per_cent(each.full_probability) << "); the full cache says "
         << (each.full_text.empty() ? "the end" : "\"" + each.full_text + "\"") << " (" << per_cent(each.full_choice_probability) << ")\n";
  }
  return text.str();
}

}  // namespace winnow::cli
