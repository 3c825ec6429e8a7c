#include "engine/generation/requests/conversation_file.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/fnv.h"
#include "engine/generation/context/cache_shape.h"
#include "engine/generation/requests/conversation_json.h"
#include "engine/kv_cache/narrow_rows.h"
#include "engine/weights/safetensors.h"
#include "engine/weights/safetensors_writer.h"

namespace winnow {
namespace {

// 1: without positions; 2: without the kinds of media; 3: without how rows are stored; 4: without 16 bits; 5: without makers;
// 6: keys of 8 bits with their bias; 7: without all of it; 8: without states of layers that have no slots; 9: without 4 bits
constexpr int kFormat = 10;
constexpr std::uint64_t kMostJson = std::uint64_t{64} << 20;
constexpr std::int64_t kOriginFields = 5;  // modality, media, frame, row, column

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// The file does not hold the work that a policy or an event still has to do on the slots.
bool can_be_kept(const Conversation& conversation) {
  if (conversation.decode_policy || !conversation.merge_state.thresholds.empty() || !conversation.merge_state.merged.empty()) return false;
  for (LayerId layer{0}; layer < conversation.cache.shape().layers; ++layer) {
    if (conversation.cache.has_shared_entries(layer)) return false;
  }
  return true;
}

at::Tensor bytes_tensor(const std::string& text) {
  at::Tensor bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  std::copy(text.begin(), text.end(), bytes.data_ptr<std::uint8_t>());
  return bytes;
}

template <class Number>
at::Tensor numbers_tensor(const std::vector<Number>& numbers, at::ScalarType type) {
  return at::tensor(std::vector<std::int64_t>(numbers.begin(), numbers.end()), at::kLong).to(type);
}

std::uint64_t hash_of(const at::Tensor& tensor, std::uint64_t before) {
  return fnv1a({static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()}, before);
}

// Rows are written as the cache stores them: rounding what was read of it finds the same numbers, codes and scales.
void add_rows(NamedTensors& tensors, const std::string& name, const at::Tensor& rows, const KvShape& shape) {
  const std::optional<RowCodes> form = shape.row_codes();
  if (!form) {
    tensors.emplace_back(name, rows.to(shape.row_type()));
    return;
  }
  NarrowRows narrow = narrowed(rows, *form);
  tensors.emplace_back(name, std::move(narrow.codes));
  tensors.emplace_back(name + ".scales", std::move(narrow.scales));
}

// Indices of the rows of wide blocks among those of a layer's heads, one after the other (KvShape::wide_ends).
at::Tensor wide_rows(const KvShape& shape, const std::vector<std::int64_t>& slots) {
  std::vector<std::int64_t> rows;
  std::int64_t first = 0;
  for (const std::int64_t count : slots) {
    for (std::int64_t slot = 0; slot < count; ++slot) {
      if (shape.makes_wide(slot / KvCache::kBlockSlots, KvCache::blocks_for(count))) rows.push_back(first + slot);
    }
    first += count;
  }
  return at::tensor(rows, at::kLong);
}

// The slots of every layer, its states, and the slots of layers beside it.
void add_slots(NamedTensors& tensors, const std::string& name, const KvCache& cache) {
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    std::vector<at::Tensor> keys;
    std::vector<at::Tensor> values;
    std::vector<at::Tensor> rotated_by;
    std::vector<std::int32_t> originals;
    std::vector<std::int64_t> slots;
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
      const SlotRows rows = StoredSlots::read(cache, layer, head);
      keys.push_back(rows.keys);
      values.push_back(rows.values);
      if (rows.positions.defined()) rotated_by.push_back(rows.positions);
      const std::span<const std::int32_t> original = cache.original(layer, head);
      originals.insert(originals.end(), original.begin(), original.end());
      slots.push_back(cache.slots(layer, head));
    }
    const std::string of_layer = name + ".layer." + std::to_string(static_cast<std::int64_t>(layer));
    tensors.emplace_back(of_layer + ".slots", numbers_tensor(slots, at::kLong));
    tensors.emplace_back(of_layer + ".original", numbers_tensor(originals, at::kInt));
    const at::Tensor wide = wide_rows(cache.shape(), slots);
    for (const auto& [part, of_heads] : {std::pair(".keys", &keys), std::pair(".values", &values)}) {
      const at::Tensor rows = at::cat(*of_heads).cpu().contiguous();
      add_rows(tensors, of_layer + part, rows, cache.shape());
      if (cache.shape().wide_ends)
        tensors.emplace_back(of_layer + part + ".wide", rows.index_select(0, wide).to(cache.shape().wide_type()));
    }
    if (!rotated_by.empty()) tensors.emplace_back(of_layer + ".key_positions", at::cat(rotated_by, 1).to(at::kInt));
    const LayerStates& states = cache.states();
    for (std::int64_t which = 0; which < states.of_layer(layer); ++which) {
      const LayerState* const state = states.state(layer, which);
      require(state != nullptr, "a conversation that is kept has read something");
      const std::string of_state = of_layer + ".state." + std::to_string(which);
      tensors.emplace_back(of_state + ".recent", state->recent.cpu().contiguous());
      tensors.emplace_back(of_state + ".memory", state->memory.cpu().contiguous());
    }
  }
  if (const KvCache* const sliding = cache.sliding()) add_slots(tensors, name + ".sliding", *sliding);
}

void add_state(NamedTensors& tensors, const std::string& name, const Conversation& conversation) {
  std::vector<std::int32_t> origins;
  for (const TokenOrigin& origin : conversation.origins) {
    origins.insert(origins.end(), {static_cast<std::int32_t>(origin.modality), origin.media, origin.frame, origin.row, origin.column});
  }
  tensors.emplace_back(name + ".origins", numbers_tensor(origins, at::kInt).view({-1, kOriginFields}));
  tensors.emplace_back(name + ".token_ids", numbers_tensor(conversation.token_ids, at::kLong));
  tensors.emplace_back(name + ".positions", conversation.positions.slice(0, conversation.positions.size()).to(at::kInt));
  tensors.emplace_back(name + ".pinned", numbers_tensor(conversation.pinned, at::kInt));
  add_slots(tensors, name, conversation.cache);
}

class Reader {
 public:
  Reader(const std::string& path, const VisionLanguageModel& network) : file_(path), network_(network) {}

  std::string text() {
    const StoredTensor& stored = file_.tensor("conversation");
    if (stored.type != StoredType::kU8 || stored.bytes() > kMostJson) refuse("conversation", "a text was expected");
    text_.resize(stored.bytes());
    file_.read(stored, 0, std::as_writable_bytes(std::span(text_)));
    return text_;
  }

  // In the order of add_state().
  void read_state(const std::string& name, Conversation& conversation) {
    const at::Tensor origins = tensor(name + ".origins", at::kInt, {-1, kOriginFields});
    const at::Tensor ids = tensor(name + ".token_ids", at::kLong, {origins.size(0)});
    const at::Tensor positions = tensor(name + ".positions", at::kInt, {conversation.positions.axes(), origins.size(0)});
    const at::Tensor pinned = tensor(name + ".pinned", at::kInt, {-1});
    const std::int64_t tokens = origins.size(0);
    for (std::int64_t i = 0; i < tokens; ++i) {
      const auto* row = origins.const_data_ptr<std::int32_t>() + i * kOriginFields;
      if (row[0] < static_cast<int>(Modality::kSystem) || row[0] > static_cast<int>(kLastModality)) refuse(name, "an unknown modality");
      conversation.origins.push_back(
          {static_cast<Modality>(row[0]), row[1], row[2], static_cast<std::int16_t>(row[3]), static_cast<std::int16_t>(row[4])});
    }
    conversation.token_ids = whole_numbers<std::int64_t>(name + ".token_ids", ids, network_.text().vocabulary());
    if (positions.numel() > 0 && positions.min().item<int>() < 0) refuse(name + ".positions", "a number out of its range");
    conversation.positions.append(positions);
    conversation.pinned = whole_numbers<std::int32_t>(name + ".pinned", pinned, tokens);
    read_slots(name, conversation.cache, tokens);
  }

  // After all of the states.
  void require_hash() {
    const std::uint64_t found = fnv1a(std::as_bytes(std::span(text_)), hash_);
    if (static_cast<std::uint64_t>(tensor("hash", at::kLong, {1}).item<std::int64_t>()) != found)
      refuse("hash", "it is that of other bytes than the file holds");
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& reason) const {
    throw Exception(ErrorCode::kDamagedFile, file_.path() + ": " + name, reason);
  }

 private:
  // The reverse of add_slots(). tokens: those that the conversation has seen.
  void read_slots(const std::string& name, KvCache& cache, std::int64_t tokens) {
    const KvShape& shape = cache.shape();
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      const std::string of_layer = name + ".layer." + std::to_string(static_cast<std::int64_t>(layer));
      const at::Tensor slots = tensor(of_layer + ".slots", at::kLong, {shape.kv_heads});
      const auto counts = whole_numbers<std::int64_t>(of_layer + ".slots", slots, tokens + 1);
      std::int64_t all = 0;
      for (const std::int64_t count : counts) all += count;
      const auto originals = whole_numbers<std::int32_t>(of_layer + ".original", tensor(of_layer + ".original", at::kInt, {all}), tokens);
      const at::Tensor wide = wide_rows(shape, counts);
      const at::Tensor keys = rows(of_layer + ".keys", all, shape, wide);
      const at::Tensor values = rows(of_layer + ".values", all, shape, wide);
      const std::vector<std::int64_t> by_axis = {shape.rotary.axes(), all};
      const at::Tensor rotated_by =
          shape.takes_bias(layer) ? tensor(of_layer + ".key_positions", at::kInt, by_axis).to(at::kLong) : at::Tensor();
      std::int64_t first = 0;
      for (KvHead head{0}; head < shape.kv_heads; ++head) {
        const std::int64_t count = counts[static_cast<std::size_t>(head)];
        cache.assign(layer, head, keys.narrow(0, first, count), values.narrow(0, first, count),
                     std::span(originals).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
        if (rotated_by.defined()) {
          StoredSlots::write(cache, layer, head, 0,
                             {keys.narrow(0, first, count), values.narrow(0, first, count), rotated_by.narrow(1, first, count)});
        }
        first += count;
      }
      read_layer_states(of_layer, layer, cache);
    }
    if (KvCache* const sliding = cache.sliding()) read_slots(name + ".sliding", *sliding, tokens);
  }

  void read_layer_states(const std::string& of_layer, LayerId layer, KvCache& cache) {
    const KvShape& shape = cache.shape();
    LayerStates& states = cache.states();
    for (std::int64_t which = 0; which < states.of_layer(layer); ++which) {
      const std::string of_state = of_layer + ".state." + std::to_string(which);
      LayerState& state = states.to_write(layer, which);
      state.recent.copy_(
          finite(of_state + ".recent", tensor(of_state + ".recent", shape.dtype, {shape.state.recent, shape.state.channels})));
      state.memory.copy_(finite(of_state + ".memory",
                                tensor(of_state + ".memory", at::kFloat, {shape.state.heads, shape.state.rows, shape.state.columns})));
    }
  }

  // -1 in shape: any. The file has been checked to hold as many bytes as it says.
  at::Tensor tensor(const std::string& name, at::ScalarType type, const std::vector<std::int64_t>& shape) {
    const StoredTensor& stored = file_.tensor(name);
    const bool fits = stored.shape.size() == shape.size() && std::equal(shape.begin(), shape.end(), stored.shape.begin(),
                                                                        [](std::int64_t a, std::int64_t b) { return a < 0 || a == b; });
    if (stored.type != stored_type(type) || !fits) refuse(name, "another type or shape was expected");
    at::Tensor read = at::empty(stored.shape, type);
    file_.read(stored, 0, {static_cast<std::byte*>(read.data_ptr()), read.nbytes()});
    hash_ = hash_of(read, hash_);
    return read;
  }

  // A hash is no signature: what would make every answer nonsense is told of the file, not later of the model.
  at::Tensor rows(const std::string& name, std::int64_t count, const KvShape& shape, const at::Tensor& wide) {
    at::Tensor read = stored_rows(name, count, shape);
    if (shape.wide_ends)
      read.index_copy_(0, wide, tensor(name + ".wide", shape.wide_type(), {wide.size(0), shape.head_dim}).to(read.scalar_type()));
    return finite(name, read).to(shape.device);
  }

  at::Tensor finite(const std::string& name, const at::Tensor& read) const {
    const at::Tensor squares = read.to(at::kFloat).square();  // what a product of two such values would be
    if (!at::isfinite(squares).all().item<bool>()) refuse(name, "a value that is not finite, or too large to compute with");
    return read;
  }

  at::Tensor stored_rows(const std::string& name, std::int64_t count, const KvShape& shape) {
    const std::optional<RowCodes> form = shape.row_codes();
    if (!form) return tensor(name, shape.row_type(), {count, shape.head_dim}).to(shape.dtype);
    const at::Tensor codes = tensor(name, at::kChar, {count, kernels::code_bytes(*form, shape.head_dim)});
    const at::Tensor scales = tensor(name + ".scales", scale_type(*form), {count, scales_of_row(*form, shape.head_dim)});
    return upcast({codes, scales}, *form, shape.head_dim, shape.exact_type());
  }

  template <class Number>
  std::vector<Number> whole_numbers(const std::string& name, const at::Tensor& tensor, std::int64_t end) const {
    const auto* first = tensor.const_data_ptr<Number>();
    std::vector<Number> numbers(first, first + tensor.numel());
    if (std::any_of(numbers.begin(), numbers.end(), [&](Number number) { return number < 0 || number >= end; }))
      refuse(name, "a number out of its range");
    return numbers;
  }

  static StoredType stored_type(at::ScalarType type) {
    switch (type) {
      case at::kFloat: return StoredType::kF32;
      case at::kBFloat16: return StoredType::kBF16;
      case at::kHalf: return StoredType::kF16;
      case at::kInt: return StoredType::kI32;
      case at::kChar: return StoredType::kI8;
      default: return StoredType::kI64;
    }
  }

  SafetensorsFile file_;
  const VisionLanguageModel& network_;
  std::string text_;
  std::uint64_t hash_ = kFnvStart;  // of what was read, in the order of the file
};

[[noreturn]] void refuse_outdated(const std::string& subject, const std::string& reason) {
  throw Exception(ErrorCode::kCacheOutdated, subject, reason);
}

// The cache does not need the file any more, but another one must not lie under its name.
void note_gone(const RequestContext& context, const MediaRequest& request) {
  MediaSampled gone;
  gone.path = request.path;
  gone.kind = request.kind;
  gone.plan = request.plan;
  gone.notices = {{NoticeCode::kFileGone}};
  context.emit(std::move(gone));
}

using ReadAs = std::tuple<std::string, std::string, std::string, int, int>;  // path, subtitles, encoding, first and last page

// The media that it has read, in order: those of its thread, and of a message to come. found: their names, so that no file is read twice;
// empty: it is not there.
void require_same_media(const RequestContext& context, const Conversation& conversation, std::span<const MediaSampled> to_come,
                        std::map<ReadAs, std::string>& found) {
  std::vector<MediaRequest> requests;
  for (const Message& message : conversation.thread) {
    for (const Item& item : message.items) {
      if (const auto* media = std::get_if<MediaItem>(&item)) requests.push_back(media->media);
    }
  }
  for (const MediaSampled& medium : to_come)
    requests.push_back({medium.path, medium.kind, medium.plan, 0, medium.subtitles, medium.encoding, {}, {}, medium.pages});
  if (requests.size() != conversation.media_hashes.size()) refuse_outdated("", "it names other media than it holds");
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto& [from, to] = requests[i].pages;
    const auto [entry, first] = found.try_emplace(ReadAs{requests[i].path, requests[i].subtitles, requests[i].encoding, from, to});
    std::string& name = entry->second;
    try {
      if (first && context.opener != nullptr) name = name_of_content(*context.opener->open(requests[i], context.interrupt));
    } catch (const Exception& problem) {
      if (problem.error().code == ErrorCode::kPasswordNeeded) throw;  // which says nothing against it
      const bool gone = problem.error().code == ErrorCode::kFileNotFound;
      if (!gone) refuse_outdated(problem.error().subject.empty() ? requests[i].path : problem.error().subject, problem.error().reason);
      note_gone(context, requests[i]);
    }
    const bool subtitles = !requests[i].subtitles.empty();
    if (!name.empty() && name != conversation.media_hashes[i])
      refuse_outdated(requests[i].path,
                      subtitles ? "the file or its subtitles have changed since they were read" : "the file has changed since it was read");
  }
}

std::int64_t bytes_of(const Conversation& conversation) { return conversation.cache.bytes_in_use() + bytes_beside(conversation.cache); }

}  // namespace

std::int64_t bytes_kept(const ConversationStates& states) {
  const bool current = states.current && can_be_kept(*states.current);
  const bool prepared = states.prepared && can_be_kept(states.prepared->state);
  return (current ? bytes_of(*states.current) : 0) + (prepared ? bytes_of(states.prepared->state) : 0);
}

std::int64_t write_conversation(const std::string& path, const std::string& model, const ConversationStates& states,
                                std::int64_t most_bytes) {
  // A watched source cannot be compared with what it was.
  if (states.watched) return 0;
  const Conversation* const current = states.current && can_be_kept(*states.current) ? &*states.current : nullptr;
  const PreparedContext* const prepared = states.prepared && can_be_kept(states.prepared->state) ? &*states.prepared : nullptr;
  const std::int64_t bytes = bytes_kept(states);
  if (bytes == 0 || bytes > most_bytes) return 0;

  NamedTensors tensors;
  Json about = {{"format", kFormat}, {"model", model}};
  if (current != nullptr) {
    about["current"] = conversation_json(*current);
    add_state(tensors, "current", *current);
  }
  if (prepared != nullptr) {
    about["prepared"] = prepared_json(*prepared);
    about["prepared"]["conversation"] = conversation_json(prepared->state);
    add_state(tensors, "prepared", prepared->state);
  }
  tensors.emplace_back("conversation", bytes_tensor(about.dump()));
  std::uint64_t hash = kFnvStart;
  for (const auto& [name, tensor] : tensors) hash = hash_of(tensor, hash);
  tensors.emplace_back("hash", at::tensor({static_cast<std::int64_t>(hash)}, at::kLong));
  write_safetensors(path, tensors);
  return bytes;
}

ConversationStates read_conversation(const RequestContext& context, const std::string& path, const std::string& model) {
  Reader reader(path, context.network());
  const Json parsed = parse_json(reader.text(), path, {.max_bytes = kMostJson});
  const JsonObject about(parsed, path);
  if (about.integer("format", 0, std::numeric_limits<int>::max()) != kFormat)
    refuse_outdated("", "what was kept was written by another version of the program");
  if (about.string("model", 4096) != model) refuse_outdated("", "what was kept was made with another model");
  // Stored otherwise than the file says, a state is refused by its tensors' types.
  const auto empty = [&](const JsonObject& state) {
    KvShape shape = context.network().text().kv_shape();
    shape.store_in(
        static_cast<KvStorage>(state.integer("kv_storage", static_cast<int>(KvStorage::kWide), static_cast<int>(KvStorage::kInt4))));
    if (shape.storage != KvStorage::kWide && !shape.device.is_cpu())
      refuse_outdated("", "what was kept is in fewer bits than the GPU reads");
    if (shape.storage == KvStorage::kHalf && shape.dtype != at::kFloat)
      refuse_outdated("", "what was kept is of arithmetic in 32 bits, and the model computes in 16 now");
    return Conversation(shape);
  };
  const fields::Path root{nullptr, path.c_str()};
  ConversationStates states;
  if (const auto current = about.optional_object("current")) {
    Conversation& state = states.current.emplace(empty(*current));
    read_conversation_json(about.value("current"), {&root, "current"}, state);
    reader.read_state("current", state);
  }
  if (const auto prepared = about.optional_object("prepared")) {
    const fields::Path at{&root, "prepared"};
    PreparedContext& context_read = states.prepared.emplace(empty(prepared->object("conversation")));
    read_conversation_json(prepared->value("conversation"), {&at, "conversation"}, context_read.state);
    reader.read_state("prepared", context_read.state);
    read_prepared_json(about.value("prepared"), at, context_read);
    if (storage_of(context.network(), context_read.recipe) != context_read.state.cache.shape().storage)
      reader.refuse("prepared", "its cache is stored otherwise than its recipe says");
  }
  reader.require_hash();
  std::map<ReadAs, std::string> found;
  if (states.current) require_same_media(context, *states.current, {}, found);
  if (states.prepared) require_same_media(context, states.prepared->state, states.prepared->media, found);
  return states;
}

}  // namespace winnow
