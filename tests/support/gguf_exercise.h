// What a reader of untrusted GGUF bytes owes, whatever the bytes: used by the test of mutated files and by the fuzzer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/weights/gguf_header.h"
#include "kernels/api/block_types.h"

namespace winnow::test {

// Keys of tests/golden/gguf/every_type.gguf, which mutations leave in place most of the time.
inline constexpr std::string_view kGgufKeys[] = {"general.architecture",
                                                 "general.name",
                                                 "general.alignment",
                                                 "test.u8",
                                                 "test.i8",
                                                 "test.u16",
                                                 "test.i16",
                                                 "test.u32",
                                                 "test.i32",
                                                 "test.u64",
                                                 "test.i64",
                                                 "test.f32",
                                                 "test.f64",
                                                 "test.yes",
                                                 "test.no",
                                                 "test.text",
                                                 "test.strings",
                                                 "test.integers",
                                                 "test.reals",
                                                 "test.bytes",
                                                 "split.count"};

inline void owed(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

// One clause with something it is about.
inline void check_sentence(const Error& error) {
  owed(!error.subject.empty() && !error.reason.empty(), "an error without subject or reason");
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  owed(std::ranges::none_of(error.subject + error.reason, control), "an error of more than one line");
  owed(error.subject.size() + error.reason.size() < 400, "an error that is no short sentence");
  owed(error.code == ErrorCode::kDamagedFile || error.code == ErrorCode::kLimitExceeded || error.code == ErrorCode::kUnsupportedFormat,
       "an error of a code that files do not cause");
}

template <typename Action>
void value_or_sentence(const Action& action) {
  try {
    action();
  } catch (const Exception& exception) {
    check_sentence(exception.error());
  }
}

inline void use_metadata(const GgufMetadata& metadata) {
  for (const std::string_view key : kGgufKeys) {
    if (!metadata.has(key)) continue;
    if (metadata.is_list(key)) {
      value_or_sentence([&] { owed(metadata.strings(key).size() == metadata.length(key), "a list of another length"); });
      value_or_sentence([&] { owed(metadata.integers(key).size() == metadata.length(key), "a list of another length"); });
      value_or_sentence([&] { owed(metadata.reals(key).size() == metadata.length(key), "a list of another length"); });
    } else {
      value_or_sentence([&] { metadata.string(key); });
      value_or_sentence([&] { metadata.integer(key, -1000, 1000); });
      value_or_sentence([&] { metadata.real(key, -1, 1); });
      value_or_sentence([&] { metadata.boolean(key, false); });
    }
  }
}

inline void use_tensors(const TensorFile::Tensors& tensors, std::span<const std::byte> file) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const auto& [name, tensor] : tensors) {
    owed(tensor.begin < tensor.end && tensor.end <= file.size(), "a tensor outside the file");
    places.emplace_back(tensor.begin, tensor.end);
    std::uint64_t elements = 1;
    for (const std::int64_t dim : tensor.shape) {
      owed(dim > 0 && !__builtin_mul_overflow(elements, static_cast<std::uint64_t>(dim), &elements), "a shape that does not fit");
    }
    owed(elements == tensor.elements(), "a shape of other elements than the bytes have");
    if (const auto type = block_type(tensor.type)) {
      std::vector<float> values(static_cast<std::size_t>(elements));
      kernels::dequantise(*type, file.data() + tensor.begin, static_cast<std::int64_t>(elements), values.data());
    }
  }
  std::ranges::sort(places);
  for (std::size_t i = 1; i < places.size(); ++i) owed(places[i].first >= places[i - 1].second, "tensors that overlap");
}

// Reads the file and everything in it. True: it opened. Throws std::logic_error where the reader does not keep its word.
inline bool exercise_gguf(std::span<const std::byte> file) {
  const auto read = [&](std::uint64_t offset, std::span<std::byte> target) {
    owed(offset <= file.size() && target.size() <= file.size() - offset, "bytes beyond the file were asked for");
    std::memcpy(target.data(), file.data() + offset, target.size());
  };
  try {
    const GgufHeader header = read_gguf_header({file.size(), read}, "f");
    use_metadata(header.metadata);
    use_tensors(header.tensors, file);
    return true;
  } catch (const Exception& exception) {
    check_sentence(exception.error());
    return false;
  }
}

}  // namespace winnow::test
