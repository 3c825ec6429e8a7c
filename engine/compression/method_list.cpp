#include "engine/compression/method_info.h"
#include "engine/compression/methods/registry.h"

namespace winnow {

std::vector<MethodInfo> list_methods() {
  std::vector<MethodInfo> methods;
  for (const MethodEntry& entry : method_registry()) methods.push_back(entry.info());
  return methods;
}

}  // namespace winnow
