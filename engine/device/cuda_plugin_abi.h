// The interface of the CUDA plug-in (engine/cuda_plugin, libwinnow_cuda.so): plain functions behind one exported symbol, in a versioned
// table.
//
// Included by both sides; no torch, no CUDA. Functions throw nothing, run on device 0 and on libtorch's current stream, and return 0 or a
// kernels::LaunchStatus. Any change of this file, or of the argument structures it names, takes a new kCudaPluginAbi: program and plug-in
// of different versions must refuse each other (tests/structure/cuda_abi_test.cpp holds a hash of them).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/append_slots.h"
#include "kernels/api/cuda_block_gemv.h"
#include "kernels/api/cuda_change_slots.h"
#include "kernels/api/cuda_column_sums.h"
#include "kernels/api/cuda_cross_modal_entropy.h"
#include "kernels/api/cuda_decode_attention.h"
#include "kernels/api/cuda_dequantise_rows.h"
#include "kernels/api/cuda_gemv.h"
#include "kernels/api/cuda_merge_rows.h"
#include "kernels/api/cuda_nearest_rows.h"
#include "kernels/api/cuda_nearest_slots.h"
#include "kernels/api/cuda_rotate_append.h"
#include "kernels/api/cuda_row_sparsity.h"
#include "kernels/api/cuda_shared_attention.h"
#include "kernels/api/cuda_unit_keys.h"
#include "kernels/api/gated_activation.h"
#include "kernels/api/gather_slots.h"
#include "kernels/api/rms_norm.h"
#include "kernels/api/rotary.h"
#include "kernels/api/sample_token.h"

namespace winnow {

inline constexpr std::uint32_t kCudaPluginAbi = 10;
inline constexpr const char* kCudaPluginSymbol = "winnow_cuda_plugin";

struct CudaDeviceRecord {
  char name[256];
  std::uint64_t total_bytes;
  std::uint64_t free_bytes;
  std::int32_t compute_major;
  std::int32_t compute_minor;
  std::int32_t multiprocessors;
};

struct CudaPluginTable {
  std::uint32_t abi;  // stays the first field in all versions
  // TORCH_VERSION that the plug-in was compiled against; must be the program's.
  const char* torch_version;
  // Starts the device and describes it. On failure returns 1 and fills `reason` with a clause for people.
  int (*start)(CudaDeviceRecord* device, char* reason, std::size_t reason_bytes);
  int (*decode_attention)(const kernels::CudaDecodeAttentionArgs* args);
  int (*append_slots)(const kernels::AppendSlotsArgs* args);
  // Waits until everything launched so far is done; what failed since then is the failure of this call.
  int (*synchronize)(char* reason, std::size_t reason_bytes);
  int (*block_gemv)(const kernels::CudaBlockGemvArgs* args);
  int (*dequantise_rows)(const kernels::CudaDequantiseRowsArgs* args);
  int (*gated_activation)(const kernels::GatedActivationArgs* args);
  int (*rms_norm)(const kernels::RmsNormArgs* args);
  int (*rotary)(const kernels::RotaryArgs* args);
  int (*sample_token)(const kernels::SampleTokenArgs* args);
  int (*gather_slots)(const kernels::GatherSlotsArgs* args);
  int (*column_sums)(const kernels::CudaColumnSumsArgs* args);
  int (*row_maxima)(const kernels::CudaRowMaximaArgs* args);
  int (*count_below)(const kernels::CudaCountBelowArgs* args);
  int (*cross_modal_entropy)(const kernels::CudaCrossModalArgs* args);
  int (*shared_attention)(const kernels::CudaSharedAttentionArgs* args);
  int (*nearest_rows)(const kernels::CudaNearestRowsArgs* args);
  int (*merge_rows)(const kernels::CudaMergeRowsArgs* args);
  int (*gemv)(const kernels::CudaGemvArgs* args);
  int (*change_slots)(const kernels::CudaChangeSlotsArgs* args);
  int (*nearest_slots)(const kernels::CudaNearestSlotsArgs* args);
  int (*rotate_append)(const kernels::CudaRotateAppendArgs* args);
  int (*unit_keys)(const kernels::CudaUnitKeysArgs* args);
  // Calls body(context) once and records what it launches, without running it; body returns 0, or anything else to give up. What libtorch
  // allocates meanwhile belongs to the recording. On failure returns 1 and fills `reason`. context lives until forget().
  int (*record)(int (*body)(void* context), void* context, void** recording, char* reason, std::size_t reason_bytes);
  // Launches what was recorded; 0 or a kernels::LaunchStatus.
  int (*replay)(void* recording);
  void (*forget)(void* recording);
};

// extern "C" const CudaPluginTable* winnow_cuda_plugin();
using CudaPluginEntry = const CudaPluginTable* (*)();

}  // namespace winnow
