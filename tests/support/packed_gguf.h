// A GGUF file of numbers once more, its matrices in blocks of few bits: packed models for tests, with everything else as it was.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/file_bytes.h"
#include "engine/weights/gguf_file.h"
#include "kernels/api/quantise.h"

namespace winnow::testing {

// path: of a file whose tensors are numbers. packs: which matrices become Q8_0, by name; the rest becomes fp32. Returns the file's bytes.
inline std::string in_blocks(const std::string& path, const std::function<bool(const std::string&)>& packs) {
  constexpr std::uint32_t kF32 = 0, kQ8_0 = 8;
  constexpr std::size_t kAlignment = 32;
  const GgufFile file(path);
  const std::string old = read_file_bytes(path, 1 << 24);
  const auto number = [](auto value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto sized = [&](const std::string& text) { return number(std::uint64_t{text.size()}) + text; };
  const auto padded = [](std::string bytes) {
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
    return bytes;
  };
  // The table of tensors begins with the first name that stands in the file.
  std::size_t table = old.size();
  std::string infos, data;
  for (const auto& [name, tensor] : file.tensors()) {
    table = std::min(table, old.find(sized(name)));
    const std::span<const std::byte> stored = file.view(tensor);
    std::vector<float> values(tensor.elements());
    kernels::dequantise(*block_type(tensor.type), stored.data(), std::ssize(values), values.data());
    const bool packed = tensor.shape.size() == 2 && tensor.shape.back() % 32 == 0 && packs(name);
    std::string bytes(packed ? values.size() / 32 * 34 : values.size() * sizeof(float), '\0');
    if (packed) {
      kernels::quantise({kernels::BlockType::kQ8_0, values.data(), std::ssize(values), bytes.data()});
    } else {
      std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    infos += sized(name) + number(static_cast<std::uint32_t>(tensor.shape.size()));
    for (auto side = tensor.shape.rbegin(); side != tensor.shape.rend(); ++side) infos += number(static_cast<std::uint64_t>(*side));
    infos += number(packed ? kQ8_0 : kF32) + number(std::uint64_t{data.size()});
    data = padded(data + bytes);
  }
  return padded(old.substr(0, table) + infos) + data;
}

}  // namespace winnow::testing
