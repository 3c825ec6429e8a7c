// Owns an object of a class hierarchy and clones it when the owner is copied. May be null.
#pragma once

#include <memory>
#include <utility>

namespace winnow {

// T has `std::unique_ptr<T> clone() const`.
template <typename T>
class ClonePtr {
 public:
  ClonePtr() = default;
  ClonePtr(std::unique_ptr<T> object) : object_(std::move(object)) {}
  ClonePtr(const ClonePtr& other) : object_(other.object_ ? other.object_->clone() : nullptr) {}
  ClonePtr(ClonePtr&&) noexcept = default;
  ClonePtr& operator=(ClonePtr other) noexcept {
    object_ = std::move(other.object_);
    return *this;
  }
  ~ClonePtr() = default;

  explicit operator bool() const { return object_ != nullptr; }
  T* get() const { return object_.get(); }
  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }

 private:
  std::unique_ptr<T> object_;
};

}  // namespace winnow
