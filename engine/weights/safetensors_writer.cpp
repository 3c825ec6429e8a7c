#include "engine/weights/safetensors_writer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"

namespace winnow {
namespace {

const char* dtype_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "F32";
    case at::kHalf:
      return "F16";
    case at::kBFloat16:
      return "BF16";
    case at::kLong:
      return "I64";
    case at::kInt:
      return "I32";
    case at::kByte:
      return "U8";
    default:
      return nullptr;
  }
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail(const std::string& path) {
  throw Exception(ErrorCode::kFileUnreadable, path, std::string("cannot be written: ") + std::strerror(errno));
}

void write_all(std::FILE* file, const void* data, std::size_t bytes, const std::string& path) {
  if (bytes != 0 && std::fwrite(data, 1, bytes, file) != bytes) fail(path);
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

  const std::string partial = path + ".part";
  {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(partial.c_str(), "wb"));
    if (!file) fail(path);
    const std::uint64_t length = text.size();
    write_all(file.get(), &length, sizeof length, path);
    write_all(file.get(), text.data(), text.size(), path);
    for (const at::Tensor& tensor : contiguous) write_all(file.get(), tensor.const_data_ptr(), tensor.nbytes(), path);
    if (std::fflush(file.get()) != 0) fail(path);
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) fail(path);
}

}  // namespace winnow
