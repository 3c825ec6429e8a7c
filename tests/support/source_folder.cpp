#include "tests/support/source_folder.h"

std::string source_folder() { return WINNOW_SOURCE_DIR; }
