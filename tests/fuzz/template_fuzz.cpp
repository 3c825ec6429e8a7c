// libFuzzer over chat templates: whatever the text, it is refused or renders within its limits. A file's template is untrusted.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/error.h"
#include "engine/text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace winnow;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  using Kind = TemplateContent::Kind;
  const std::vector<TemplateMessage> messages = {
      {"system", {{Kind::kText, "Be short."}}},
      {"user", {{Kind::kImage, ""}, {Kind::kText, "What is <|im_end|> in {{ it }}?"}, {Kind::kVideo, ""}}},
      {"assistant", {{Kind::kText, "A fox."}}},
      {"user", {{Kind::kText, "Where?"}}},
  };
  try {
    const ChatTemplate made(source, "<s>", "</s>");
    for (const AddGenerationPrompt prompt : {AddGenerationPrompt::kYes, AddGenerationPrompt::kNo})
      made.render(messages, {prompt, true, "2026-11-27"});
  } catch (const Exception&) {
    // Refused; whatever else leaves it is a finding.
  }
  return 0;
}
