#include "tests/support/scripted_engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <thread>

#include "tests/support/scripted_comparison.h"

namespace winnow::test {

namespace {

constexpr int kVisualTokensPerFrame = 9;
constexpr int kKvHeads = 2;
constexpr std::int64_t kHeadDim = 32;
constexpr std::int64_t kBytesPerSlot = 2 * kKvHeads * kHeadDim * 4;  // K and V of one layer, fp32

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    word += c;
    if (c == ' ' || c == '\n') words.push_back(std::move(word)), word.clear();
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

const MediaRequest* media_of(const Item& item) {
  const auto* media = std::get_if<MediaItem>(&item);
  return media ? &media->media : nullptr;
}

// Of the newest turn.
std::int64_t own_visual_of(const CacheReport& report, std::int32_t before_turn) {
  return std::count_if(report.tokens.begin() + before_turn, report.tokens.end(),
                       [](const TokenOrigin& token) { return is_attached(token.modality); });
}

}  // namespace

void ScriptedEngineLog::add(const Request& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
}
void ScriptedEngineLog::addInterrupt(RequestId id, Interrupt kind) {
  const std::lock_guard lock(mutex_);
  interrupts_.emplace_back(id, kind);
}
std::vector<Request> ScriptedEngineLog::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}
Interrupt ScriptedEngineLog::interruptOf(RequestId id) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [request, kind] : interrupts_)
    if (request == id) return kind;
  return Interrupt::kNone;
}
void ScriptedEngineLog::addDestroyed() {
  const std::lock_guard lock(mutex_);
  ++destroyed_;
}
void ScriptedEngineLog::addPrepare(const Prepare& prepare) {
  const std::lock_guard lock(mutex_);
  prepares_.push_back(prepare);
}

std::vector<Prepare> ScriptedEngineLog::prepares() const {
  const std::lock_guard lock(mutex_);
  return prepares_;
}

void ScriptedEngineLog::addPlan(const Plan& plan) {
  const std::lock_guard lock(mutex_);
  plans_.push_back(plan);
}
std::vector<Plan> ScriptedEngineLog::plans() const {
  const std::lock_guard lock(mutex_);
  return plans_;
}
void ScriptedEngineLog::failWatches(std::optional<Error> fault) {
  const std::lock_guard lock(mutex_);
  watch_fault_ = std::move(fault);
}
std::optional<Error> ScriptedEngineLog::watchFault() const {
  const std::lock_guard lock(mutex_);
  return watch_fault_;
}
void ScriptedEngineLog::describeWatches(Description description) {
  const std::lock_guard lock(mutex_);
  watch_description_ = std::move(description);
}
Description ScriptedEngineLog::watchDescription() const {
  const std::lock_guard lock(mutex_);
  return watch_description_;
}
int ScriptedEngineLog::destroyed() const {
  const std::lock_guard lock(mutex_);
  return destroyed_;
}

ScriptedEngine::ScriptedEngine(ScriptFunction script, std::shared_ptr<ScriptedEngineLog> log)
    : script_(script ? std::move(script) : ScriptFunction(default_script)), log_(std::move(log)) {}

ScriptedEngine::~ScriptedEngine() {
  if (log_) log_->addDestroyed();
}

void ScriptedEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  if (const auto* plan = std::get_if<Plan>(&request.body)) {
    if (log_) log_->addPlan(*plan);
    for (const Item& item : plan->turn.messages.back().items) {
      const MediaRequest* media = media_of(item);
      if (media != nullptr && media->kind == MediaKind::kDocument) sink.on_event({request.id, sampled_document(*media)});
    }
    sink.on_event({request.id, planned_for(*plan)});
    return;
  }
  if (const auto* prepare = std::get_if<Prepare>(&request.body)) return prepare_media(request.id, *prepare, sink, interrupt);
  if (log_) log_->add(request);
  if (const auto* clip = std::get_if<WatchClip>(&request.body)) return watch_clip(request.id, *clip, sink, interrupt);
  if (std::holds_alternative<ForgetConversation>(request.body)) return;
  std::map<std::int32_t, std::string> said;  // by column, of those that have not finished
  bool any_finished = false;
  const auto interrupted = [&] {
    const Interrupt kind = interrupt.state();
    if (kind == Interrupt::kNone) return false;
    if (log_) log_->addInterrupt(request.id, kind);
    const bool whole = std::holds_alternative<Compare>(request.body) || std::holds_alternative<Score>(request.body);
    Finished finished{.reason = StopReason::kInterrupted};
    if (kind == Interrupt::kCancel || (whole && said.empty() && !any_finished)) {
      finished.restored = true;
      finished.answer = said[Event::kNoColumn];
      sink.on_event({request.id, finished});
    } else if (!whole) {
      finished.answer = said[Event::kNoColumn];
      sink.on_event({request.id, finished});
    } else {
      for (const auto& [column, text] : said) {
        finished.answer = text;
        sink.on_event({request.id, finished, column});
      }
      Compared compared{.prefills = 1, .stopped = true};
      sink.on_event({request.id, compared});
    }
    return true;
  };
  for (Step& step : script_(request)) {
    const auto due = std::chrono::steady_clock::now() + step.delay;
    const bool stalls = std::holds_alternative<Stall>(step.action);
    do {
      if (interrupted()) return;
      if (step.delay.count() > 0 || stalls) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (stalls || std::chrono::steady_clock::now() < due);
    if (const auto* broken = std::get_if<Throw>(&step.action)) throw std::runtime_error(broken->what);
    if (std::holds_alternative<ThrowForeign>(step.action)) throw 42;
    if (std::holds_alternative<EndSilently>(step.action)) return;
    Say& say = std::get<Say>(step.action);
    if (const auto* delta = std::get_if<TextDelta>(&say.body)) said[say.column] += delta->text;
    if (std::holds_alternative<Finished>(say.body) && say.column != Event::kNoColumn) {
      said.erase(say.column);
      any_finished = true;
    }
    sink.on_event({request.id, std::move(say.body), say.column});
  }
}

void ScriptedEngine::prepare_media(RequestId id, const Prepare& prepare, EventSink& sink, const InterruptToken& interrupt) {
  if (log_) log_->addPrepare(prepare);
  sink.on_event({id, Progress{Phase::kDecodeMedia, 1, 4}});
  if (const int frames = log_ ? log_->encodedFrames() : 0; frames > 0)
    sink.on_event({id, Progress{Phase::kEncodeFrames, static_cast<std::uint64_t>(frames), 64, true}});
  while (log_ && log_->holdsPreparations() && !interrupt.requested()) {
    if (log_->takeRestart()) sink.on_event({id, Progress{Phase::kLoadWeights, 0, 0}});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (interrupt.requested()) {
    Finished finished{.reason = StopReason::kInterrupted, .restored = true};
    sink.on_event({id, finished});
    return;
  }
  for (const Item& item : prepare.turn.messages.back().items) {
    const MediaRequest* media = media_of(item);
    if (media != nullptr && media->kind == MediaKind::kDocument) {
      sink.on_event({id, sampled_document(*media)});
    } else if (media != nullptr) {
      MediaSampled sampled{media->path, media->kind, 4.0, {0.2, 1.2}, {0.2, 1.2}, media->plan};
      sampled.detail = media->detail;
      sink.on_event({id, std::move(sampled)});
    }
  }
  const bool before = prepare.turn.recipe.method == "self-study";
  if (before) {
    CacheReport report;
    report.kv_bytes.full = 1'000'000;
    report.kv_bytes.after_event = 50'000;
    report.description.words = {{"A", 0, 0}, {" star", 0, 0}, {".", 0, 1}, {" Then", 0, 1}, {" a", 0, 1}, {" card", 0, 1}, {".", 0, 0}};
    sink.on_event({id, std::move(report)});
  }
  sink.on_event({id, Prepared{before, 10.0}});
}

void ScriptedEngine::watch_clip(RequestId id, const WatchClip& clip, EventSink& sink, const InterruptToken& interrupt) {
  const auto frames_of_clip = static_cast<std::int64_t>(clip.frames.size());
  sink.on_event({id, Progress{Phase::kEncodeFrames, 0, clip.frames.size()}});
  while (log_ && log_->holdsWatches() && !interrupt.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (interrupt.requested()) {
    Finished finished{.reason = StopReason::kInterrupted, .restored = true};
    sink.on_event({id, finished});
    return;
  }
  std::optional<Error> fault = log_ ? log_->watchFault() : std::nullopt;
  std::int64_t& frames = watched_frames_[clip.turn.conversation];
  if (!clip.begins && frames == 0) fault = {ErrorCode::kInvalidArgument, "", "nothing was watched before"};
  if (clip.frames.empty()) fault = {ErrorCode::kInvalidArgument, "", "a clip without frames"};
  if (fault) {
    sink.on_event({id, Failed{*std::move(fault)}});
    return;
  }
  frames = clip.begins ? frames_of_clip : frames + frames_of_clip;
  Watched watched = watched_for(clip, frames);
  if (log_) watched.description = log_->watchDescription();
  sink.on_event({id, std::move(watched)});
}

Watched watched_for(const WatchClip& clip, std::int64_t frames) {
  constexpr int kLayers = 4;
  const auto& media = std::get<MediaItem>(clip.turn.messages.back().items.back()).media;
  const auto newest = static_cast<std::int64_t>(clip.frames.size());
  Watched watched;
  watched.frames = frames;
  watched.seen_s = static_cast<double>(frames) * media.plan.every_s;
  watched.tokens = frames * kVisualTokensPerFrame;
  watched.most_slots = clip.turn.recipe.budget_tokens.value_or(0);
  const std::int64_t kept = std::min(watched.tokens, watched.most_slots);
  const bool over = watched.tokens > watched.most_slots;
  const std::int64_t of_newest = std::min(kept, newest * kVisualTokensPerFrame);
  const std::int64_t older = frames - newest - (over ? 1 : 0);
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    const bool is_new = frame >= frames - newest;
    const std::int64_t slots = is_new ? of_newest : kept - of_newest;
    const std::int64_t sharing = is_new ? newest : older;
    const bool forgotten = over && frame == 0 && !is_new;
    watched.shares.push_back(forgotten ? 0.0
                                       : std::min(1.0, static_cast<double>(slots) / static_cast<double>(sharing * kVisualTokensPerFrame)));
  }
  watched.slots.assign(kLayers, kept * kKvHeads);
  watched.kv_bytes = kept * kLayers * kBytesPerSlot;
  watched.kv_bytes_full = watched.tokens * kLayers * kBytesPerSlot;
  watched.elapsed_ms = 5.0;
  return watched;
}

MediaSampled sampled_document(const MediaRequest& document) {
  MediaSampled sampled;
  sampled.path = document.path;
  sampled.kind = document.kind;
  sampled.plan = document.plan;
  sampled.all_tokens = document.path.find("long") != std::string::npos ? kLongDocumentTokens : kDocumentTokens;
  sampled.most_tokens = document.most_tokens;
  sampled.encoding = document.encoding;
  sampled.tokens = document.most_tokens > 0 ? std::min(document.most_tokens, sampled.all_tokens) : sampled.all_tokens;
  return sampled;
}

Planned planned_for(const Plan& plan) {
  constexpr std::int64_t kLayers = 4;
  constexpr std::int64_t kContext = 4096;
  Planned planned{.tokens = {.text = 4}};
  for (const Message& message : plan.turn.messages) {
    for (const Item& item : message.items) {
      const MediaRequest* media = media_of(item);
      if (media == nullptr) planned.tokens.text += 8;
      if (media != nullptr && media->kind == MediaKind::kDocument) {
        planned.tokens.visual += sampled_document(*media).tokens;
      } else if (media != nullptr)
        planned.tokens.visual += kVisualTokensPerFrame * (media->kind == MediaKind::kVideo ? std::max(1, media->plan.frame_count) : 1);
    }
  }
  planned.tokens.prompt = planned.tokens.text + planned.tokens.visual;
  planned.tokens.generated = plan.turn.sampling.needed_tokens();
  planned.kv_bytes_full = planned.tokens.prompt * kLayers * kBytesPerSlot;
  const double share = plan.turn.recipe.method == "full" ? 1.0 : plan.turn.recipe.retention;
  planned.kv_bytes_after_event = static_cast<std::int64_t>(share * static_cast<double>(planned.kv_bytes_full));
  planned.peak_bytes = planned.kv_bytes_full;
  planned.context_tokens = kContext;
  planned.fits_context = planned.tokens.prompt + planned.tokens.generated <= kContext;
  planned.free_bytes = std::int64_t{1} << 30;
  planned.expected_ms = static_cast<double>(planned.tokens.prompt);
  planned.expected_per_token_ms = 20.0;
  if (plan.turn.guard == Guard::kKeep) planned.goes_on_from = plan.turn.goes_on_from;
  return planned;
}

Script load_script(const Request& request, std::chrono::milliseconds shard_delay, int shards) {
  const auto& load = std::get<LoadModel>(request.body);
  Script script;
  for (int shard = 0; shard <= shards; ++shard)
    script.push_back({shard ? shard_delay : std::chrono::milliseconds(0),
                      Say{Progress{Phase::kLoadWeights, static_cast<std::uint64_t>(shard), static_cast<std::uint64_t>(shards)}}});
  ModelInfo info;
  info.folder = load.folder;
  info.name = load.folder.substr(load.folder.find_last_of('/') + 1);
  info.family = "llava_onevision";
  info.device = "cpu";
  info.dtype = "fp32";
  info.layers = 4;
  info.heads = 4;
  info.kv_heads = kKvHeads;
  info.head_dim = kHeadDim;
  info.context_tokens = 4096;
  info.visual_tokens_per_frame = kVisualTokensPerFrame;
  info.parameter_count = 8'000'000;
  info.weight_bytes = 32'000'000;
  info.kv_bytes_per_token = info.layers * kBytesPerSlot;
  script.push_back({{}, Say{ModelLoaded{info}}});
  return script;
}

Script failure_script(ErrorCode code, const std::string& subject, const std::string& reason) {
  return {{{}, Say{Failed{{code, subject, reason}}}}};
}

Script answer_script(const Request& request, const std::string& answer, std::chrono::milliseconds word_delay, int layers) {
  const auto& turn = std::get<Turn>(request.body);
  Script script;
  CacheReport report;
  std::int32_t media_number = 0;
  const auto add_text = [&](Modality modality, int count) {
    for (int i = 0; i < count; ++i) report.tokens.push_back({modality, -1, -1, -1, -1});
  };
  // `count` tokens, a word each as long as there are words; the last token has the rest.
  const auto add_words = [&](Modality modality, const std::string& text, int count) {
    std::size_t from = 0;
    for (int i = 0; i < count; ++i) {
      const std::size_t end = i + 1 < count ? std::min(text.find(' ', from + 1), text.size()) : text.size();
      report.texts.push_back({static_cast<std::int32_t>(report.tokens.size()), text.substr(from, end - from)});
      add_text(modality, 1);
      from = end;
    }
  };
  add_words(Modality::kSystem, "system\nYou are helpful.\n", 4);
  std::int32_t before_turn = 0;  // tokens of earlier turns
  for (const Message& message : turn.messages) {
    if (&message == &turn.messages.back() && turn.messages.size() > 1) before_turn = static_cast<std::int32_t>(report.tokens.size());
    for (const Item& item : message.items) {
      const MediaRequest* media = media_of(item);
      if (!media) {
        add_words(Modality::kText, "\n" + std::get<TextItem>(item).text + "\nassistant\n", 8);
        continue;
      }
      if (media->kind == MediaKind::kDocument) {
        const MediaSampled sampled = sampled_document(*media);
        const bool pinned = std::any_of(turn.pins.begin(), turn.pins.end(), [&](const Pin& pin) { return pin.media == media_number; });
        for (std::int32_t i = 0; i < sampled.tokens; ++i) {
          const auto token = static_cast<std::int32_t>(report.tokens.size());
          const bool ends = i % kDocumentLineTokens == kDocumentLineTokens - 1;
          report.texts.push_back({token, " word" + std::to_string(i) + (ends ? "\n" : "")});
          report.tokens.push_back({Modality::kDocument, media_number, i / kDocumentLineTokens, -1, -1});
          if (pinned) report.pinned.push_back(token);
        }
        ++media_number;
        script.push_back({{}, Say{sampled}});
        continue;
      }
      const bool video = media->kind == MediaKind::kVideo;
      const int frames = video ? std::max(1, media->plan.frame_count) : 1;
      MediaSampled sampled{
          .path = media->path, .kind = media->kind, .duration_s = video ? 10.0 : 0.0, .plan = media->plan, .detail = media->detail};
      for (int frame = 0; frame < frames; ++frame) {
        const double asked = video ? (frame + 0.5) * sampled.duration_s / frames : 0.0;
        sampled.asked_s.push_back(asked);
        sampled.actual_s.push_back(std::floor(asked * 25.0) / 25.0);
        const bool pinned = std::any_of(turn.pins.begin(), turn.pins.end(), [&](const Pin& pin) {
          return pin.media == media_number && (!video || (sampled.actual_s.back() >= pin.from_s && sampled.actual_s.back() <= pin.to_s));
        });
        for (int patch = 0; pinned && patch < kVisualTokensPerFrame; ++patch)
          report.pinned.push_back(static_cast<std::int32_t>(report.tokens.size()) + patch);
        for (int patch = 0; patch < kVisualTokensPerFrame; ++patch)
          report.tokens.push_back(
              {Modality::kVisual, media_number, frame, static_cast<std::int16_t>(patch / 3), static_cast<std::int16_t>(patch % 3)});
        // A line of two words behind every second frame.
        if (media->subtitles.empty() || frame % 2 != 0) continue;
        const auto line = static_cast<std::int32_t>(sampled.lines.size());
        sampled.lines.push_back({asked, asked + 1.0, "Line" + std::to_string(line) + " said"});
        for (const std::string& word : {"Line" + std::to_string(line), std::string(" said\n")}) {
          report.texts.push_back({static_cast<std::int32_t>(report.tokens.size()), word});
          report.tokens.push_back({Modality::kSubtitle, media_number, line, -1, -1});
        }
      }
      sampled.subtitles = media->subtitles;
      ++media_number;
      const auto total = static_cast<std::uint64_t>(frames);
      script.push_back({{}, Say{Progress{Phase::kDecodeMedia, total, total}}});
      script.push_back({{}, Say{std::move(sampled)}});
      script.push_back({{}, Say{Progress{Phase::kEncodeFrames, total, total}}});
    }
  }
  for (int layer = 0; layer <= layers; ++layer)
    script.push_back({{}, Say{Progress{Phase::kPrefill, static_cast<std::uint64_t>(layer), static_cast<std::uint64_t>(layers)}}});
  script.push_back({{}, Say{Progress{Phase::kCompress, static_cast<std::uint64_t>(layers), static_cast<std::uint64_t>(layers)}}});

  const auto prompt = static_cast<std::int32_t>(report.tokens.size());
  std::int64_t visual_tokens = 0;
  for (const TokenOrigin& token : report.tokens) visual_tokens += is_attached(token.modality);
  const double retention = turn.recipe.method == "full" ? 1.0 : turn.recipe.retention;
  // Deeper layers keep less; kept tokens are spread evenly, text is always kept.
  for (int layer = 0; layer < layers; ++layer) {
    const double share = retention >= 1.0 ? 1.0 : std::min(1.0, retention * (1.5 - static_cast<double>(layer) / layers));
    LayerFigures figures;
    report.kept.emplace_back();
    for (int head = 0; head < kKvHeads; ++head) {
      std::vector<std::int32_t> kept;
      for (std::int32_t i = 0; i < prompt; ++i) {
        const bool visual = is_attached(report.tokens[static_cast<std::size_t>(i)].modality);
        if (!visual || std::floor((i + 1 + head) * share) > std::floor((i + head) * share)) kept.push_back(i);
      }
      figures.kept_per_head.push_back(static_cast<std::int64_t>(kept.size()));
      report.kept.back().push_back(std::move(kept));
    }
    figures.kept = static_cast<double>(figures.kept_per_head[0] + figures.kept_per_head[1]) / kKvHeads;
    figures.budget = static_cast<std::int64_t>(std::lround(figures.kept));
    figures.kept_text = static_cast<double>(prompt - visual_tokens);
    figures.kept_visual = figures.kept - figures.kept_text;
    figures.bytes = (figures.kept_per_head[0] + figures.kept_per_head[1]) * (kBytesPerSlot / kKvHeads);
    if (turn.recipe.method == "vl-cache") figures.why = {{"sparsity", 0.5 + 0.1 * layer}};
    report.kv_bytes.after_event += figures.bytes;
    report.layers.push_back(std::move(figures));
  }
  if (retention < 1.0) {
    for (const double share : {0.01, 0.05, 0.1, 0.2, 0.5, 1.0}) report.retained_mass.push_back({share, std::sqrt(share)});
  }
  report.kv_bytes.full = prompt * layers * kBytesPerSlot;
  report.kv_bytes.end = report.kv_bytes.after_event;
  report.kv_bytes.peak = report.kv_bytes.full;
  report.kv_bytes.allocated = report.kv_bytes.after_event;
  report.kv_bytes.metadata = prompt * 8;
  if (turn.guard == Guard::kKeep) report.makers = turn.goes_on_from;
  const bool reads_attached = visual_tokens > 0 && (report.makers.empty() || own_visual_of(report, before_turn) > 0);
  note_maker(report.makers, turn.recipe, reads_attached);

  Finished finished;
  finished.answer = answer;
  finished.figures.method = turn.recipe.method;
  finished.figures.retention = retention;
  finished.figures.seed = turn.recipe.seed;
  finished.figures.layers = report.layers;
  finished.figures.kv_bytes = report.kv_bytes;
  finished.figures.achieved_retention =
      report.kv_bytes.full > 0 ? static_cast<double>(report.kv_bytes.after_event) / static_cast<double>(report.kv_bytes.full) : 1.0;
  // As the engine counts: the turn's own tokens, and those of the whole thread.
  const auto own_visual = own_visual_of(report, before_turn);
  finished.figures.tokens = {prompt - before_turn,
                             own_visual,
                             prompt - before_turn - own_visual,
                             0,
                             visual_tokens,
                             prompt - visual_tokens,
                             0,
                             static_cast<std::int64_t>(report.pinned.size())};
  finished.figures.timings_ms = {12.0, 3.0, 20.0, 40.0, 4.0, 2.0, 81.0, 0.0, 0.0};
  finished.figures.tokens_per_s = 50.0;

  const std::int64_t full_at_prompt = report.kv_bytes.full;
  const std::int64_t now_at_prompt = report.kv_bytes.after_event;
  script.push_back({{}, Say{std::move(report)}});
  for (std::string& word : words_of(answer)) {
    const std::int64_t generated = ++finished.figures.tokens.generated;
    const std::int64_t grown = generated * layers * kBytesPerSlot;
    script.push_back({word_delay, Say{TextDelta{std::move(word)}}});
    std::vector<SlotCounts> slots;
    for (LayerFigures& layer : finished.figures.layers) {
      layer.end = {layer.kept_visual, layer.kept_text, static_cast<double>(generated)};
      slots.push_back(layer.end);
    }
    script.push_back({{}, Say{DecodeSample{generated, 50.0, now_at_prompt + grown, full_at_prompt + grown, std::move(slots)}}});
  }
  const std::int64_t grown = finished.figures.tokens.generated * layers * kBytesPerSlot;
  finished.figures.kv_bytes.full_end = finished.figures.kv_bytes.full + grown;
  finished.figures.kv_bytes.end += grown;
  finished.figures.timings_ms.decode_total = static_cast<double>(finished.figures.tokens.generated) * 20.0;
  script.push_back({{}, Say{std::move(finished)}});
  return script;
}

ScriptFunction answering(const std::string& answer, std::chrono::milliseconds word_delay) {
  return [=](const Request& request) {
    return std::holds_alternative<LoadModel>(request.body) ? load_script(request) : answer_script(request, answer, word_delay);
  };
}

Script default_script(const Request& request) {
  if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
  if (std::holds_alternative<Compare>(request.body)) {
    const std::string color[] = {"The star is red.", "The star is blue.", "A red star."};
    return compare_script(request, {color[0], color[0], color[1], color[2]});
  }
  if (const auto* score = std::get_if<Score>(&request.body)) return score_script(request, score->answer);
  std::string question;
  const auto& messages = std::get<Turn>(request.body).messages;
  if (!messages.empty()) {
    for (const Item& item : messages.back().items)
      if (const auto* text = std::get_if<TextItem>(&item)) question += text->text;
  }
  return answer_script(request, "You asked: " + question);
}

}  // namespace winnow::test
