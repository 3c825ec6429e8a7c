#include "engine/models/config/winnow_sidecar.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxInstructionBytes = 4096;
constexpr std::size_t kMaxRows = 256;
constexpr std::size_t kMostShares = 4096;
constexpr std::size_t kMaxHeads = 1024;
constexpr std::int64_t kMostFrames = 1 << 20;
constexpr double kMostScore = 1e6;  // probabilities are at most 1, weighed ones may be more
constexpr std::array<std::string_view, 5> kPlaceholders = {"{duration_s}", "{exact_duration_s}", "{frames}", "{interval_s}",
                                                           "{frame_times}"};

bool only_known_placeholders(std::string_view text) {
  for (std::size_t at = text.find_first_of("{}"); at != std::string_view::npos; at = text.find_first_of("{}")) {
    text.remove_prefix(at);
    const auto* known = std::ranges::find_if(kPlaceholders, [&](std::string_view name) { return text.starts_with(name); });
    if (known == kPlaceholders.end()) return false;
    text.remove_prefix(known->size());
  }
  return true;
}

ShareProfile read_profile(const JsonObject& root) {
  constexpr const char* kKey = "prefixkv_profile";
  ShareProfile profile;
  if (!root.has(kKey)) return profile;
  const Json& rows = root.value(kKey);
  if (!rows.is_array() || rows.empty()) root.refuse(ErrorCode::kDamagedFile, kKey, "it must be a list of rows");
  if (rows.size() > kMaxRows) root.refuse(ErrorCode::kLimitExceeded, kKey, "it has more than " + std::to_string(kMaxRows) + " rows");
  for (const Json& row : rows) {
    const JsonObject fields(row, root.file(), std::string(kKey) + "[" + std::to_string(profile.size()) + "]");
    profile.push_back({fields.real("retention", 0.0, 1.0), fields.reals("shares", 0.0, 1.0, kMostShares)});
  }
  if (const std::string problem = profile_problem(profile); !problem.empty()) root.refuse(ErrorCode::kDamagedFile, kKey, "it " + problem);
  return profile;
}

HeadTable read_head_scores(const JsonObject& root) {
  constexpr const char* kKey = "kvzip_head_scores";
  HeadTable table;
  if (!root.has(kKey)) return table;
  const Json& layers = root.list(kKey, kMostShares);
  if (layers.empty()) root.refuse(ErrorCode::kDamagedFile, kKey, "it must be a list of layers");
  for (const Json& layer : layers) {
    const JsonObject fields(layer, root.file(), std::string(kKey) + "[" + std::to_string(table.size()) + "]");
    table.push_back(fields.reals("heads", 0.0, kMostScore, kMaxHeads));
  }
  if (const std::string problem = head_table_problem(table); !problem.empty()) root.refuse(ErrorCode::kDamagedFile, kKey, "it " + problem);
  return table;
}

}  // namespace

MeasuredOptions WinnowSidecar::measured_options() const {
  MeasuredOptions options;
  if (!prefixkv_profile.empty()) options[kLayerProfileOption] = profile_text(prefixkv_profile);
  if (!kvzip_head_scores.empty()) options[kHeadTableOption] = head_table_text(kvzip_head_scores);
  return options;
}

WinnowSidecar parse_winnow_sidecar(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  WinnowSidecar sidecar{.time_instruction = root.string("time_instruction", kMaxInstructionBytes, "")};
  if (!only_known_placeholders(sidecar.time_instruction)) {
    root.refuse(ErrorCode::kDamagedFile, "time_instruction",
                "only {duration_s}, {exact_duration_s}, {frames}, {interval_s} and {frame_times} may stand in braces");
  }
  if (sidecar.time_instruction.find('\0') != std::string::npos) {
    root.refuse(ErrorCode::kDamagedFile, "time_instruction", "it contains a NUL");
  }
  if (root.has("video_frames")) sidecar.video_frames = root.integer("video_frames", 1, kMostFrames);
  sidecar.prefixkv_profile = read_profile(root);
  sidecar.kvzip_head_scores = read_head_scores(root);
  return sidecar;
}

void require_fit(const WinnowSidecar& sidecar, std::int64_t layers, std::int64_t kv_heads, const std::string& file) {
  const auto require_agreement = [&](bool fits, const char* key, const char* reason) {
    if (!fits) throw Exception(ErrorCode::kDamagedFile, file + ": " + key, reason);
  };
  const ShareProfile& profile = sidecar.prefixkv_profile;
  require_agreement(profile.empty() || std::ssize(profile.front().shares) == layers, "prefixkv_profile",
                    "its rows have another number of layers than the model");
  const HeadTable& heads = sidecar.kvzip_head_scores;
  require_agreement(heads.empty() || (std::ssize(heads) == layers && std::ssize(heads.front()) == kv_heads), "kvzip_head_scores",
                    "it has other layers or heads than the model");
}

WinnowSidecar read_winnow_sidecar(const ModelPackage& package) {
  const ModelDocument* document = package.document(ModelPart::kWinnow);
  return document != nullptr ? parse_winnow_sidecar(document->content, document->subject) : WinnowSidecar{};
}

}  // namespace winnow
