#include "engine/models/family_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/model_files/llava_repository.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/known_family.h"
#include "engine/text/quoted_name.h"

namespace winnow {
namespace {

constexpr std::size_t kFamilyNameBytes = 256;

// A row without its loader, which would have to be linked.
struct FamilyName {
  const char* model_type = nullptr;
  const char* architecture = nullptr;
  bool reads_videos = true;
  BoxScale boxes = BoxScale::kNone;
};

consteval auto names_of_families() {
  std::array<FamilyName, kFamilies.size()> names;
  for (std::size_t row = 0; row < names.size(); ++row)
    names[row] = {kFamilies[row].model_type, kFamilies[row].architecture, kFamilies[row].reads_videos, kFamilies[row].boxes};
  return names;
}

constexpr auto kNames = names_of_families();

// architectures[0], or nothing where the file has no such list.
std::string architecture_of(const JsonObject& config) {
  if (!config.has("architectures")) return {};
  const Json& list = config.value("architectures");
  if (!list.is_array() || list.empty() || !list.front().is_string()) {
    config.refuse(ErrorCode::kDamagedFile, "architectures", "is not a list of names");
  }
  const auto& name = list.front().get_ref<const std::string&>();
  if (name.size() > kFamilyNameBytes) config.refuse(ErrorCode::kLimitExceeded, "architectures", "the name is too long");
  return name;
}

// The architecture names the class that saved the folder; model_type is only asked where that is missing. Null: none.
const FamilyName* family_of(const JsonObject& config) {
  const std::string architecture = architecture_of(config);
  const std::string model_type = config.string("model_type", kFamilyNameBytes, "");
  const auto family = std::ranges::find_if(kNames, [&](const FamilyName& candidate) {
    return architecture.empty() ? model_type == candidate.model_type : architecture == candidate.architecture;
  });
  return family == kNames.end() ? nullptr : &*family;
}

}  // namespace

std::size_t required_family(const JsonObject& config, const std::string& subject) {
  if (const FamilyName* const family = family_of(config)) return static_cast<std::size_t>(family - kNames.data());
  const std::string architecture = architecture_of(config);
  const std::string model_type = config.string("model_type", kFamilyNameBytes, "");
  const std::string found = !architecture.empty() ? architecture : !model_type.empty() ? model_type : "no model type";
  throw Exception(ErrorCode::kUnsupportedModel, subject,
                  "the engine does not run " + printable_name(found) + " (winnow-cli probe lists what it runs)");
}

std::optional<KnownFamily> known_family(const JsonObject& config) {
  if (saved_by_llava_repository(config)) return KnownFamily{"llava_onevision", true, true};
  const FamilyName* family = family_of(config);
  if (family == nullptr) return std::nullopt;
  const bool sees = config.has("vision_config");
  return KnownFamily{family->model_type, sees, sees && family->reads_videos};
}

BoxScale box_scale(std::string_view family) {
  const auto row = std::ranges::find_if(kNames, [&](const FamilyName& each) { return family == each.model_type; });
  return row == kNames.end() ? BoxScale::kNone : row->boxes;
}

std::vector<std::string> known_classes() {
  std::vector<std::string> names;
  for (const FamilyName& each : kNames) names.emplace_back(each.architecture);
  return names;
}

}  // namespace winnow
