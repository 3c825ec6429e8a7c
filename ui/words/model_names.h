// What a model is called by its place: a file, a folder or a server. UI thread only.
#pragma once

#include <QString>

namespace winnow::ui {

// "SmolLM2-135M"; of a server's model "Qwen2-VL at gpu:8000".
QString modelLabel(const QString& place);

}  // namespace winnow::ui
