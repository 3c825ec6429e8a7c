#include "app/programs/server/chat_request.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/programs/server/answer_settings.h"
#include "app/programs/server/api_refusal.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostMessages = 4096;
constexpr std::size_t kMostParts = 4096;
constexpr int kMostFrames = 4096;

constexpr std::string_view kOfChats[] = {"messages",
                                         "logprobs",
                                         "top_logprobs",
                                         "tool_choice",
                                         "chat_template_kwargs",
                                         "reasoning_effort",
                                         "media_io_kwargs",
                                         "mm_processor_kwargs",
                                         "functions",
                                         "function_call",
                                         "modalities",
                                         "continue_final_message",
                                         "add_generation_prompt"};

void readProbabilities(const RequestFields& body, ChatRequest& request) {
  const std::int64_t likeliest = body.whole("top_logprobs", 0, kMostTopProbabilities).value_or(0);
  const bool wanted = body.boolean("logprobs", false);
  if (likeliest > 0 && !wanted) throw ApiRefusal(400, "is only given where logprobs is true", "top_logprobs");
  if (wanted) request.turn.sampling.told_probabilities = static_cast<int>(likeliest);
}

void readThinking(const RequestFields& body, ChatRequest& request) {
  std::optional<bool> thinks;
  if (const auto effort = body.text("reasoning_effort")) {
    constexpr std::string_view kWords[] = {"none", "minimal", "low", "medium", "high", "xhigh"};
    if (!isAmong(kWords, *effort)) throw ApiRefusal(400, "must be none, minimal, low, medium, high or xhigh", "reasoning_effort");
    if (*effort == "none" || *effort == "minimal") thinks = false;
  }
  if (const auto settings = body.object("chat_template_kwargs")) {
    for (const auto& [name, value] : settings->value().items()) {
      if (name != "enable_thinking") request.ignored.push_back("chat_template_kwargs." + name.substr(0, kMostFieldName));
    }
    if (settings->find("enable_thinking") != nullptr) thinks = settings->boolean("enable_thinking", true);
  }
  if (!thinks) return;
  if (!*thinks) request.turn.sampling.thought_tokens = 0;
  request.turn.prompt.thinking = *thinks ? Thinking::kOn : Thinking::kOff;
}

constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;  // of a picture

// Bounds on pixels or tokens in the words of processors, each refused where the loaded model has no such bound.
class DetailReading {
 public:
  explicit DetailReading(const RequestDefaults& defaults) : m_defaults(defaults), m_detail(defaults.detail) {}

  void read(const RequestFields& settings) {
    for (const char* name : {"min_pixels", "total_pixels", "resized_height", "resized_width"}) {
      if (settings.find(name) != nullptr) refuseUnsupported(settings.path(name), "another size of pictures than the model's own");
    }
    if (const auto px = settings.whole("max_pixels", 1, kMostPixels)) ofPixels(*px, settings.path("max_pixels"));
    if (const auto size = settings.object("size")) {
      if (size->find("longest_edge") == nullptr || size->value().size() != 1)
        refuseUnsupported(settings.path("size"), "another bound on a picture's size than longest_edge");
      if (const auto px = size->whole("longest_edge", 1, kMostPixels)) ofPixels(*px, size->path("longest_edge"));
    }
    if (const auto budget = settings.whole("max_soft_tokens", 1, MediaDetail::kMostTokens)) {
      if (m_defaults.pictures.kind != DetailKind::kBudgets)
        refuseUnsupported(settings.path("max_soft_tokens"), "a budget of tokens with this model");
      m_detail.pictures = m_detail.frames = {DetailLevel::kTokens, *budget};
    }
  }
  const MediaDetails& detail() const { return m_detail; }

 private:
  // Whole tokens, rounded down; of those models alone whose pictures are bounded by their number of pixels.
  void ofPixels(std::int64_t px, const std::string& param) {
    const std::int64_t side = m_defaults.pictures.token_px;
    if (side == 0) refuseUnsupported(param, "a bound on pixels with this model");
    m_detail.pictures = {DetailLevel::kTokens, std::clamp<std::int64_t>(px / (side * side), 1, MediaDetail::kMostTokens)};
    if (m_defaults.frames.kind == DetailKind::kAnySize) m_detail.frames = m_detail.pictures;
  }

  const RequestDefaults& m_defaults;
  MediaDetails m_detail;
};

// vLLM's and transformers' ways to say it, for pictures and frames alike; detail in a part wins.
MediaDetails readDetail(const RequestFields& body, const RequestDefaults& defaults) {
  DetailReading reading(defaults);
  if (const auto kinds = body.object("media_io_kwargs")) {
    if (const auto video = kinds->object("video")) reading.read(*video);
  }
  if (const auto settings = body.object("mm_processor_kwargs")) reading.read(*settings);
  return reading.detail();
}

// vLLM's and transformers' ways to say which frames of a video are looked at; the later wins over the defaults, and one over the other.
FramePlan readPlan(const RequestFields& body, FramePlan plan) {
  const auto read = [&](const RequestFields& settings) {
    if (const auto frames = settings.whole("num_frames", -1, kMostFrames); frames && *frames > 0) {
      plan.frame_count = static_cast<int>(*frames);
      plan.every_s = 0.0;
    }
    if (const auto fps = settings.real("fps", -1.0, 1000.0); fps && *fps > 0.0) {
      plan.frame_count = 0;
      plan.every_s = 1.0 / *fps;
    }
  };
  if (const auto kinds = body.object("media_io_kwargs")) {
    if (const auto video = kinds->object("video")) read(*video);
  }
  if (const auto settings = body.object("mm_processor_kwargs")) read(*settings);
  return plan;
}

// Begins the answer with the assistant's last message: it goes on after it.
void beginAnswer(Turn& turn) {
  if (turn.messages.back().role != Role::kAssistant) return;
  for (const Item& item : turn.messages.back().items) turn.answer_begun += std::get<TextItem>(item).text;
  turn.thought_begun = std::move(turn.messages.back().thought);
  turn.messages.pop_back();
}

// The parts of messages, in the order in which the model reads them.
class Parts {
 public:
  Parts(const RequestMedia& media, const MediaReader& reader, const FramePlan& plan, const MediaDetails& detail)
      : m_media(media), m_reader(reader), m_plan(plan), m_detail(detail) {}

  const std::vector<std::string>& sounds() const { return m_sounds; }

  std::vector<Item> read(const Json& content, const std::string& path) {
    if (content.is_string()) return {TextItem{content.get<std::string>()}};
    if (!content.is_array()) throw ApiRefusal(400, "must be a text or a list of parts", path);
    if (content.size() > kMostParts) throw ApiRefusal(400, "has more than " + std::to_string(kMostParts) + " parts", path);
    std::vector<Item> items;
    for (std::size_t i = 0; i < content.size(); ++i) items.push_back(part(RequestFields(content[i], path + "[" + std::to_string(i) + "]")));
    return items;
  }

 private:
  Item part(const RequestFields& part) {
    const std::string type = part.neededText("type");
    if (type == "text" || type == "input_text") return TextItem{part.neededText("text")};
    if (type == "image_url") return picture(part);
    if (type == "video_url") return medium(address(part, "video_url"), MediaKind::kVideo, part.path("video_url.url"));
    if (type == "input_video") return inputVideo(part);
    if (type == "file") return file(part);
    if (type == "input_audio") return inputAudio(part);
    if (type == "audio_url")
      return sound(m_media.pathOf(address(part, "audio_url"), part.path("audio_url.url")), part.path("audio_url.url"));
    throw ApiRefusal(400, "must be text, image_url, video_url, input_video, input_audio, audio_url or file", part.path("type"));
  }

  // {"url": ...}, or the address itself as some clients send it.
  static std::string address(const RequestFields& part, const char* name) {
    if (const Json* value = part.find(name); value != nullptr && value->is_string()) return value->get<std::string>();
    const auto object = part.object(name);
    if (!object) throw ApiRefusal(400, "is missing", part.path(name));
    return object->neededText("url");
  }

  // OpenAI's detail, and one word of ours between its two.
  Item picture(const RequestFields& part) {
    Item item = medium(address(part, "image_url"), MediaKind::kImage, part.path("image_url.url"));
    const Json* value = part.find("image_url");
    if (value == nullptr || !value->is_object()) return item;
    const auto word = part.object("image_url")->text("detail");
    if (!word || *word == "auto") return item;
    const std::optional<MediaDetail> detail = detail_of(*word);
    if (!detail || detail->level == DetailLevel::kTokens)
      throw ApiRefusal(400, "must be auto, low, medium or high", part.path("image_url.detail"));
    std::get<MediaItem>(item).media.detail = *detail;
    return item;
  }

  Item inputVideo(const RequestFields& part) {
    const auto video = part.object("input_video");
    const RequestFields& from = video ? *video : part;
    if (const auto data = from.text("data"))
      return item(m_media.pathOfBase64(*data, from.path("data")), MediaKind::kVideo, from.path("data"));
    return medium(from.neededText("url"), MediaKind::kVideo, from.path("url"));
  }

  // The file's bytes say what it is, not the format that is named.
  Item inputAudio(const RequestFields& part) {
    const auto audio = part.object("input_audio");
    if (!audio) throw ApiRefusal(400, "is missing", part.path("input_audio"));
    return sound(m_media.pathOfBase64(audio->neededText("data"), audio->path("data")), audio->path("data"));
  }

  Item sound(const std::string& path, const std::string& param) {
    try {
      m_reader.openSound({path, {}}, {});
    } catch (const Exception& exception) {
      throw ApiRefusal(400, exception.error().reason, param, "invalid_media");
    }
    m_sounds.push_back(path);
    return MediaItem{{path, MediaKind::kDocument, {}}};
  }

  Item file(const RequestFields& part) {
    const auto file = part.object("file");
    if (!file) throw ApiRefusal(400, "is missing", part.path("file"));
    if (file->find("file_id") != nullptr) refuseUnsupported(file->path("file_id"), "a file that was uploaded before");
    const std::string data = file->neededText("file_data");
    const std::string param = file->path("file_data");
    const std::string path = data.starts_with("data:") ? m_media.pathOf(data, param) : m_media.pathOfBase64(data, param);
    return item(path, kindOf(path, param), param);
  }

  Item medium(const std::string& url, MediaKind kind, const std::string& param) { return item(m_media.pathOf(url, param), kind, param); }

  Item item(const std::string& path, MediaKind kind, const std::string& param) {
    if (kindOf(path, param) != kind)
      throw ApiRefusal(400, kind == MediaKind::kImage ? "is not a picture" : "is not a video", param, "invalid_media");
    MediaRequest request{path, kind, kind == MediaKind::kVideo ? m_plan : FramePlan()};
    if (kind != MediaKind::kDocument) request.detail = kind == MediaKind::kVideo ? m_detail.frames : m_detail.pictures;
    return MediaItem{std::move(request)};
  }

  MediaKind kindOf(const std::string& path, const std::string& param) const {
    try {
      return m_reader.detectKind(path);
    } catch (const Exception& exception) {
      throw ApiRefusal(400, exception.error().reason, param, "invalid_media");
    }
  }

  const RequestMedia& m_media;
  const MediaReader& m_reader;
  const FramePlan m_plan;
  const MediaDetails m_detail;
  std::vector<std::string> m_sounds;
};

Message readMessage(const RequestFields& message, Parts& parts) {
  const std::string role = message.neededText("role");
  Message read;
  if (role == "system" || role == "developer")
    read.role = Role::kSystem;
  else if (role == "user")
    read.role = Role::kUser;
  else if (role == "assistant")
    read.role = Role::kAssistant;
  else if (role == "tool" || role == "function")
    refuseUnsupported(message.path("role"), "the result of a tool");
  else
    throw ApiRefusal(400, "must be system, developer, user or assistant", message.path("role"));
  if (const Json* calls = message.find("tool_calls"); calls != nullptr && !asksNothing(*calls))
    refuseUnsupported(message.path("tool_calls"), "a call of a tool");
  for (const char* name : {"reasoning", "reasoning_content"}) {
    if (auto thought = message.text(name); thought && read.role == Role::kAssistant) read.thought = *std::move(thought);
  }
  const Json* content = message.find("content");
  if (content == nullptr && read.role != Role::kAssistant) throw ApiRefusal(400, "is missing", message.path("content"));
  if (content != nullptr) read.items = parts.read(*content, message.path("content"));
  const auto isMedium = [](const Item& item) { return std::holds_alternative<MediaItem>(item); };
  if (read.role != Role::kUser && std::ranges::any_of(read.items, isMedium))
    throw ApiRefusal(400, "pictures, videos, sounds and files stand in messages of the user", message.path("content"));
  return read;
}

}  // namespace

ChatRequest chatRequestOf(const RequestFields& body, const RequestDefaults& defaults, const RequestMedia& media,
                          const MediaReader& reader) {
  ChatRequest request;
  readAnswerSettings(body, defaults, request);
  readProbabilities(body, request);
  readThinking(body, request);
  const std::vector<std::string> unknown = unknownFields(body, kOfChats);
  request.ignored.insert(request.ignored.end(), unknown.begin(), unknown.end());
  const Json* messages = body.list("messages", kMostMessages);
  if (messages == nullptr || messages->empty()) throw ApiRefusal(400, "there must be at least one message", "messages");
  Parts parts(media, reader, readPlan(body, defaults.plan), readDetail(body, defaults));
  std::vector<Message>& thread = request.turn.messages;
  for (std::size_t i = 0; i < messages->size(); ++i)
    thread.push_back(readMessage(RequestFields((*messages)[i], "messages[" + std::to_string(i) + "]"), parts));
  request.sounds = parts.sounds();
  beginAnswer(request.turn);
  if (thread.empty() || thread.back().role != Role::kUser)
    throw ApiRefusal(400, "the last message must be the user's, or begin the answer to one of the user's", "messages");
  if (thread.back().items.empty()) throw ApiRefusal(400, "the last message is empty", "messages");
  return request;
}

}  // namespace winnow::app
