// libFuzzer over tokenizer.json: it is refused, or a tokenizer that encodes any text within its limits and gives every id a text.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"

namespace {

// The reader takes a file.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("tokenizer.json", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string holding(const std::uint8_t* data, std::size_t size) const {
    if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace winnow;
  static const MemoryFile file;
  constexpr std::string_view kText =
      "What's  in <image> the 12345 pictures?\n\t Größe \xF0\x9F\xA6\x8A \xE2\x96\x81 \xFF\xC3 <|im_end|> \xE4\xB8\xAD\xE6\x96\x87";
  try {
    const std::unique_ptr<Tokenizer> tokenizer = Tokenizer::from(read_tokenizer_file(file.holding(data, size)));
    for (const SpecialText policy : {SpecialText::kAsText, SpecialText::kParse}) {
      const std::vector<std::int64_t> ids = tokenizer->encode(kText, policy);
      for (const std::int64_t id : ids) {
        if (id < 0) std::abort();
      }
      tokenizer->decode(ids, SpecialTokens::kKeep);
      tokenizer->decode(ids, SpecialTokens::kSkip);
    }
  } catch (const Exception&) {
    // Refused; whatever else leaves it is a finding.
  }
  return 0;
}
