// Stop and Cancel for one request.
//
// The requester makes one InterruptSource per request before queueing it and never resets it; a source may have a parent (the
// application's shutdown is the parent of all). Workers ask the token per decode step, prefill tile, video frame and weight shard; whoever
// waits for something else waits for its descriptors, too.
// Stop keeps the partial answer and its cache; Cancel restores the state before the request. Both are outcomes, not errors.
// Threads: any. request_*() may be called by a signal's handler.
#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

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
  // For poll(): one of them is readable, and stays so, once state() > beyond. They live as long as the token and must not be read from.
  // Empty where the state is the last one, or can never be raised. Exception (kInternal) where the system has no descriptors left.
  std::vector<int> descriptors(Interrupt beyond = Interrupt::kNone) const;

 private:
  friend class InterruptSource;
  struct Node {
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node();
    void raise(Interrupt kind) noexcept;
    int descriptor(Interrupt from) const;

    std::atomic<Interrupt> state{Interrupt::kNone};
    std::shared_ptr<const Node> parent;                           // shared: a token may outlive its source
    mutable std::array<std::atomic<int>, 2> descriptors{-1, -1};  // readable from kStop and from kCancel on; -1: nobody has asked for it
  };
  explicit InterruptToken(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

class InterruptSource {
 public:
  InterruptSource() : node_(std::make_shared<InterruptToken::Node>()) {}
  explicit InterruptSource(const InterruptToken& parent) : InterruptSource() { node_->parent = parent.node_; }
  void request_stop() noexcept { node_->raise(Interrupt::kStop); }
  void request_cancel() noexcept { node_->raise(Interrupt::kCancel); }
  InterruptToken token() const { return InterruptToken(node_); }

 private:
  std::shared_ptr<InterruptToken::Node> node_;
};

}  // namespace winnow
