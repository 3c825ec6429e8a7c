// The fields of the engine's messages: one list of fields a struct, under the names that they have outside of this process.
//
// The lists of figures stand under their structs; engine/metrics/fields_of.h says how a list is written, wire.h makes the encoded form. A
// name is never changed or used again; a field that is added has its default in what older programs send. That no field of a struct is
// forgotten, and none renamed, is a test (tests/engine/messages/wire_test.cpp).
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
  visit("taken", f.taken);
  visit("set_frames", f.set_frames);
}

WINNOW_FIELDS(MediaDetail, level, tokens)
WINNOW_FIELDS(PageRange, first, last)
WINNOW_FIELDS(MediaRequest, path, kind, plan, most_tokens, subtitles, encoding, content, detail, pages, most_pixels)
WINNOW_FIELDS(MediaNotice, code, amount, of, name)
WINNOW_FIELDS(TimedLine, start_s, end_s, text)
WINNOW_FIELDS(PictureSize, width_px, height_px)
WINNOW_FIELDS(RgbImage, width_px, height_px, rgb)
WINNOW_FIELDS(SampledFrame, asked_s, actual_s, image)

WINNOW_FIELDS(BeforeDecoder, method, amount)

template <FieldsOf<RecipeSpec> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("method", f.method);
  visit("retention", f.retention);
  visit("budget_tokens", f.budget_tokens);
  visit("before", f.before);
  visit("turn_policy", f.turn_policy);
  visit("seed", f.seed);
  visit("options", f.options);
  for (const WholeSetting& setting : kWholeSettings) visit(setting.name, f.*setting.value);
  for (const PartSetting& part : kPartSettings) visit(part.kind, f.*part.name);
}

WINNOW_FIELDS(CacheMaker, recipe, attached)
WINNOW_FIELDS(Sampling, temperature, top_k, top_p, min_p, repetition_penalty, seed, max_new_tokens, room_tokens, thought_tokens,
              stop_strings, told_probabilities)

template <FieldsOf<SamplingChoice> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit_choices(f, [&](const SamplingField& field, auto& value) { visit(field.name, value); });
}

WINNOW_FIELDS(TextItem, text)
WINNOW_FIELDS(MediaItem, media)
WINNOW_FIELDS(Message, role, items, thought)
WINNOW_FIELDS(PromptSettings, thinking, day, form)
WINNOW_FIELDS(Pin, media, from_s, to_s)

// Requests.

WINNOW_FIELDS(LoadModel, folder, device, format, vision, projector)
WINNOW_FIELDS(Turn, conversation, messages, sampling, recipe, guard, pins, answer_begun, prompt, goes_on_from, asked, thought_begun)
WINNOW_FIELDS(Plan, turn)
WINNOW_FIELDS(Prepare, turn)
WINNOW_FIELDS(WatchClip, turn, begins, frames)
WINNOW_FIELDS(ExportTurn, turn, path, logits)
WINNOW_FIELDS(Compare, conversation, messages, sampling, recipes, scores, order, pins, prompt)
WINNOW_FIELDS(Score, turn, answer, thought, ended)
WINNOW_FIELDS(SaveConversation, conversation, path, model, most_bytes)
WINNOW_FIELDS(LoadConversation, conversation, path, model)
WINNOW_FIELDS(ForgetConversation, conversation)
WINNOW_FIELDS(Tokenize, messages, prompt)
WINNOW_FIELDS(Detokenize, tokens)
WINNOW_FIELDS(Transcribe, path, content, model, voice, language, device, format, heard_s, lines)

// Events.

WINNOW_FIELDS(Error, code, subject, reason)
WINNOW_FIELDS(Progress, phase, done, total, part_will_do)
WINNOW_FIELDS(ModelTraits, position_axes, joined_frames, sees, reads_videos, window, judges_patches, arithmetic_bits, kv_bits,
              reads_narrow_cache, measured, encodes_parts)
WINNOW_FIELDS(DetailChoices, kind, low, medium, high, token_px)
WINNOW_FIELDS(ModelInfo, folder, projector, name, family, device, dtype, device_note, layers, heads, kv_heads, head_dim, context_tokens,
              visual_tokens_per_frame, parameter_count, weight_bytes, kv_bytes_per_token, state_layers, state_bytes, time_instruction,
              video_frames, vision_products, frame_ms, recommended, traits, thinks, thinking_switch, server, most_pictures, lacks,
              picture_detail, frame_detail)
WINNOW_FIELDS(ModelLoaded, info)
WINNOW_FIELDS(ModelUnloaded)
WINNOW_FIELDS(MediaSampled, path, kind, duration_s, asked_s, actual_s, plan, frames_per_position, endless, tokens, all_tokens, most_tokens,
              subtitles, lines, picture, notices, told_s, encoding, detail, planned_frames, visual_tokens, pages, page_lines, read_width_px,
              read_height_px)
WINNOW_FIELDS(TextDelta, text, kind)
WINNOW_FIELDS(TokenOrigin, modality, media, frame, row, column)
WINNOW_FIELDS(RetainedMass, retention, mass)
WINNOW_FIELDS(TokenText, token, bytes)
WINNOW_FIELDS(DescribedWord, bytes, media, frame)
WINNOW_FIELDS(Description, words, useful)
WINNOW_FIELDS(CacheReport, kv_bytes, layers, tokens, kept, merged, pinned, retained_mass, notes, texts, description, makers, pruned_tokens)
WINNOW_FIELDS(DecodeSample, generated_tokens, tokens_per_s, kv_bytes_now, kv_bytes_full_now, layers)
WINNOW_FIELDS(TurnFigures, method, retention, seed, tokens, kv_bytes, layers, timings_ms, tokens_per_s, achieved_retention, notes)
WINNOW_FIELDS(Finished, reason, restored, answer, figures, thought)
WINNOW_FIELDS(Failed, error)
WINNOW_FIELDS(ColumnStarted, shares_prefill)
WINNOW_FIELDS(Scored, agreement, selection)
WINNOW_FIELDS(Compared, prefills, shared_prefix_bytes, allocated_bytes, stopped)
WINNOW_FIELDS(PlannedPrefill, peak_bytes, fits_memory, expected_ms)
WINNOW_FIELDS(Planned, tokens, kv_bytes_full, kv_bytes_after_event, kv_bytes_per_token, peak_bytes, state_bytes, fits_context, fits_memory,
              context_tokens, free_bytes, expected_ms, expected_reading_ms, expected_encoder_ms, expected_per_token_ms, twice, goes_on_from,
              estimated)
WINNOW_FIELDS(Prepared, compressed, elapsed_ms)
WINNOW_FIELDS(Watched, frames, seen_s, tokens, most_slots, slots, shares, kv_bytes, kv_bytes_full, frames_per_position, description,
              elapsed_ms)
WINNOW_FIELDS(Saved, kv_bytes)
WINNOW_FIELDS(Restored, kv_bytes, thread, prepared, recipe, pins, prompt)
WINNOW_FIELDS(CacheSetAside, why, conversation)
WINNOW_FIELDS(TokenProbability, token, bytes, log_probability)
WINNOW_FIELDS(TokenSampled, sampled, likeliest, kind)
WINNOW_FIELDS(Tokenized, tokens, pieces, text)
WINNOW_FIELDS(LinesHeard, read_s, heard_s, sound_s, lines, language)
WINNOW_FIELDS(Transcribed, lines, language, heard_s, sound_s, elapsed_ms, repeated_lines, stopped, model)

}  // namespace winnow
