#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/session.h"

namespace winnow::cli {
namespace {

std::string wait_text(double ms) {
  char text[64];
  if (ms < 1000.0) {
    std::snprintf(text, sizeof text, "%.0f ms", ms);
  } else {
    std::snprintf(text, sizeof text, "%.1f s", ms / 1000.0);
  }
  return text;
}

// Tokens of the attached documents.
std::int64_t document_tokens(const Planned& planned, const std::vector<MediaSampled>& media) {
  std::int64_t tokens = 0;
  for (const MediaSampled& each : media) tokens += each.kind == MediaKind::kDocument ? each.tokens : 0;
  return std::min(tokens, planned.tokens.visual);
}

// Empty for a question without media, or whose wait is not known.
std::string wait_parts(const Planned& planned) {
  if (planned.expected_encoder_ms <= 0.0) return {};
  const double decoder = planned.expected_ms - planned.expected_reading_ms - planned.expected_encoder_ms;
  return " (" + wait_text(planned.expected_reading_ms) + " reading, " + wait_text(planned.expected_encoder_ms) +
         " in the vision encoder, " + wait_text(decoder) + " in the decoder)";
}

std::string plan_text(const Planned& planned, const std::vector<MediaSampled>& media) {
  const TokenCounts& tokens = planned.tokens;
  const std::int64_t documents = document_tokens(planned, media);
  std::string text;
  if (tokens.visual > documents) text += std::to_string(tokens.visual - documents) + " visual + ";
  if (documents > 0) text += std::to_string(documents) + " of documents + ";
  if (tokens.visual > 0) text += std::to_string(tokens.text) + " text = ";
  text += std::to_string(tokens.prompt) + " tokens";
  if (tokens.unread > 0) text += " (" + std::to_string(tokens.unread) + " visual tokens are never read)";
  text += " · KV " + bytes_text(planned.kv_bytes_full);
  if (planned.kv_bytes_after_event != planned.kv_bytes_full) text += " -> " + bytes_text(planned.kv_bytes_after_event);
  text += " · peak " + bytes_text(planned.peak_bytes);
  if (planned.state_bytes > 0) text += " + " + bytes_text(planned.state_bytes) + " of fixed size";
  text += " · ";
  if (!planned.fits_context) {
    text += "does not fit: with " + std::to_string(tokens.generated) + " tokens for the answer it exceeds the " +
            std::to_string(planned.context_tokens) + " tokens of the model's context";
  } else if (!planned.fits_memory) {
    text += "does not fit: " + bytes_text(planned.free_bytes) + " of memory free";
    if (planned.twice && planned.twice->fits_memory)
      text += " (fits with --prefill twice: peak " + bytes_text(planned.twice->peak_bytes) + ")";
  } else {
    text += "fits";
  }
  if (planned.estimated) text += " · estimated: what the pictures show decides how many tokens are read";
  text += planned.expected_ms > 0.0 ? " · about " + wait_text(planned.expected_ms) + " to the first word" + wait_parts(planned)
                                    : " · wait not measured yet";
  return text;
}

// The meaning of a share if layers have let a part of the question go before they are compressed. window: ModelTraits::window.
std::string window_text(const Planned& planned, std::int64_t window) {
  if (window == 0 || planned.state_bytes > 0 || planned.tokens.prompt < window) return {};
  return "\nsome layers see only the last " + std::to_string(window) + " tokens; their share is taken from those";
}

nlohmann::ordered_json plan_json(const Turn& turn, const Planned& planned, const std::vector<MediaSampled>& media) {
  const auto measured = [](double ms) { return ms > 0.0 ? nlohmann::ordered_json(ms) : nlohmann::ordered_json(); };
  nlohmann::ordered_json twice;
  if (planned.twice) {
    twice = {{"peak_bytes", planned.twice->peak_bytes},
             {"fits_memory", planned.twice->fits_memory},
             {"expected_ms", measured(planned.twice->expected_ms)}};
  }
  return {{"tokens",
           {{"prompt", planned.tokens.prompt},
            {"visual", planned.tokens.visual - document_tokens(planned, media)},
            {"documents", document_tokens(planned, media)},
            {"text", planned.tokens.text},
            {"unread", planned.tokens.unread},
            {"answer_at_most", turn.sampling.max_new_tokens},
            {"context", planned.context_tokens}}},
          {"kv_bytes", {{"full", planned.kv_bytes_full}, {"after_event", planned.kv_bytes_after_event}}},
          {"estimated", planned.estimated},
          {"peak_bytes", planned.peak_bytes},
          {"state_bytes", planned.state_bytes},
          {"free_bytes", planned.free_bytes},
          {"fits", planned.fits_context && planned.fits_memory},
          {"fits_context", planned.fits_context},
          {"fits_memory", planned.fits_memory},
          {"expected_ms", measured(planned.expected_ms)},
          {"expected_reading_ms", measured(planned.expected_reading_ms)},
          {"expected_encoder_ms", measured(planned.expected_encoder_ms)},
          {"expected_per_token_ms", measured(planned.expected_per_token_ms)},
          {"prefill_twice", twice},
          {"goes_on_from", makers_json(planned.goes_on_from)},
          {"media", media_json(media)}};
}

// Plans what `ask` would take with the same options.
ExitStatus run_plan(CommandOptions options) {
  take_question(options);
  Session session;
  listen_to_media(session, options.turn, options.listen);
  const ModelInfo model = session.load(load_request(options.model));
  suit_model(options.turn, model);
  ConsoleSink sink(AnswerOutput::kSilent);
  const Turn turn = turn_of(options.turn, first_thread(options.turn, options.question));
  session.run(Plan{turn}, sink);
  if (!sink.planned) return ExitStatus::kInterrupted;
  const std::string text = options.format == OutputFormat::kJson ? json_line(plan_json(turn, *sink.planned, sink.media), 2)
                                                                 : plan_text(*sink.planned, sink.media) + detail_lines(sink.media, model) +
                                                                       window_text(*sink.planned, model.traits.window);
  print_out("%s\n", text.c_str());
  return ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_plan(CLI::App& command) {
  const auto options = std::make_shared<CommandOptions>();
  add_turn_options(command, *options);
  add_sampling_options(command, options->turn);
  add_json_option(command, *options, "print one JSON object only");
  add_listen_options(command, options->listen);
  add_question(command, *options, "plan for a bundled sample video");
  return [options] { return run_plan(*options); };
}

}  // namespace winnow::cli
