#include "app/engine/remote/chat_body.h"

#include <algorithm>
#include <utility>

#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostOpenAiStops = 4;

const char* wordOf(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      break;
  }
  return "assistant";
}

// One text is written as such: not every server knows lists of parts.
Json contentOf(const std::vector<Json>& parts) {
  std::string text;
  for (const Json& part : parts) {
    if (part["type"] != "text") return parts;
    text += (text.empty() ? "" : "\n\n") + part["text"].get<std::string>();
  }
  return text;
}

// The body's fields beside the messages, about the videos inside.
struct Videos {
  bool any = false;
  FramePlan plan;  // of the first
};

Json messagesOf(const Turn& turn, const std::function<SentMedium(const MediaRequest&)>& media, Videos& videos) {
  Json messages = Json::array();
  for (const Message& message : turn.messages) {
    std::vector<Json> parts;
    for (const Item& item : message.items) {
      if (const auto* text = std::get_if<TextItem>(&item)) {
        parts.push_back({{"type", "text"}, {"text", text->text}});
        continue;
      }
      const MediaRequest& request = std::get<MediaItem>(item).media;
      SentMedium sent = media(request);
      if (sent.video && !std::exchange(videos.any, true)) videos.plan = request.plan;
      for (Json& part : sent.parts) parts.push_back(std::move(part));
    }
    messages.push_back({{"role", wordOf(message.role)}, {"content", contentOf(parts)}});
  }
  if (!turn.answer_begun.empty()) messages.push_back({{"role", "assistant"}, {"content", turn.answer_begun}});
  return messages;
}

// By names that each kind of server knows; OpenAI's own refuses unknown ones, so only what differs from its default is said.
void writeSampling(Json& body, const Sampling& sampling, const ServerTraits& traits) {
  const bool openAi = traits.kind == ServerKind::kOpenAi;
  body["temperature"] = sampling.temperature;
  if (sampling.limit_chosen()) body[openAi ? "max_completion_tokens" : "max_tokens"] = sampling.max_new_tokens;
  if (sampling.top_p < 1.0) body["top_p"] = sampling.top_p;
  if (sampling.top_k > 0) body["top_k"] = sampling.top_k;
  if (sampling.min_p > 0.0) body["min_p"] = sampling.min_p;
  if (sampling.repetition_penalty != 1.0) {
    const bool shortName = traits.kind == ServerKind::kLlamaServer || traits.kind == ServerKind::kLlamaCppPython;
    body[shortName ? "repeat_penalty" : "repetition_penalty"] = sampling.repetition_penalty;
  }
  if (sampling.temperature > 0.0) body["seed"] = static_cast<std::int64_t>(sampling.seed & 0x7fffffff);  // some take 32 bits
  if (sampling.stop_strings.empty()) return;
  const std::size_t stops = openAi ? std::min(sampling.stop_strings.size(), kMostOpenAiStops) : sampling.stop_strings.size();
  body["stop"] =
      std::vector<std::string>(sampling.stop_strings.begin(), sampling.stop_strings.begin() + static_cast<std::ptrdiff_t>(stops));
}

void writeThinking(Json& body, const Sampling& sampling, ServerKind kind) {
  const Thinking thinking = thinking_of(sampling);
  if (thinking == Thinking::kAsTheTemplateHasIt) return;
  const bool byTemplate =
      kind == ServerKind::kVllm || kind == ServerKind::kSglang || kind == ServerKind::kLlamaServer || kind == ServerKind::kWinnow;
  if (byTemplate) {
    body["chat_template_kwargs"] = {{"enable_thinking", thinking == Thinking::kOn}};
  } else if (thinking == Thinking::kOff) {
    body["reasoning_effort"] = "none";
  }
}

// Which frames the server is to take of a video: vLLM's words, which Winnow knows, too.
void writeFrames(Json& body, const Videos& videos, const ServerTraits& traits) {
  if (!videos.any || traits.choosesFrames) return;
  const FramePlan& plan = videos.plan;
  Json frames =
      plan.every_s > 0.0 ? Json{{"fps", 1.0 / plan.every_s}, {"num_frames", plan.max_frames}} : Json{{"num_frames", plan.frame_count}};
  body["media_io_kwargs"] = {{"video", std::move(frames)}};
}

}  // namespace

Json chatBody(const Turn& turn, const ServerTraits& traits, const std::function<SentMedium(const MediaRequest&)>& media) {
  Videos videos;
  Json body = {{"model", traits.model}, {"stream", true}, {"stream_options", {{"include_usage", true}}}};
  body["messages"] = messagesOf(turn, media, videos);
  writeSampling(body, turn.sampling, traits);
  writeThinking(body, turn.sampling, traits.kind);
  writeFrames(body, videos, traits);
  if (!turn.answer_begun.empty()) {
    body["continue_final_message"] = true;
    if (traits.kind == ServerKind::kVllm) body["add_generation_prompt"] = false;
  }
  return body;
}

std::string bodyText(const Json& body) { return body.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace winnow::app
