#include "engine/compression/methods/registry.h"

#include "engine/compression/methods/full.h"
#include "engine/compression/methods/local_window.h"
#include "engine/compression/methods/random.h"
#include "engine/compression/methods/snapkv.h"
#include "engine/compression/methods/streaming_llm.h"
#include "engine/compression/methods/vl_cache.h"

namespace winnow {

namespace {

constexpr MethodEntry kMethods[] = {
    {"full", full_info, [](std::uint64_t) { return compose_full(); }},
    {"vl-cache", vl_cache_info, [](std::uint64_t) { return compose_vl_cache(); }},
    {"snapkv", snapkv_info, [](std::uint64_t) { return compose_snapkv(); }},
    {"streaming-llm", streaming_llm_info, [](std::uint64_t) { return compose_streaming_llm(); }},
    {"local-window", local_window_info, [](std::uint64_t) { return compose_local_window(); }},
    {"random", random_info, [](std::uint64_t seed) { return compose_random({seed, false}); }},
};

}  // namespace

std::span<const MethodEntry> method_registry() { return kMethods; }

}  // namespace winnow
