#include "engine/device/host_copies.h"

#include <cstdint>
#include <cstring>

#include "engine/base/error.h"

namespace winnow {

void HostCopies::add(const at::Tensor& tensor, at::ScalarType type, void* to) {
  require(tensor.scalar_type() == type && tensor.element_size() % sizeof(std::int32_t) == 0,
          "HostCopies: numbers of 4 or 8 bytes, read as what they are");
  if (tensor.numel() > 0) copies_.push_back({tensor.contiguous(), to});
}

void HostCopies::fetch() {
  if (copies_.size() <= 1 || copies_.front().from.is_cpu()) {
    for (const Copy& copy : copies_) at::from_blob(copy.to, copy.from.sizes(), at::TensorOptions(copy.from.scalar_type())).copy_(copy.from);
    return copies_.clear();
  }
  std::vector<at::Tensor> words;
  for (const Copy& copy : copies_) words.push_back(copy.from.flatten().view(at::kInt));
  const at::Tensor all = at::cat(words).to(at::kCPU);
  const auto* next = all.const_data_ptr<std::int32_t>();
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    std::memcpy(copies_[i].to, next, copies_[i].from.nbytes());
    next += words[i].numel();
  }
  copies_.clear();
}

}  // namespace winnow
