#include "app/evaluation/result_files.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

using nlohmann::ordered_json;

constexpr int kRunFormat = 1;
constexpr std::string_view kBeginning = R"({"winnow_run":)";  // every one begins so

bool isOurs(const std::string& path) {
  std::string bytes(kBeginning.size(), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes == kBeginning;
}

}  // namespace

ResultFiles::ResultFiles(const std::string& folder, const std::string& name) : m_base((std::filesystem::path(folder) / name).string()) {}

void ResultFiles::requireReplaceable(std::span<const std::string> inputs) const {
  for (const std::string& path : {log(), run()}) {
    for (const std::string& input : inputs) {
      if (same_file(path, input)) throw Exception(ErrorCode::kInvalidArgument, path, "is read by this evaluation; choose another folder");
    }
  }
  require_replaceable(run());
  if (std::filesystem::exists(run()) && !isOurs(run()))
    throw Exception(ErrorCode::kInvalidArgument, run(), "is no file of an evaluation and is left as it is; choose another folder");
}

void ResultFiles::writeRun(const ReportSubject& subject, const std::vector<EvaluationItem>& items, const EvaluationPlan& plan) const {
  ordered_json recipes = ordered_json::array();
  for (const GridRecipe& recipe : plan.recipes) {
    recipes.push_back(
        {{"name", recipe.name}, {"method", recipe.title}, {"retention", recipe.spec.retention}, {"seeds", seedsOf(plan, recipe)}});
  }
  ordered_json asked = ordered_json::array();
  for (const EvaluationItem& item : items) {
    asked.push_back({{"id", item.id},
                     {"metric", metricName(item.metric)},
                     {"group", item.group},
                     {"cluster", item.cluster},
                     {"answer", item.golds.front()}});
  }
  const ordered_json whole = {
      {"winnow_run", kRunFormat}, {"dataset", subject.dataset}, {"model", subject.model}, {"recipes", recipes}, {"items", asked}};
  ReplacedFile file(run());
  file.write(whole.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace winnow::app
