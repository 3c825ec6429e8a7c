// The name of a model by its place: a file, a folder or a server; and what the program is called that keeps it. UI thread only.
#pragma once

#include <QString>

#include "app/library/models/model_folders.h"

namespace winnow::app {

// "SmolLM2-135M"; of a server's model "Qwen2-VL at gpu:8000".
QString modelLabel(const QString& place);
QString modelOriginName(ModelOrigin origin);

}  // namespace winnow::app
