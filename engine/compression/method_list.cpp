#include "engine/compression/method_info.h"
#include "engine/compression/methods/registry.h"

namespace winnow {

std::vector<MethodInfo> list_methods() {
  std::vector<MethodInfo> methods;
  for (const MethodEntry& entry : method_registry()) {
    MethodInfo info = entry.info();
    OptionReader options(entry.name, {}, 0);
    entry.compose(options);
    info.options = options.described();
    methods.push_back(std::move(info));
  }
  return methods;
}

}  // namespace winnow
