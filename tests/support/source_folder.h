// Where the checkout lies that the tests were built from: golden files, the demo model, sources to scan. Absolute, without a slash at the
// end.
#pragma once

#include <string>

std::string source_folder();
