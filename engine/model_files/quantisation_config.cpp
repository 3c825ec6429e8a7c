#include "engine/model_files/quantisation_config.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/text/quoted_name.h"

namespace winnow {
namespace {

constexpr std::size_t kMethodNameBytes = 40;
constexpr std::size_t kMostGroups = 64;  // of matrices that are quantised alike
constexpr std::int64_t kMostGroupInputs = 65'536;
constexpr std::int64_t kMethodBlock = 32;  // inputs that share a scale here

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c); });
  return text;
}

// The name under the first of the keys that is there, of those that are known.
std::string one_of(const JsonObject& object, std::initializer_list<const char*> keys, std::initializer_list<std::string_view> known,
                   const char* fallback) {
  const std::optional<std::string> key = object.first_present(keys);
  if (!key) return fallback;
  std::string name = lower_case(object.string(key->c_str(), kMethodNameBytes));
  if (std::ranges::find(known, name) != known.end()) return name;
  std::string list;
  for (const std::string_view each : known) list.append(list.empty() ? "" : ", ").append(each);
  object.refuse(ErrorCode::kUnsupportedModel, *key, quoted_name(name) + " is not read; what is: " + list);
}

std::int64_t read_bits(const JsonObject& object, const char* key, bool eight) {
  const std::int64_t bits = object.integer(key, 1, 64);
  if (bits == 4 || (eight && bits == 8)) return bits;
  object.refuse(ErrorCode::kUnsupportedModel, key,
                "weights of " + std::to_string(bits) + " bits are not read; " + (eight ? "4 and 8 are" : "4 are"));
}

std::int64_t read_group(const JsonObject& object, const char* key) {
  const std::int64_t group = object.integer(key, QuantisationConfig::kWholeRows, kMostGroupInputs);
  if (group == QuantisationConfig::kWholeRows || (group > 0 && group % kMethodBlock == 0)) return group;
  object.refuse(ErrorCode::kUnsupportedModel, key,
                "groups of " + std::to_string(group) + " inputs are not read; multiples of 32 are, and -1 for whole rows");
}

QuantisationConfig read_awq(const JsonObject& config) {
  one_of(config, {"version", "format"}, {"gemm"}, "gemm");
  one_of(config, {"backend"}, {"auto", "autoawq", "gemm"}, "auto");
  QuantisationConfig read{QuantisationMethod::kAwq};
  read.bits = read_bits(config, config.has("w_bit") ? "w_bit" : "bits", false);
  read.group = read_group(config, config.has("q_group_size") ? "q_group_size" : "group_size");
  return read;
}

QuantisationConfig read_gptq(const JsonObject& config) {
  const std::string format = one_of(config, {"checkpoint_format", "format"}, {"gptq", "gptq_v2"}, "gptq");
  if (config.boolean("is_marlin_format", false))
    config.refuse(ErrorCode::kUnsupportedModel, "is_marlin_format", "weights in Marlin's order are not read");
  QuantisationConfig read{QuantisationMethod::kGptq};
  read.zeros_less_one = format == "gptq";
  read.ordered = config.boolean("desc_act", false);
  // Rules for single matrices, by their names: what holds of one then say its tensors alone.
  const bool ruled = config.has("dynamic") && !config.value("dynamic").empty();
  const std::int64_t bits = read_bits(config, "bits", true);
  const std::int64_t group = read_group(config, "group_size");
  if (ruled) return read;
  read.bits = bits;
  read.group = group;
  read.symmetric = config.boolean("sym", true);
  return read;
}

void check_weights(const JsonObject& weights) {
  one_of(weights, {"type"}, {"int"}, "int");
  const std::string strategy = one_of(weights, {"strategy"}, {"group", "channel", "tensor"}, "tensor");
  read_bits(weights, "num_bits", true);
  if (strategy == "group") read_group(weights, "group_size");
}

QuantisationConfig read_compressed_tensors(const JsonObject& config) {
  const std::initializer_list<std::string_view> formats = {"pack-quantized", "int-quantized", "naive-quantized", "mixed-precision",
                                                           "dense"};
  one_of(config, {"format"}, formats, "dense");
  if (const auto sparse = config.optional_object("sparsity_config")) one_of(*sparse, {"format"}, {"dense"}, "dense");
  if (config.has("transform_config") && !config.value("transform_config").empty())
    config.refuse(ErrorCode::kUnsupportedModel, "transform_config", "rotated activations are not implemented");
  const JsonObject groups = config.object("config_groups");
  const Json& list = config.value("config_groups");
  if (list.size() > kMostGroups) config.refuse(ErrorCode::kLimitExceeded, "config_groups", "more than 64 groups of matrices");
  int number = 0;
  for (const Json& each : list) {
    const JsonObject group(each, groups.file(), "quantization_config.config_groups." + std::to_string(number++));
    one_of(group, {"format"}, formats, "dense");
    if (const auto weights = group.optional_object("weights")) check_weights(*weights);
  }
  return {QuantisationMethod::kCompressedTensors};
}

}  // namespace

std::optional<QuantisationConfig> read_quantisation(const JsonObject& config) {
  const std::optional<JsonObject> found = config.optional_object("quantization_config");
  if (!found) return std::nullopt;
  const std::string method = found->string("quant_method", kMethodNameBytes, "");
  if (method == "awq") return read_awq(*found);
  if (method == "gptq") return read_gptq(*found);
  if (method == "compressed-tensors") return read_compressed_tensors(*found);
  found->refuse(
      ErrorCode::kUnsupportedModel, "quant_method",
      (method.empty() ? "weights that are quantised, with a method that is not named," : "weights quantised with " + quoted_name(method)) +
          " are not read; AWQ, GPTQ and compressed-tensors are, and GGUF files");
}

}  // namespace winnow
