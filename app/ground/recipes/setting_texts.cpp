#include "app/ground/recipes/setting_texts.h"

#include <QtGlobal>
#include <algorithm>
#include <iterator>

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::SettingTexts", text)

namespace winnow::app {
namespace {

constexpr const char* kKvChoices[] = {SAY("Model default"), SAY("32 bits"), SAY("16 bits"), SAY("8 bits")};

constexpr const char* kPrefillChoices[] = {SAY("Once"), SAY("Twice")};

constexpr SettingText kTexts[] = {
    {"min_event_tokens", SAY("Short texts"), SAY("Text alone stays whole below this number of tokens."),
     "text alone stays whole below this number of tokens"},
    {"full_layers", SAY("Full first layers"),
     SAY("How many of the model's first layers keep everything. The other layers keep less, so the total stays the same."),
     "the model's first N layers keep everything; the others keep less"},
    {"kv", SAY("KV cache dtype"), SAY("Fewer bits take less memory and round the cache. CPU only."),
     "KV cache dtype: the model's own (model), or this many bits, never more than the model computes in", kKvChoices},
    {"prefill", SAY("Read the prompt"),
     SAY("Twice: the same answer with less memory and up to twice the wait. For methods whose layer shares depend on the prompt."),
     "where layer shares depend on the prompt: read it twice, so that only one layer at a time is held in full; the same answer with\nless "
     "memory, up to twice the wait",
     kPrefillChoices},
};

}  // namespace

const SettingText* settingText(std::string_view name) {
  const auto found = std::find_if(std::begin(kTexts), std::end(kTexts), [name](const SettingText& text) { return name == text.name; });
  return found == std::end(kTexts) ? nullptr : found;
}

}  // namespace winnow::app
