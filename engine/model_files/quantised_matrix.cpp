#include "engine/model_files/quantised_matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/base/error.h"
#include "kernels/api/pack_codes.h"

namespace winnow {
namespace {

static_assert(std::endian::native == std::endian::little, "words are taken apart as bytes");

constexpr std::int64_t kMatrixBlock = 32;
constexpr std::int64_t kCodesAtATime = std::int64_t{4} << 20;
// Rows are read so many at a time or a multiple: what a word of codes or zero points covers at most.
constexpr std::int64_t kRowsOfAWord = 8;
// The output of each code in AWQ's words, lowest first.
constexpr std::array<std::int64_t, 8> kInterleaved = {0, 2, 4, 6, 1, 3, 5, 7};

std::int64_t whole_words(std::int64_t codes, int bits) { return (codes * bits + 31) / 32; }

// Rows [r0, r1), columns [c0, c1) of a table, one after the other.
template <class Element>
std::vector<Element> part_of(const StoredTable& table, std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) {
  const auto rows = static_cast<std::size_t>(r1 - r0);
  const auto width = static_cast<std::size_t>(c1 - c0);
  std::vector<Element> part(rows * width);
  const auto place = [&](std::int64_t row) { return static_cast<std::uint64_t>(row * table.columns + c0) * sizeof(Element); };
  if (c0 == 0 && c1 == table.columns) {
    table.file->read(table.tensor, place(r0), std::as_writable_bytes(std::span(part)));
    return part;
  }
  for (std::size_t row = 0; row < rows; ++row)
    table.file->read(table.tensor, place(r0 + static_cast<std::int64_t>(row)),
                     std::as_writable_bytes(std::span(part).subspan(row * width, width)));
  return part;
}

// Eight codes of four bits a byte each.
std::uint64_t spread(std::uint32_t word) {
  std::uint64_t bytes = word;
  bytes = (bytes | bytes << 16) & 0x0000FFFF0000FFFFULL;
  bytes = (bytes | bytes << 8) & 0x00FF00FF00FF00FFULL;
  return (bytes | bytes << 4) & 0x0F0F0F0F0F0F0F0FULL;
}

// The codes of a word, lowest first.
void take_apart(std::uint32_t word, int bits, std::uint8_t* codes) {
  if (bits == 8) {
    std::memcpy(codes, &word, sizeof word);
    return;
  }
  const std::uint64_t bytes = spread(word);
  std::memcpy(codes, &bytes, sizeof bytes);
}

// words: [lines, words along the outputs]. Returns [outputs, lines].
std::vector<std::uint8_t> along_outputs(const std::vector<std::uint32_t>& words, std::int64_t lines, int bits, bool interleaved) {
  const std::int64_t in_word = 32 / bits;
  const std::int64_t width = std::ssize(words) / lines;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(width * in_word * lines));
  std::array<std::uint8_t, 8> of_word{};
  // Some lines at a time, so that what is written beside each other is written while it is in the cache.
  constexpr std::int64_t kLines = 64;
  for (std::int64_t first = 0; first < lines; first += kLines) {
    for (std::int64_t word = 0; word < width; ++word) {
      for (std::int64_t line = first; line < std::min(first + kLines, lines); ++line) {
        take_apart(words[static_cast<std::size_t>(line * width + word)], bits, of_word.data());
        for (std::int64_t i = 0; i < in_word; ++i) {
          const std::int64_t output = word * in_word + (interleaved ? kInterleaved[static_cast<std::size_t>(i)] : i);
          codes[static_cast<std::size_t>(output * lines + line)] = of_word[static_cast<std::size_t>(i)];
        }
      }
    }
  }
  return codes;
}

}  // namespace

StoredType QuantisedMatrix::type_of(const Layout& layout) {
  const bool middle = layout.zeros == ZeroOrder::kMiddle || layout.must_be_middle;
  if (layout.bits == 4) return middle ? StoredType::kQ4_0 : StoredType::kU4Z;
  return middle ? StoredType::kQ8_0 : StoredType::kU8Z;
}

std::uint64_t QuantisedMatrix::row_bytes() const {
  return static_cast<std::uint64_t>(layout_.columns / kMatrixBlock) * stored_block(type()).bytes;
}

std::vector<std::uint8_t> QuantisedMatrix::codes_of(Rows rows) const {
  const int bits = layout_.bits;
  const std::int64_t in_word = 32 / bits;
  const std::int64_t columns = layout_.columns;
  if (layout_.codes == CodeOrder::kInterleaved)
    return along_outputs(part_of<std::uint32_t>(codes_, 0, columns, rows.first / in_word, rows.end / in_word), columns, bits, true);
  if (layout_.codes == CodeOrder::kBytes) {
    std::vector<std::uint8_t> codes = part_of<std::uint8_t>(codes_, rows.first, rows.end, 0, columns);
    for (std::uint8_t& code : codes) code ^= 128;
    return codes;
  }
  const bool down = layout_.codes == CodeOrder::kColumns;
  const std::vector<std::uint32_t> words = down ? part_of<std::uint32_t>(codes_, 0, codes_.rows, rows.first, rows.end)
                                                : part_of<std::uint32_t>(codes_, rows.first, rows.end, 0, codes_.columns);
  const std::int64_t row_step = down ? 1 : codes_.columns;
  const std::int64_t word_step = down ? rows.count() : 1;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(rows.count() * columns));
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    std::uint8_t* to = codes.data() + row * columns;
    const std::uint32_t* from = words.data() + row * row_step;
    for (std::int64_t column = 0; column < columns; column += in_word, from += word_step) take_apart(*from, bits, to + column);
  }
  return codes;
}

std::vector<float> QuantisedMatrix::scales_of(Rows rows) const {
  const kernels::BlockType type = *block_type(scales_.tensor.type);
  const auto numbers = [&](std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) {
    std::vector<float> values(static_cast<std::size_t>((r1 - r0) * (c1 - c0)));
    if (type == kernels::BlockType::kF32) return part_of<float>(scales_, r0, r1, c0, c1);
    const std::vector<std::uint16_t> stored = part_of<std::uint16_t>(scales_, r0, r1, c0, c1);
    kernels::dequantise(type, stored.data(), std::ssize(values), values.data());
    return values;
  };
  const std::int64_t groups = layout_.groups;
  if (scales_.rows == 1 && scales_.columns == 1)
    return std::vector<float>(static_cast<std::size_t>(rows.count() * groups), numbers(0, 1, 0, 1).front());
  if (!layout_.by_group) return numbers(rows.first, rows.end, 0, groups);
  const std::vector<float> lines = numbers(0, groups, rows.first, rows.end);
  std::vector<float> scales(lines.size());
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    for (std::int64_t group = 0; group < groups; ++group)
      scales[static_cast<std::size_t>(row * groups + group)] = lines[static_cast<std::size_t>(group * rows.count() + row)];
  }
  return scales;
}

std::vector<std::uint8_t> QuantisedMatrix::zeros_of(Rows rows) const {
  const int bits = layout_.bits;
  const std::int64_t in_word = 32 / bits;
  const std::int64_t groups = layout_.groups;
  const auto middle = static_cast<std::uint8_t>(1 << (bits - 1));
  std::vector<std::uint8_t> zeros;
  switch (layout_.zeros) {
    case ZeroOrder::kMiddle: return {};
    case ZeroOrder::kByGroup:
    case ZeroOrder::kInterleaved:
      zeros = along_outputs(part_of<std::uint32_t>(zeros_, 0, groups, rows.first / in_word, rows.end / in_word), groups, bits,
                            layout_.zeros == ZeroOrder::kInterleaved);
      break;
    case ZeroOrder::kByRow: {
      const std::int64_t first = rows.first / in_word;
      const std::int64_t end = whole_words(rows.end, bits);
      const std::vector<std::uint32_t> words = part_of<std::uint32_t>(zeros_, first, end, 0, groups);
      std::array<std::uint8_t, 8> of_word{};
      for (std::int64_t row = rows.first; row < rows.end; ++row) {
        for (std::int64_t group = 0; group < groups; ++group) {
          take_apart(words[static_cast<std::size_t>((row / in_word - first) * groups + group)], bits, of_word.data());
          zeros.push_back(of_word[static_cast<std::size_t>(row % in_word)]);
        }
      }
      break;
    }
    case ZeroOrder::kBytes:
      zeros = part_of<std::uint8_t>(zeros_, rows.first, rows.end, 0, groups);
      for (std::uint8_t& zero : zeros) zero = static_cast<std::uint8_t>(zero + middle);
      break;
  }
  if (layout_.less_one) {
    for (std::uint8_t& zero : zeros) zero = static_cast<std::uint8_t>((zero + 1) & (2 * middle - 1));
  }
  if (!layout_.must_be_middle) return zeros;
  if (std::ranges::any_of(zeros, [&](std::uint8_t zero) { return zero != middle; }))
    throw Exception(ErrorCode::kDamagedFile, name_,
                    "a zero point that is not the middle, in a folder that says it is quantised symmetrically");
  return {};
}

void QuantisedMatrix::pack(Rows rows, std::byte* blocks) const {
  const std::vector<std::uint8_t> codes = codes_of(rows);
  const std::vector<float> scales = scales_of(rows);
  const std::vector<std::uint8_t> zeros = zeros_of(rows);
  const std::int64_t columns = layout_.columns;
  const std::int64_t of_row = columns / kMatrixBlock;
  const std::int64_t of_group = of_row / layout_.groups;
  const auto bytes = static_cast<std::int64_t>(row_bytes());
  std::vector<float> block_scales(static_cast<std::size_t>(of_row));
  std::vector<std::uint8_t> block_zeros(static_cast<std::size_t>(of_row));
  std::vector<std::uint8_t> in_groups(column_of_ != nullptr ? static_cast<std::size_t>(columns) : 0);
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    for (std::int64_t block = 0; block < of_row; ++block) {
      const auto at = static_cast<std::size_t>(row * layout_.groups + block / of_group);
      block_scales[static_cast<std::size_t>(block)] = scales[at];
      if (!zeros.empty()) block_zeros[static_cast<std::size_t>(block)] = zeros[at];
    }
    const std::uint8_t* of_this = codes.data() + row * columns;
    if (column_of_ != nullptr) {
      for (std::size_t i = 0; i < in_groups.size(); ++i) in_groups[i] = of_this[(*column_of_)[i]];
      of_this = in_groups.data();
    }
    const kernels::LaunchStatus status =
        kernels::pack_codes({*block_type(type()), of_this, columns, block_scales.data(), block_zeros.data(), blocks + row * bytes});
    require(status == kernels::LaunchStatus::kOk, "quantised matrix: the kernel refused its arguments");
  }
}

void QuantisedMatrix::read(std::uint64_t offset, std::span<std::byte> target) const {
  const std::uint64_t bytes = row_bytes();
  const std::int64_t most = std::max(kRowsOfAWord, kCodesAtATime / layout_.columns / kRowsOfAWord * kRowsOfAWord);
  std::vector<std::byte> blocks;
  while (!target.empty()) {
    Rows rows{.first = static_cast<std::int64_t>(offset / bytes) / kRowsOfAWord * kRowsOfAWord};
    const auto wanted = static_cast<std::int64_t>((offset + target.size() + bytes - 1) / bytes);
    const std::int64_t whole = (wanted + kRowsOfAWord - 1) / kRowsOfAWord * kRowsOfAWord;
    rows.end = std::min({rows.first + most, whole, layout_.rows});
    blocks.resize(static_cast<std::size_t>(rows.count()) * bytes);
    pack(rows, blocks.data());
    const std::uint64_t skipped = offset - static_cast<std::uint64_t>(rows.first) * bytes;
    const std::size_t count = std::min<std::size_t>(target.size(), blocks.size() - skipped);
    std::memcpy(target.data(), blocks.data() + skipped, count);
    target = target.subspan(count);
    offset += count;
  }
}

}  // namespace winnow
