// The first CUDA device.
#include <cuda_runtime_api.h>

#include <stdexcept>

#include "tests/kernels/cuda/runner.h"

namespace winnow::kernels::testing {
namespace {

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

}  // namespace

bool runs_on_card() { return true; }

std::string why_no_runner() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  return error != cudaSuccess || devices < 1 ? std::string("no CUDA device: ") + cudaGetErrorString(error) : std::string();
}

void* allocate_for_runner(std::size_t bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, bytes));
  return memory;
}
void release_from_runner(void* memory) noexcept { cudaFree(memory); }
void write_to_runner(void* to, const void* from, std::size_t bytes) { require(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice)); }
void read_from_runner(void* to, const void* from, std::size_t bytes) { require(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost)); }

}  // namespace winnow::kernels::testing
