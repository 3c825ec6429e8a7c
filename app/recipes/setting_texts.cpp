#include "app/recipes/setting_texts.h"

#include <QtGlobal>
#include <algorithm>
#include <iterator>

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::SettingTexts", text)

namespace winnow::app {
namespace {

constexpr const char* kKvChoices[] = {SAY("As it suits the model"), SAY("32 bits"), SAY("16 bits"), SAY("8 bits")};

constexpr const char* kPrefillChoices[] = {SAY("Once"), SAY("Twice")};

constexpr SettingText kTexts[] = {
    {"min_event_tokens", SAY("Short texts"), SAY("Texts without pictures stay whole below this number of tokens."),
     "text-only segments shorter than this are kept whole"},
    {"full_layers", SAY("Full first layers"),
     SAY("So many of the model's first layers keep everything. The share stays: the other layers keep less."),
     "the model's first N layers keep everything; the others pay for it"},
    {"kv", SAY("Stored numbers"), SAY("In fewer bits than the model computes in, the cache takes less memory and is rounded. On the CPU."),
     "how the cache's numbers are stored: as it suits the model (model), or in so many bits, but never more than it computes in",
     kKvChoices},
    {"prefill", SAY("Prompt is read"),
     SAY("Twice: the same answer from less memory, after up to twice the wait. For methods whose layers' shares follow the prompt."),
     "where layers' shares follow the prompt: read it twice, so that only one layer at a time is held in full; the same answer from less\n"
     "memory, up to twice the wait",
     kPrefillChoices},
};

}  // namespace

const SettingText* settingText(std::string_view name) {
  const auto found = std::find_if(std::begin(kTexts), std::end(kTexts), [name](const SettingText& text) { return name == text.name; });
  return found == std::end(kTexts) ? nullptr : found;
}

}  // namespace winnow::app
