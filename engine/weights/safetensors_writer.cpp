#include "engine/weights/safetensors_writer.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow {
namespace {

const char* dtype_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat: return "F32";
    case at::kHalf: return "F16";
    case at::kBFloat16: return "BF16";
    case at::kLong: return "I64";
    case at::kInt: return "I32";
    case at::kChar: return "I8";
    case at::kByte: return "U8";
    default: return nullptr;
  }
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::vector<at::Tensor> contiguous;
  std::int64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const char* dtype = dtype_name(tensor.scalar_type());
    require(dtype != nullptr, "this dtype is not written to safetensors");
    require(!header.contains(name), "a tensor name is used twice");
    contiguous.push_back(tensor.to(at::kCPU).contiguous());
    const std::int64_t bytes = static_cast<std::int64_t>(contiguous.back().nbytes());
    header[name] = {{"dtype", dtype}, {"shape", tensor.sizes().vec()}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');

  ReplacedFile file(path);
  const std::uint64_t length = text.size();
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(text);
  for (const at::Tensor& tensor : contiguous) file.write({static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()});
  file.commit();
}

}  // namespace winnow
