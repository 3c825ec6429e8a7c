// bench_decode_attention: memory bandwidth of decode attention on one core, against the reference and against a plain read.
//
// Prints one JSON line per case: type/head_dim/group/slots, median and spread of the time of a call, GB/s of K and V read, the speed
// relative to a plain scalar read of the same blocks, and the ratio to the reference. For int8 rows without their keys' bias, in a quarter
// of the units of a head's elements and in all of them, times_int8 is what they take over int8 rows of keys that have none, measured in
// turns; times_fp16 is the same of rows in 8 and 4 bits beside those of fp16. Fails if results differ from the reference.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "kernels/api/decode_attention.h"
#include "tests/kernels/decode_attention_case.h"

namespace {

using winnow::kernels::DecodeAttentionArgs;
using winnow::kernels::ElementType;
using winnow::kernels::testing::DecodeCase;

struct Timing {
  double median_us;
  double p10_us;
  double p90_us;
};

template <class Call>
Timing measure(int rounds, Call call) {
  std::vector<double> times;
  call();
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]; };
  return {at(0.5), at(0.1), at(0.9)};
}

const char* name(ElementType type) { return type == ElementType::kFp32 ? "fp32" : type == ElementType::kBf16 ? "bf16" : "fp16"; }

volatile std::uint64_t g_sink = 0;

// Adds up all 64-bit words of K and V: what straightforward code gets from the memory system.
void read_all(const DecodeAttentionArgs& args) {
  const std::int64_t row_bytes =
      args.narrow ? code_bytes(args.codes, args.head_dim) : args.head_dim * (args.kv_type == ElementType::kFp32 ? 4 : 2);
  std::uint64_t sums[8] = {};
  for (std::int64_t first = 0; first < args.slots; first += args.block_slots) {
    const std::int64_t words = std::min(args.block_slots, args.slots - first) * row_bytes / 8;
    for (const void* block : {args.key_blocks[first / args.block_slots], args.value_blocks[first / args.block_slots]}) {
      const auto* data = static_cast<const std::uint64_t*>(block);
      for (std::int64_t i = 0; i + 8 <= words; i += 8) {
        for (int j = 0; j < 8; ++j) sums[j] += data[i + j];
      }
    }
  }
  g_sink = g_sink + std::accumulate(std::begin(sums), std::end(sums), std::uint64_t{0});
}

const char* name(ElementType type, DecodeCase::Rows rows) {
  if (rows == DecodeCase::Rows::kWide) return name(type);
  if (rows == DecodeCase::Rows::kNarrow) return "int8";
  if (rows == DecodeCase::Rows::kFour) return "int4";
  return rows == DecodeCase::Rows::kUnbiased ? "int8_without_bias" : "int8_without_few_biases";
}

bool run(ElementType type, std::int64_t head_dim, std::int64_t group, std::int64_t slots, DecodeCase::Rows rows = DecodeCase::Rows::kWide) {
  DecodeCase problem(type, head_dim, group, slots, 1, rows);
  DecodeCase::Answer expected;
  DecodeCase::Answer actual;
  DecodeAttentionArgs reference = problem.args(expected);
  DecodeAttentionArgs fast = problem.args(actual);
  reference.probabilities = fast.probabilities = nullptr;
  const Timing slow = measure(2, [&] { winnow::kernels::decode_attention_reference(reference); });
  const Timing time = measure(50, [&] { winnow::kernels::decode_attention_cpu(fast); });
  const Timing read = measure(50, [&] { read_all(fast); });
  for (std::size_t i = 0; i < expected.output.size(); ++i) {
    if (!(std::fabs(expected.output[i] - actual.output[i]) < 1e-3F)) {
      std::fprintf(stderr, "wrong result at %zu: %g instead of %g\n", i, static_cast<double>(actual.output[i]),
                   static_cast<double>(expected.output[i]));
      return false;
    }
  }
  const double bytes = static_cast<double>(problem.kv_bytes());
  std::printf(
      "{\"case\":\"decode_attention/%s/d%lld/g%lld/n%lld\",\"median_us\":%.1f,\"p10_us\":%.1f,\"p90_us\":%.1f,\"gb_per_s\":%.2f,"
      "\"times_plain_read\":%.2f,\"times_reference\":%.1f}\n",
      name(type, rows), static_cast<long long>(head_dim), static_cast<long long>(group), static_cast<long long>(slots), time.median_us,
      time.p10_us, time.p90_us, bytes / time.median_us * 1e-3, read.median_us / time.median_us, slow.median_us / time.median_us);
  return true;
}

// The shortest of several calls, so that other programs count little.
void compare(std::int64_t head_dim, std::int64_t group, std::int64_t slots, DecodeCase::Rows rows, DecodeCase::Rows base) {
  DecodeCase without(ElementType::kFp16, head_dim, group, slots, 1, base);
  DecodeCase with(ElementType::kFp16, head_dim, group, slots, 1, rows);
  DecodeCase::Answer answers[2];
  DecodeAttentionArgs args[] = {without.args(answers[0]), with.args(answers[1])};
  double best[] = {1e9, 1e9};
  for (DecodeAttentionArgs& each : args) each.probabilities = nullptr;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 2; ++i) best[i] = std::min(best[i], measure(1, [&] { winnow::kernels::decode_attention_cpu(args[i]); }).median_us);
  }
  std::printf("{\"case\":\"decode_attention/%s/d%lld/g%lld/n%lld\",\"best_us\":%.1f,\"times_%s\":%.2f}\n", name(ElementType::kFp16, rows),
              static_cast<long long>(head_dim), static_cast<long long>(group), static_cast<long long>(slots), best[1],
              name(ElementType::kFp16, base), best[1] / best[0]);
}

}  // namespace

int main() {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t head_dim : {64, 128}) {
      for (const std::int64_t group : {1, 4, 7}) {
        if (!run(type, head_dim, group, 65536)) return 1;  // 16 to 64 MiB: past the caches
      }
    }
  }
  for (const std::int64_t head_dim : {64, 128}) {
    for (const std::int64_t group : {1, 4, 7}) {
      for (const DecodeCase::Rows rows : {DecodeCase::Rows::kNarrow, DecodeCase::Rows::kFour}) {
        if (!run(ElementType::kFp32, head_dim, group, 65536, rows)) return 1;
        for (const std::int64_t slots : {2048, 16384}) compare(head_dim, group, slots, rows, DecodeCase::Rows::kWide);
      }
      for (const DecodeCase::Rows rows : {DecodeCase::Rows::kUnbiasedFew, DecodeCase::Rows::kUnbiased}) {
        if (!run(ElementType::kFp32, head_dim, group, 65536, rows)) return 1;
        for (const std::int64_t slots : {2048, 16384}) compare(head_dim, group, slots, rows, DecodeCase::Rows::kNarrow);
      }
    }
  }
  return run(ElementType::kBf16, 128, 7, 2048) ? 0 : 1;  // a compressed cache: fits the second-level cache
}
