// bench_block_gemv: products of a vector with a matrix in blocks on one core, beside a plain read of the same bytes.
//
// Prints one JSON line for each type and size: of an interleaved run, the median time of the exact product and of the rounded one as a
// ratio, and the rounded one's bytes a second as a share of the plain read's. The large matrix does not fit into a processor's cache, as a
// model's weights do not. Then the rows of a prompt together beside one after the other, where int8_gemm_is_fast(). Fails if a rounded
// product differs from its definition.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/api/block_gemv.h"
#include "kernels/api/int8_gemm.h"
#include "kernels/api/int8_gemv.h"
#include "tests/kernels/random_blocks.h"

namespace {

using namespace winnow::kernels;

constexpr std::int64_t kColumns = 1536;
constexpr int kRounds = 9;

volatile std::uint64_t g_sink = 0;

template <class Call>
double seconds(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

void read_all(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    sum += word;
  }
  g_sink = g_sink + sum;
}

bool run(const char* name, BlockType type, std::int64_t rows) {
  const std::vector<std::uint8_t> matrix = random_blocks(type, rows * kColumns, 1);
  const std::vector<float> input = random_input(kColumns, 2);
  std::vector<std::int8_t> codes(kColumns);
  std::vector<QuantisedScale> scales(kColumns / kQuantisedElements);
  std::vector<float> half_sums(kColumns / 16);
  std::vector<std::int8_t> paired(kColumns);
  std::vector<float> output(static_cast<std::size_t>(rows));
  std::vector<float> expected(4);
  const BlockGemvArgs exact{type, matrix.data(), kColumns, nullptr, 0, rows, input.data(), output.data()};
  Int8GemvArgs rounded{
      type, matrix.data(), kColumns, nullptr, 0, rows, {codes.data(), scales.data(), half_sums.data(), paired.data()}, output.data()};
  const auto round = [&] { round_input_cpu({input.data(), kColumns, codes.data(), scales.data(), half_sums.data(), paired.data()}); };
  round();
  int8_gemv_cpu(rounded);
  Int8GemvArgs first = rounded;
  first.end = std::ssize(expected);
  first.output = expected.data();
  int8_gemv_reference(first);
  for (std::size_t row = 0; row < expected.size(); ++row) {
    if (std::abs(output[row] - expected[row]) > 1e-3F * (1.0F + std::abs(expected[row]))) return false;
  }
  std::vector<double> of_exact;
  std::vector<double> of_rounded;
  std::vector<double> of_read;
  for (int i = 0; i < kRounds; ++i) {
    of_rounded.push_back(seconds([&] {
      round();
      int8_gemv_cpu(rounded);
    }));
    of_exact.push_back(seconds([&] { block_gemv_cpu(exact); }));
    of_read.push_back(seconds([&] { read_all(matrix); }));
  }
  std::printf(R"({"type":"%s","megabytes":%.1f,"exact_to_rounded":%.2f,"share_of_read":%.2f})"
              "\n",
              name, static_cast<double>(matrix.size()) / 1e6, median(of_exact) / median(of_rounded), median(of_read) / median(of_rounded));
  return true;
}

// Rows of a prompt: rounded and multiplied together, beside one by one.
bool run_many(const char* name, BlockType type) {
  constexpr std::int64_t kRows = 1024;
  constexpr std::int64_t kInputs = 512;
  const std::vector<std::uint8_t> matrix = random_blocks(type, kRows * kColumns, 1);
  const std::vector<float> input = random_input(kInputs * kColumns, 2);
  std::vector<std::byte> tiles(static_cast<std::size_t>(kInputs / kTileRows * int8_tile_bytes(kColumns)));
  std::vector<float> together(static_cast<std::size_t>(kInputs * kRows));
  std::vector<float> apart(together.size());
  std::vector<float> sums(int8_gemm_sums(kInputs));
  std::vector<std::int8_t> codes(kColumns);
  std::vector<QuantisedScale> scales(kColumns / kQuantisedElements);
  std::vector<float> half_sums(kColumns / 16);
  std::vector<std::int8_t> paired(kColumns);
  std::vector<double> of_together;
  std::vector<double> of_apart;
  for (int i = 0; i < kRounds; ++i) {
    of_together.push_back(seconds([&] {
      for (std::int64_t tile = 0; tile < kInputs / kTileRows; ++tile) {
        round_tile_cpu({input.data() + tile * kTileRows * kColumns, kTileRows, kColumns, tiles.data() + tile * int8_tile_bytes(kColumns)});
      }
      int8_gemm_cpu({type, matrix.data(), kColumns, nullptr, 0, kRows, tiles.data(), kInputs, together.data(), kRows, ElementType::kFp32,
                     sums.data()});
    }));
    of_apart.push_back(seconds([&] {
      for (std::int64_t row = 0; row < kInputs; ++row) {
        round_input_cpu({input.data() + row * kColumns, kColumns, codes.data(), scales.data(), half_sums.data(), paired.data()});
        int8_gemv_cpu({type,
                       matrix.data(),
                       kColumns,
                       nullptr,
                       0,
                       kRows,
                       {codes.data(), scales.data(), half_sums.data(), paired.data()},
                       apart.data() + row * kRows});
      }
    }));
  }
  float largest = 0.0F;
  for (const float product : apart) largest = std::max(largest, std::abs(product));
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (std::abs(together[i] - apart[i]) > 1e-4F * largest) return false;
  }
  std::printf(R"({"type":"%s","rows":%d,"one_by_one_to_together":%.2f,"products_a_nanosecond":%.1f})"
              "\n",
              name, static_cast<int>(kInputs), median(of_apart) / median(of_together),
              static_cast<double>(kInputs * kRows * kColumns) / median(of_together) / 1e9);
  return true;
}

}  // namespace

int main() {
  const struct {
    const char* name;
    BlockType type;
  } types[] = {{"Q8_0", BlockType::kQ8_0}, {"Q4_0", BlockType::kQ4_0}, {"Q4_1", BlockType::kQ4_1}, {"Q5_0", BlockType::kQ5_0},
               {"Q5_1", BlockType::kQ5_1}, {"Q4_K", BlockType::kQ4_K}, {"Q5_K", BlockType::kQ5_K}, {"Q6_K", BlockType::kQ6_K}};
  for (const auto& [name, type] : types) {
    for (const std::int64_t megabytes : {1, 100}) {
      const std::int64_t row = kColumns / block_elements(type) * block_bytes(type);
      if (!run(name, type, megabytes * 1'000'000 / row)) {
        std::fprintf(stderr, "%s: the product differs from its definition\n", name);
        return 1;
      }
    }
    if (int8_gemm_is_fast(type) && !run_many(name, type)) {
      std::fprintf(stderr, "%s: rows together differ from rows apart\n", name);
      return 1;
    }
  }
}
