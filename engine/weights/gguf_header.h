// The part of a GGUF file before the tensors' data: metadata, and the table of tensors. Every count, length, offset and type is checked
// with arithmetic that cannot wrap before it is used or memory is taken for it.
//
// Used by gguf_file.h and, on bytes in memory, by the fuzzer. Read: versions 2 and 3, little-endian. Refused by name: version 1, big-endian
// files, lists of lists, tensor types without a BlockType or an integer's (kUnsupportedFormat). Also required beyond llama.cpp's reader:
// keys and names are printable ASCII and occur once, truth values are 0 or 1, no dimension is 0, tensors do not overlap. Bytes between
// tensors and behind the last are allowed. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedFormat; the subject is the path,
// "<path>: <key>" or "<path>: <tensor>". Threads: plain functions.
// Source: github.com/ggml-org/ggml, docs/gguf.md; the Python package gguf for the types' numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/weights/gguf_metadata.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

inline constexpr std::uint64_t kMaxGgufHeaderBytes = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMaxGgufKeys = 65'536;
inline constexpr std::uint64_t kMaxGgufKeyBytes = 65'535;
inline constexpr std::uint64_t kMaxGgufTextBytes = std::uint64_t{16} << 20;
inline constexpr std::uint64_t kMaxGgufListElements = std::uint64_t{4} << 20;  // of all lists together
inline constexpr std::uint64_t kMaxGgufTensorNameBytes = 64;
inline constexpr std::uint32_t kMaxGgufRank = 4;

struct GgufHeader {
  GgufMetadata metadata;
  TensorFile::Tensors tensors;  // begin and end are offsets in the file, below its size
};

// The source of a file's bytes. read fills the whole span from the offset, or throws; never asked for more than there is.
struct GgufBytes {
  std::uint64_t size = 0;  // of the whole file
  std::function<void(std::uint64_t, std::span<std::byte>)> read;
};

GgufHeader read_gguf_header(const GgufBytes& bytes, const std::string& path);

// A tensor's type by ggml's number, and the bytes of its dimensions, innermost first; files of before GGUF have the same. subject: for
// errors, "<path>: <tensor>".
StoredType stored_type_numbered(std::uint32_t number, const std::string& subject);
std::uint64_t stored_bytes_of(std::span<const std::uint64_t> dims, StoredType type, const std::string& subject);

}  // namespace winnow
