#include "engine/api/engine.h"

#include <ATen/ATen.h>

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/free_memory.h"
#include "engine/device/processor.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/reading/prepared_turn.h"
#include "engine/generation/requests/conversation_file.h"
#include "engine/generation/requests/export_turn.h"
#include "engine/generation/requests/plan_turn.h"
#include "engine/generation/requests/run_comparison.h"
#include "engine/generation/requests/run_prepare.h"
#include "engine/generation/requests/run_score.h"
#include "engine/generation/requests/run_tokenize.h"
#include "engine/generation/requests/run_turn.h"
#include "engine/generation/requests/run_watch.h"
#include "engine/generation/requests/transcriber.h"
#include "engine/generation/requests/turns_together.h"
#include "engine/layers/row_elements.h"
#include "engine/messages/interrupted.h"
#include "engine/text/text_bounds.h"

namespace winnow {
namespace {

// libtorch appends where in its sources it happened.
std::string first_line(const c10::Error& problem) {
  const std::string_view text(problem.what_without_backtrace());
  return std::string(text.substr(0, text.find('\n')));
}

// The error of the exception that is being handled.
Error torch_error() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    return {ErrorCode::kOutOfMemory, "", "the device has not enough memory for this request"};
  } catch (const c10::AcceleratorError& problem) {
    return {ErrorCode::kDeviceFailed, "", first_line(problem)};
  } catch (const c10::Error& problem) {
    // The CPU allocator reports exhaustion as a plain error.
    const bool memory = std::string_view(problem.what_without_backtrace()).find("can't allocate memory") != std::string_view::npos;
    if (memory) return {ErrorCode::kOutOfMemory, "", "this machine has not enough memory for this request"};
    return {ErrorCode::kInternal, "", problem.what_without_backtrace()};
  } catch (...) {
    Error error = current_error();
    // oneDNN says no more when it has no memory for its code, and its thread can make none from then on: the process is to be ended.
    if (error.code == ErrorCode::kInternal && error.reason == "could not create a primitive") error.code = ErrorCode::kEngineOutOfMemory;
    return error;
  }
}

// Libraries beside libtorch's own kernels (cuBLAS) report a device that has failed as an error of their own; the device itself knows.
Error device_error_behind(Error error) {
  if (error.code != ErrorCode::kInternal) return error;
  try {
    synchronize_device();
  } catch (const Exception& failure) {
    return failure.error();
  }
  return error;
}

class LocalEngine : public Engine {
 public:
  LocalEngine(MediaOpener* opener, SpeedMemory* speeds) : opener_(opener), speeds_(speeds) { set_default_threads(); }

  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override {
    NobodyWaits nobody;
    handle_together(request, sink, interrupt, nobody);
  }

  void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) override {
    const c10::InferenceMode inference;
    TurnsTogether turns([this](const RequestContext& of, const auto& work) { answer(of.emit, of.interrupt, work); });
    begin(request, sink, interrupt, turns);
    std::optional<RequestId> too_large;  // beside those that run
    while (turns.size() > 0) {
      const std::size_t running = turns.size();
      while (const auto next = waiting.next([&](const Request& head) { return may_join(head, turns, too_large); }))
        begin(next->request, *next->sink, next->interrupt, turns);
      turns.step();
      if (turns.size() < running) too_large.reset();
    }
  }

 private:
  // A turn joins the others; anything else is answered at once.
  void begin(const Request& request, EventSink& sink, const InterruptToken& interrupt, TurnsTogether& turns) {
    const EmitEvent emit(sink, request.id);
    const bool apart = std::holds_alternative<LoadModel>(request.body) || std::holds_alternative<Transcribe>(request.body);
    answer(
        emit, interrupt,
        [&]() -> std::optional<EventBody> {
          return std::visit(
              [&]<class Body>(const Body& body) -> std::optional<EventBody> {
                if constexpr (!std::is_same_v<Body, Turn>) return run(body, emit, interrupt);
                if constexpr (std::is_same_v<Body, Turn>) turns.begin(context(emit, interrupt), body, states_for(body));
                return std::nullopt;
              },
              request.body);
        },
        apart ? MayBlame::kNothing : MayBlame::kModel);
  }

  enum class MayBlame : int { kNothing = 1, kModel = 2 };  // the one that is loaded, whose files may have changed

  // Emits what the work returns, or what it has failed with.
  void answer(const EmitEvent& emit, const InterruptToken& interrupt, const std::function<std::optional<EventBody>()>& work,
              MayBlame blame = MayBlame::kModel) {
    try {
      const TextBounds bounds(interrupt);
      std::optional<EventBody> result = work();
      if (!result) return;
      if (model_) model_->require_unchanged();  // what was computed is the model's
      const auto* finished = std::get_if<Finished>(&*result);
      const bool measured = finished != nullptr ? !finished->restored : std::holds_alternative<Prepared>(*result);
      if (measured && speeds_ != nullptr) speeds_->keep(speed_key(model_->network->info()), model_->speed);
      emit(*std::move(result));
    } catch (const Interrupted& interrupted) {
      emit(interrupted_and_restored());
    } catch (...) {
      Error error = device_error_behind(torch_error());
      if (blame == MayBlame::kModel) error = cause_of(std::move(error));
      // Scores that are no numbers are the model's fault: say which model.
      if (model_ && error.code == ErrorCode::kNumericFailure) error.subject = model_->network->info().folder;
      emit(Failed{std::move(error)});
    }
  }

  // A turn joins those that run while a step has room, and memory for what it takes and what they may still come to.
  bool may_join(const Request& request, const TurnsTogether& turns, std::optional<RequestId>& too_large) {
    if (!may_join_others(request.body) || turns.holds(conversation_of(request.body))) return false;
    const auto* turn = std::get_if<Turn>(&request.body);
    if (turn == nullptr) return true;
    if (turns.size() >= kFewRows || too_large == request.id) return false;
    try {
      const Planned planned = plan_turn(context(EmitEvent(unheard_, request.id), {}), *turn, known(turn->conversation));
      const bool fits = planned.free_bytes == 0 || planned.peak_bytes + turns.bytes_to_come() <= planned.free_bytes;
      if (!fits || !planned.fits_memory) too_large = request.id;
    } catch (...) {  // it will say so itself
    }
    return too_large != request.id;
  }

  // Each answers with the event that ends its request, if one does.
  std::optional<EventBody> run(const LoadModel& load, const EmitEvent& emit, const InterruptToken& interrupt) {
    LoadHooks hooks;
    hooks.progress = [&](std::uint64_t done, std::uint64_t total) { emit(Progress{Phase::kLoadWeights, done, total}); };
    hooks.make_room = [&](std::uint64_t bytes, MemoryOf memory) { make_room(load.folder, bytes, memory, emit); };
    transcriber_.forget();
    std::unique_ptr<LoadedModel> loaded = load_folder(load, hooks, interrupt);
    conversations_.clear();  // caches of another model are of no use
    model_ = std::move(loaded);
    if (speeds_ != nullptr) model_->speed = speeds_->recall(speed_key(model_->network->info()));
    return ModelLoaded{model_info(*model_)};
  }

  std::optional<EventBody> run(const ExportTurn& request, const EmitEvent& emit, const InterruptToken& interrupt) {
    TurnTrace trace{.wanted = request.logits == ExportLogits::kAllPositions ? TraceLogits::kAllPositions : TraceLogits::kLastPosition};
    ConversationStates states;  // an export starts from nothing and leaves nothing behind
    RequestContext traced = context(emit, interrupt);
    traced.trace = &trace;
    Finished finished = run_turn(traced, request.turn, states);
    if (!finished.restored) write_turn_trace(request.path, trace);
    return finished;
  }

  std::optional<EventBody> run(const Compare& compare, const EmitEvent& emit, const InterruptToken& interrupt) {
    for (const RecipeSpec& recipe : compare.recipes) states_for(column_turn(compare, recipe));
    return run_comparison(context(emit, interrupt), compare, conversations_[compare.conversation]);
  }

  std::optional<EventBody> run(const Score& score, const EmitEvent& emit, const InterruptToken& interrupt) {
    return run_score(context(emit, interrupt), score, known(score.turn.conversation));
  }

  std::optional<EventBody> run(const Plan& plan, const EmitEvent& emit, const InterruptToken& interrupt) {
    return plan_turn(context(emit, interrupt), plan.turn, known(plan.turn.conversation));
  }

  std::optional<EventBody> run(const Prepare& prepare, const EmitEvent& emit, const InterruptToken& interrupt) {
    return run_prepare(context(emit, interrupt), prepare.turn, conversations_[prepare.turn.conversation]);
  }

  std::optional<EventBody> run(const WatchClip& clip, const EmitEvent& emit, const InterruptToken& interrupt) {
    return run_watch(context(emit, interrupt), clip, conversations_[clip.turn.conversation]);
  }

  std::optional<EventBody> run(const SaveConversation& save, const EmitEvent& emit, const InterruptToken& /*interrupt*/) {
    if (model_) model_->require_unchanged();  // nothing is kept of what another program's bytes made
    return Saved{write_conversation(save.path, save.model, known(save.conversation), save.most_bytes)};
  }

  std::optional<EventBody> run(const LoadConversation& load, const EmitEvent& emit, const InterruptToken& interrupt) {
    ConversationStates states = read_conversation(context(emit, interrupt), load.path, load.model);
    Restored restored{.kv_bytes = bytes_kept(states)};
    if (states.current) {
      restored.thread = states.current->thread;
      restored.pins = states.current->pins;
      if (!states.current->makers.empty()) restored.recipe = states.current->makers.back().recipe;
      restored.prompt = states.current->settings;
    }
    if (states.prepared) {
      restored.prepared = media_thread(*states.prepared);
      restored.recipe = states.prepared->recipe;
      restored.pins = states.prepared->state.pins;
      restored.prompt = states.prepared->state.settings;
    }
    conversations_.insert_or_assign(load.conversation, std::move(states));
    return restored;
  }

  std::optional<EventBody> run(const ForgetConversation& forget, const EmitEvent& /*emit*/, const InterruptToken& /*interrupt*/) {
    conversations_.erase(forget.conversation);
    return std::nullopt;
  }

  std::optional<EventBody> run(const Tokenize& tokenize, const EmitEvent& emit, const InterruptToken& interrupt) {
    return run_tokenize(context(emit, interrupt).model, tokenize, interrupt);
  }

  std::optional<EventBody> run(const Detokenize& detokenize, const EmitEvent& emit, const InterruptToken& interrupt) {
    return run_detokenize(context(emit, interrupt).model, detokenize);
  }

  std::optional<EventBody> run(const Transcribe& transcribe, const EmitEvent& emit, const InterruptToken& interrupt) {
    return transcriber_.run(transcribe, opener_, emit, interrupt);
  }

  // The states that a turn continues from. A new conversation takes over what was prepared for it when it had no name yet.
  ConversationStates& states_for(const Turn& turn) {
    require_question(turn.messages);
    ConversationStates& states = conversations_[turn.conversation];
    const auto draft = conversations_.find(kDraftConversation);
    if (!model_ || draft == conversations_.end() || turn.conversation == kDraftConversation) return states;
    const Turn run = as_run(turn);
    if (std::holds_alternative<FromNothing>(start_of(states, run, *model_)) &&
        std::holds_alternative<FromPrepared>(start_of(draft->second, run, *model_))) {
      states.prepared = std::exchange(draft->second.prepared, std::nullopt);
      states.watched = std::exchange(draft->second.watched, std::nullopt);
    }
    return states;
  }

  // If both do not fit, the earlier model goes first, with what was read by it; where that is not enough, it stays.
  void make_room(const std::string& folder, std::uint64_t bytes, MemoryOf memory, const EmitEvent& emit) {
    const bool in_the_way = model_ && (model_->network->info().device == "cpu") == (memory == MemoryOf::kMachine);
    const std::uint64_t held = in_the_way ? static_cast<std::uint64_t>(model_->network->info().weight_bytes) : 0;
    if (room_for_model(bytes, static_cast<std::uint64_t>(free_memory_bytes(memory)), held, folder) == ModelRoom::kBoth) return;
    conversations_.clear();
    if (!model_) return;
    model_.reset();
    emit(ModelUnloaded{});
  }

  // Weights that another program changed are why a request failed, whatever it stumbled over.
  Error cause_of(Error error) const {
    try {
      if (model_) model_->require_unchanged();
    } catch (const Exception& changed) {
      return changed.error();
    }
    return error;
  }

  // The states kept of a conversation; nothing for one that is new.
  const ConversationStates& known(ConversationId conversation) const {
    const auto found = conversations_.find(conversation);
    return found == conversations_.end() ? nothing_ : found->second;
  }

  RequestContext context(const EmitEvent& emit, const InterruptToken& interrupt) {
    if (!model_) throw Exception(ErrorCode::kInvalidArgument, "", "no model is loaded");
    model_->require_unchanged();
    return {*model_, opener_, emit, interrupt};
  }

  MediaOpener* opener_;  // both outlive the engine
  SpeedMemory* speeds_;
  std::unique_ptr<LoadedModel> model_;
  Transcriber transcriber_;
  std::map<ConversationId, ConversationStates> conversations_;
  const ConversationStates nothing_;
  class Unheard final : public EventSink {
    void on_event(Event /*event*/) override {}
  } unheard_;  // of plans that nobody has asked for
};

}  // namespace

std::unique_ptr<Engine> make_engine(MediaOpener* opener, SpeedMemory* speeds) { return std::make_unique<LocalEngine>(opener, speeds); }

}  // namespace winnow
