// What the engine's messages consist of: one table of fields a struct, under the names that they have outside of this process.
//
// visit_fields(value, visit) calls visit(name, field) for every field, as engine/metrics/fields_of.h does for figures, whose tables these
// complete. wire.h makes the encoded form of them. A name is never changed or used again; a field that is added has its default in what
// older programs send. That no field of a struct is forgotten is a test (tests/engine/messages/wire_test.cpp).
#pragma once

#include "engine/messages/events.h"
#include "engine/messages/requests.h"
#include "engine/metrics/fields_of.h"

namespace winnow {

template <FieldsOf<FramePlan> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("frames", f.frame_count);
  visit("every_s", f.every_s);
  visit("from_s", f.from_s);
  visit("to_s", f.to_s);
  visit("max_frames", f.max_frames);
}

template <FieldsOf<MediaDetail> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("level", f.level);
  visit("tokens", f.tokens);
}

template <FieldsOf<MediaRequest> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("path", f.path);
  visit("kind", f.kind);
  visit("plan", f.plan);
  visit("most_tokens", f.most_tokens);
  visit("subtitles", f.subtitles);
  visit("encoding", f.encoding);
  visit("content", f.content);
  visit("detail", f.detail);
}

template <FieldsOf<MediaNotice> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("code", f.code);
  visit("amount", f.amount);
  visit("of", f.of);
  visit("name", f.name);
}

template <FieldsOf<TimedLine> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("start_s", f.start_s);
  visit("end_s", f.end_s);
  visit("text", f.text);
}

template <FieldsOf<PictureSize> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("width_px", f.width_px);
  visit("height_px", f.height_px);
}

template <FieldsOf<RgbImage> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("width_px", f.width_px);
  visit("height_px", f.height_px);
  visit("rgb", f.rgb);
}

template <FieldsOf<SampledFrame> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("asked_s", f.asked_s);
  visit("actual_s", f.actual_s);
  visit("image", f.image);
}

template <FieldsOf<RecipeSpec> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("method", f.method);
  visit("retention", f.retention);
  visit("budget_tokens", f.budget_tokens);
  visit("turn_policy", f.turn_policy);
  visit("seed", f.seed);
  visit("options", f.options);
  for (const WholeSetting& setting : kWholeSettings) visit(setting.name, f.*setting.value);
  for (const PartSetting& part : kPartSettings) visit(part.kind, f.*part.name);
}

template <FieldsOf<CacheMaker> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("recipe", f.recipe);
  visit("attached", f.attached);
}

template <FieldsOf<Sampling> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("temperature", f.temperature);
  visit("top_k", f.top_k);
  visit("top_p", f.top_p);
  visit("min_p", f.min_p);
  visit("repetition_penalty", f.repetition_penalty);
  visit("seed", f.seed);
  visit("max_new_tokens", f.max_new_tokens);
  visit("room_tokens", f.room_tokens);
  visit("thought_tokens", f.thought_tokens);
  visit("stop_strings", f.stop_strings);
  visit("told_probabilities", f.told_probabilities);
}

template <FieldsOf<SamplingChoice> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit_choices(f, [&](const SamplingField& field, auto& value) { visit(field.name, value); });
}

template <FieldsOf<TextItem> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("text", f.text);
}

template <FieldsOf<MediaItem> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("media", f.media);
}

template <FieldsOf<Message> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("role", f.role);
  visit("items", f.items);
  visit("thought", f.thought);
}

template <FieldsOf<PromptSettings> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("thinking", f.thinking);
  visit("day", f.day);
  visit("form", f.form);
}

template <FieldsOf<Pin> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("media", f.media);
  visit("from_s", f.from_s);
  visit("to_s", f.to_s);
}

// Requests.

template <FieldsOf<LoadModel> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("folder", f.folder);
  visit("device", f.device);
  visit("format", f.format);
  visit("projector", f.projector);
}

template <FieldsOf<Turn> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("conversation", f.conversation);
  visit("messages", f.messages);
  visit("sampling", f.sampling);
  visit("recipe", f.recipe);
  visit("guard", f.guard);
  visit("pins", f.pins);
  visit("answer_begun", f.answer_begun);
  visit("prompt", f.prompt);
  visit("goes_on_from", f.goes_on_from);
  visit("asked", f.asked);
  visit("thought_begun", f.thought_begun);
}

template <FieldsOf<Plan> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("turn", f.turn);
}

template <FieldsOf<Prepare> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("turn", f.turn);
}

template <FieldsOf<WatchClip> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("turn", f.turn);
  visit("begins", f.begins);
  visit("frames", f.frames);
}

template <FieldsOf<ExportTurn> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("turn", f.turn);
  visit("path", f.path);
  visit("logits", f.logits);
}

template <FieldsOf<Compare> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("conversation", f.conversation);
  visit("messages", f.messages);
  visit("sampling", f.sampling);
  visit("recipes", f.recipes);
  visit("scores", f.scores);
  visit("order", f.order);
  visit("pins", f.pins);
  visit("prompt", f.prompt);
}

template <FieldsOf<Score> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("turn", f.turn);
  visit("answer", f.answer);
  visit("thought", f.thought);
  visit("ended", f.ended);
}

template <FieldsOf<SaveConversation> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("conversation", f.conversation);
  visit("path", f.path);
  visit("model", f.model);
  visit("most_bytes", f.most_bytes);
}

template <FieldsOf<LoadConversation> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("conversation", f.conversation);
  visit("path", f.path);
  visit("model", f.model);
}

template <FieldsOf<ForgetConversation> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("conversation", f.conversation);
}

template <FieldsOf<Tokenize> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("messages", f.messages);
  visit("prompt", f.prompt);
}

template <FieldsOf<Detokenize> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("tokens", f.tokens);
}

// Events.

template <FieldsOf<Error> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("code", f.code);
  visit("subject", f.subject);
  visit("reason", f.reason);
}

template <FieldsOf<Progress> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("phase", f.phase);
  visit("done", f.done);
  visit("total", f.total);
}

template <FieldsOf<ModelTraits> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("position_axes", f.position_axes);
  visit("joined_frames", f.joined_frames);
  visit("sees", f.sees);
  visit("reads_videos", f.reads_videos);
  visit("window", f.window);
  visit("judges_patches", f.judges_patches);
  visit("arithmetic_bits", f.arithmetic_bits);
  visit("kv_bits", f.kv_bits);
  visit("reads_narrow_cache", f.reads_narrow_cache);
  visit("measured", f.measured);
}

template <FieldsOf<DetailChoices> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("kind", f.kind);
  visit("low", f.low);
  visit("medium", f.medium);
  visit("high", f.high);
  visit("token_px", f.token_px);
}

template <FieldsOf<ModelInfo> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("folder", f.folder);
  visit("projector", f.projector);
  visit("name", f.name);
  visit("family", f.family);
  visit("device", f.device);
  visit("dtype", f.dtype);
  visit("device_note", f.device_note);
  visit("layers", f.layers);
  visit("heads", f.heads);
  visit("kv_heads", f.kv_heads);
  visit("head_dim", f.head_dim);
  visit("context_tokens", f.context_tokens);
  visit("visual_tokens_per_frame", f.visual_tokens_per_frame);
  visit("parameter_count", f.parameter_count);
  visit("weight_bytes", f.weight_bytes);
  visit("kv_bytes_per_token", f.kv_bytes_per_token);
  visit("state_layers", f.state_layers);
  visit("state_bytes", f.state_bytes);
  visit("time_instruction", f.time_instruction);
  visit("video_frames", f.video_frames);
  visit("recommended", f.recommended);
  visit("traits", f.traits);
  visit("thinks", f.thinks);
  visit("thinking_switch", f.thinking_switch);
  visit("server", f.server);
  visit("most_pictures", f.most_pictures);
  visit("lacks", f.lacks);
  visit("picture_detail", f.picture_detail);
  visit("frame_detail", f.frame_detail);
}

template <FieldsOf<ModelLoaded> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("info", f.info);
}

template <FieldsOf<ModelUnloaded> F>
constexpr void visit_fields(F& /*f*/, auto&& /*visit*/) {}

template <FieldsOf<MediaSampled> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("path", f.path);
  visit("kind", f.kind);
  visit("duration_s", f.duration_s);
  visit("asked_s", f.asked_s);
  visit("actual_s", f.actual_s);
  visit("plan", f.plan);
  visit("frames_per_position", f.frames_per_position);
  visit("endless", f.endless);
  visit("tokens", f.tokens);
  visit("all_tokens", f.all_tokens);
  visit("most_tokens", f.most_tokens);
  visit("subtitles", f.subtitles);
  visit("lines", f.lines);
  visit("picture", f.picture);
  visit("notices", f.notices);
  visit("told_s", f.told_s);
  visit("encoding", f.encoding);
  visit("detail", f.detail);
  visit("visual_tokens", f.visual_tokens);
}

template <FieldsOf<TextDelta> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("text", f.text);
  visit("kind", f.kind);
}

template <FieldsOf<TokenOrigin> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("modality", f.modality);
  visit("media", f.media);
  visit("frame", f.frame);
  visit("row", f.row);
  visit("column", f.column);
}

template <FieldsOf<RetainedMass> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("retention", f.retention);
  visit("mass", f.mass);
}

template <FieldsOf<TokenText> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("token", f.token);
  visit("bytes", f.bytes);
}

template <FieldsOf<DescribedWord> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("bytes", f.bytes);
  visit("media", f.media);
  visit("frame", f.frame);
}

template <FieldsOf<Description> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("words", f.words);
  visit("useful", f.useful);
}

template <FieldsOf<CacheReport> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("kv_bytes", f.kv_bytes);
  visit("layers", f.layers);
  visit("tokens", f.tokens);
  visit("kept", f.kept);
  visit("merged", f.merged);
  visit("pinned", f.pinned);
  visit("retained_mass", f.retained_mass);
  visit("notes", f.notes);
  visit("texts", f.texts);
  visit("description", f.description);
  visit("makers", f.makers);
  visit("pruned_tokens", f.pruned_tokens);
}

template <FieldsOf<DecodeSample> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("generated_tokens", f.generated_tokens);
  visit("tokens_per_s", f.tokens_per_s);
  visit("kv_bytes_now", f.kv_bytes_now);
  visit("kv_bytes_full_now", f.kv_bytes_full_now);
  visit("layers", f.layers);
}

template <FieldsOf<TurnFigures> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("method", f.method);
  visit("retention", f.retention);
  visit("seed", f.seed);
  visit("tokens", f.tokens);
  visit("kv_bytes", f.kv_bytes);
  visit("layers", f.layers);
  visit("timings_ms", f.timings_ms);
  visit("tokens_per_s", f.tokens_per_s);
  visit("achieved_retention", f.achieved_retention);
  visit("notes", f.notes);
}

template <FieldsOf<Finished> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("reason", f.reason);
  visit("restored", f.restored);
  visit("answer", f.answer);
  visit("figures", f.figures);
  visit("thought", f.thought);
}

template <FieldsOf<Failed> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("error", f.error);
}

template <FieldsOf<ColumnStarted> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("shares_prefill", f.shares_prefill);
}

template <FieldsOf<Scored> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("agreement", f.agreement);
  visit("selection", f.selection);
}

template <FieldsOf<Compared> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("prefills", f.prefills);
  visit("shared_prefix_bytes", f.shared_prefix_bytes);
  visit("allocated_bytes", f.allocated_bytes);
  visit("stopped", f.stopped);
}

template <FieldsOf<PlannedPrefill> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("peak_bytes", f.peak_bytes);
  visit("fits_memory", f.fits_memory);
  visit("expected_ms", f.expected_ms);
}

template <FieldsOf<Planned> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("tokens", f.tokens);
  visit("kv_bytes_full", f.kv_bytes_full);
  visit("kv_bytes_after_event", f.kv_bytes_after_event);
  visit("kv_bytes_per_token", f.kv_bytes_per_token);
  visit("peak_bytes", f.peak_bytes);
  visit("state_bytes", f.state_bytes);
  visit("fits_context", f.fits_context);
  visit("fits_memory", f.fits_memory);
  visit("context_tokens", f.context_tokens);
  visit("free_bytes", f.free_bytes);
  visit("expected_ms", f.expected_ms);
  visit("expected_per_token_ms", f.expected_per_token_ms);
  visit("twice", f.twice);
  visit("goes_on_from", f.goes_on_from);
}

template <FieldsOf<Prepared> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("compressed", f.compressed);
  visit("elapsed_ms", f.elapsed_ms);
}

template <FieldsOf<Watched> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("frames", f.frames);
  visit("seen_s", f.seen_s);
  visit("tokens", f.tokens);
  visit("most_slots", f.most_slots);
  visit("slots", f.slots);
  visit("shares", f.shares);
  visit("kv_bytes", f.kv_bytes);
  visit("kv_bytes_full", f.kv_bytes_full);
  visit("frames_per_position", f.frames_per_position);
  visit("description", f.description);
  visit("elapsed_ms", f.elapsed_ms);
}

template <FieldsOf<Saved> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("kv_bytes", f.kv_bytes);
}

template <FieldsOf<Restored> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("kv_bytes", f.kv_bytes);
  visit("thread", f.thread);
  visit("prepared", f.prepared);
  visit("recipe", f.recipe);
  visit("pins", f.pins);
  visit("prompt", f.prompt);
}

template <FieldsOf<CacheSetAside> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("why", f.why);
  visit("conversation", f.conversation);
}

template <FieldsOf<TokenProbability> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("token", f.token);
  visit("bytes", f.bytes);
  visit("log_probability", f.log_probability);
}

template <FieldsOf<TokenSampled> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("sampled", f.sampled);
  visit("likeliest", f.likeliest);
  visit("kind", f.kind);
}

template <FieldsOf<Tokenized> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("tokens", f.tokens);
  visit("pieces", f.pieces);
  visit("text", f.text);
}

}  // namespace winnow
