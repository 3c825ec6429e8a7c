// Memory that the CUDA operators of a test or a benchmark reach (tests/kernels/cuda/runner.h), and a decode attention problem copied into
// it. Every failure is a std::runtime_error; a write behind the memory fails the test.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/ragged_decode_case.h"

namespace winnow::kernels::testing {

class DeviceMemory {
 public:
  template <class T>
  explicit DeviceMemory(const std::vector<T>& host)
      : size_(host.size() * sizeof(T)), data_(static_cast<std::byte*>(allocate_for_runner(size_ + kGuard.size()))) {
    write_to_runner(data_, host.data(), size_);
    write_to_runner(data_ + size_, kGuard.data(), kGuard.size());
  }
  DeviceMemory(DeviceMemory&& other) noexcept : size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory() {
    if (data_ == nullptr) return;
    expect_guard();
    release_from_runner(data_);
  }

  std::byte* bytes() const { return data_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  // Waits for the device.
  template <class T>
  std::vector<T> copy() const {
    std::vector<T> host(size_ / sizeof(T));
    read_from_runner(host.data(), data_, size_);
    return host;
  }

 private:
  static constexpr std::array<unsigned char, 16> kGuard = {0xC5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xC5};

  void expect_guard() const noexcept {
    try {
      std::array<unsigned char, kGuard.size()> found = {};
      read_from_runner(found.data(), data_ + size_, found.size());
      EXPECT_EQ(found, kGuard) << "written behind " << size_ << " bytes";
    } catch (const std::exception& lost) {
      ADD_FAILURE() << lost.what();
    }
  }

  std::size_t size_;
  std::byte* data_;
};

class DeviceDecode {
 public:
  DeviceDecode(const RaggedDecodeCase& problem, std::int64_t parts, bool probabilities)
      : query_(problem.query),
        output_(std::vector<std::byte>(problem.query.size(), std::byte{0x7F})),
        log_sum_exp_(std::vector<float>(problem.query_heads(), -7.0F)),
        workspace_(std::vector<float>(static_cast<std::size_t>(
            cuda_decode_workspace(static_cast<std::int64_t>(problem.slots.size()), problem.group, problem.head_dim, parts)))),
        probabilities_(
            std::vector<float>(probabilities ? problem.query_heads() * static_cast<std::size_t>(problem.probability_stride()) : 0, -7.0F)),
        key_table_(upload(problem, problem.key_blocks)),
        value_table_(upload(problem, problem.value_blocks)),
        args_(problem.args(parts)) {
    args_.query = query_.bytes();
    args_.output = output_.bytes();
    args_.key_blocks = key_table_.as<const void* const>();
    args_.value_blocks = value_table_.as<const void* const>();
    args_.log_sum_exp = log_sum_exp_.as<float>();
    args_.workspace = workspace_.as<float>();
    if (probabilities) {
      args_.probabilities = probabilities_.as<float>();
      args_.probability_stride = problem.probability_stride();
    }
  }

  const CudaDecodeAttentionArgs& args() const { return args_; }
  RaggedDecodeCase::Result result() const { return {output_.copy<std::byte>(), log_sum_exp_.copy<float>(), probabilities_.copy<float>()}; }

 private:
  // The blocks, and the table of where they are now.
  DeviceMemory upload(const RaggedDecodeCase& problem, const std::vector<const void*>& host_table) {
    std::vector<const std::byte*> table;
    for (const void* block : host_table) {
      if (block == nullptr) {
        table.push_back(nullptr);
        continue;
      }
      const auto* const bytes = static_cast<const std::byte*>(block);
      blocks_.emplace_back(std::vector<std::byte>(bytes, bytes + problem.block_bytes()));
      table.push_back(blocks_.back().bytes());
    }
    return DeviceMemory(table);
  }

  std::vector<DeviceMemory> blocks_;
  DeviceMemory query_, output_, log_sum_exp_, workspace_, probabilities_, key_table_, value_table_;
  CudaDecodeAttentionArgs args_;
};

}  // namespace winnow::kernels::testing
