// Stop and Cancel for one request.
//
// The requester makes one InterruptSource per request before queueing it and never resets it; a source may have a parent (the
// application's shutdown is the parent of all). Workers poll the token per decode step, prefill tile, video frame and weight shard.
// Stop keeps the partial answer and its cache; Cancel restores the state before the request. Both are outcomes, not errors.
// Threads: request_*() and state() may be called from any thread.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

namespace winnow {

enum class Interrupt : int { kNone = 0, kStop = 1, kCancel = 2 };

// Thrown out of nested work when an interrupt was seen; caught where the request is handled.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(Interrupt kind) : kind_(kind) {}
  Interrupt kind() const noexcept { return kind_; }
  const char* what() const noexcept override { return "interrupted"; }

 private:
  Interrupt kind_;
};

class InterruptToken {
 public:
  InterruptToken() = default;  // never interrupted
  Interrupt state() const noexcept {
    Interrupt strongest = Interrupt::kNone;
    for (const Node* node = node_.get(); node != nullptr; node = node->parent.get()) {
      const Interrupt here = node->state.load(std::memory_order_acquire);
      if (static_cast<int>(here) > static_cast<int>(strongest)) strongest = here;
    }
    return strongest;
  }
  bool requested() const noexcept { return state() != Interrupt::kNone; }
  void throw_if_requested() const {
    const Interrupt kind = state();
    if (kind != Interrupt::kNone) throw Interrupted(kind);
  }

 private:
  friend class InterruptSource;
  struct Node {
    std::atomic<Interrupt> state{Interrupt::kNone};
    std::shared_ptr<const Node> parent;  // shared: a token may outlive its source
  };
  explicit InterruptToken(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

class InterruptSource {
 public:
  InterruptSource() : node_(std::make_shared<InterruptToken::Node>()) {}
  explicit InterruptSource(const InterruptToken& parent) : InterruptSource() { node_->parent = parent.node_; }
  void request_stop() noexcept { raise(Interrupt::kStop); }
  void request_cancel() noexcept { raise(Interrupt::kCancel); }
  InterruptToken token() const { return InterruptToken(node_); }

 private:
  void raise(Interrupt kind) noexcept {
    Interrupt seen = node_->state.load(std::memory_order_relaxed);
    while (static_cast<int>(seen) < static_cast<int>(kind) && !node_->state.compare_exchange_weak(seen, kind, std::memory_order_release)) {
    }
  }
  std::shared_ptr<InterruptToken::Node> node_;
};

}  // namespace winnow
