// The words for the options of LoadModel and for a turn's guard, as command lines and requests give them and the settings store them, and
// for what an attachment is, in JSON. Never renamed.
//
// Used by app/programs/cli, app/programs/bootstrap, app/chats/settings, app/chats/chat and app/programs/server. Threads: any.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/messages/requests.h"

namespace winnow {

template <class Value>
struct ChoiceWord {
  const char* word;
  Value value;
};

inline constexpr ChoiceWord<Device> kDeviceWords[] = {{"auto", Device::kAuto}, {"cpu", Device::kCpu}, {"cuda", Device::kCuda}};

inline constexpr ChoiceWord<WeightFormat> kWeightWords[] = {{"auto", WeightFormat::kAuto},
                                                            {"fp32", WeightFormat::kFp32},
                                                            {"bf16", WeightFormat::kBf16},
                                                            {"int8", WeightFormat::kInt8},
                                                            {"int4", WeightFormat::kInt4}};
inline constexpr ChoiceWord<VisionFormat> kVisionWords[] = {{"auto", VisionFormat::kAuto}, {"int8", VisionFormat::kInt8}};

inline constexpr ChoiceWord<MediaKind> kMediaKindWords[] = {
    {"image", MediaKind::kImage}, {"video", MediaKind::kVideo}, {"document", MediaKind::kDocument}};

inline constexpr ChoiceWord<Guard> kGuardWords[] = {
    {"keep", Guard::kKeep}, {"prefill", Guard::kPrefill}, {"ram", Guard::kRam}, {"alone", Guard::kAlone}};

// nullopt if no such word exists.
template <class Value, std::size_t N>
std::optional<Value> value_of(const ChoiceWord<Value> (&words)[N], std::string_view word) {
  for (const ChoiceWord<Value>& each : words) {
    if (word == each.word) return each.value;
  }
  return std::nullopt;
}

// Returns the first word for an unknown value.
template <class Value, std::size_t N>
const char* word_of(const ChoiceWord<Value> (&words)[N], Value value) {
  for (const ChoiceWord<Value>& each : words) {
    if (value == each.value) return each.word;
  }
  return words[0].word;
}

// "auto, cpu or cuda"
template <class Value, std::size_t N>
std::string listed(const ChoiceWord<Value> (&words)[N]) {
  std::string text;
  for (std::size_t i = 0; i < N; ++i) text += (i == 0 ? "" : i + 1 == N ? " or " : ", ") + std::string(words[i].word);
  return text;
}

}  // namespace winnow
