#include "app/bootstrap/options.h"

#include <QCommandLineParser>
#include <QFile>
#include <QFileInfo>
#include <cstdio>

namespace winnow::bootstrap {

std::optional<Options> parseOptions(const QCoreApplication& application) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QCoreApplication::translate("options", "Chat about images and long videos on this machine."));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption demo("demo",
                                QCoreApplication::translate("options", "Start with the demo model, a sample video and its question."));
  const QCommandLineOption model("model", QCoreApplication::translate("options", "A GGUF file, or a folder in Hugging Face's layout."),
                                 "path");
  const QCommandLineOption device("device", QCoreApplication::translate("options", "auto, cpu or cuda."), "device", "auto");
  const QCommandLineOption dtype("dtype", QCoreApplication::translate("options", "Of its numbers: auto, fp32, bf16, int8 or int4."), "type",
                                 "auto");
  parser.addOptions({demo, model, device, dtype});
  parser.addPositionalArgument("file", QCoreApplication::translate("options", "An image or video to attach."), "[file]");
  parser.process(application);

  Options options;
  options.demo = parser.isSet(demo);
  // Absolute: they are kept with the chats, and may be meant for a program that runs in another folder.
  const auto absolute = [](const QString& path) { return path.isEmpty() ? path : QFileInfo(path).absoluteFilePath(); };
  options.modelFolder = absolute(parser.value(model));
  const QString wanted = parser.value(device);
  if (wanted == "cpu") {
    options.device = Device::kCpu;
  } else if (wanted == "cuda") {
    options.device = Device::kCuda;
  } else if (wanted != "auto") {
    std::fprintf(stderr, "winnow: --device takes auto, cpu or cuda\n");
    return std::nullopt;
  }
  const QString type = parser.value(dtype);
  if (type == "fp32") {
    options.format = WeightFormat::kFp32;
  } else if (type == "bf16") {
    options.format = WeightFormat::kBf16;
  } else if (type == "int8") {
    options.format = WeightFormat::kInt8;
  } else if (type == "int4") {
    options.format = WeightFormat::kInt4;
  } else if (type != "auto") {
    std::fprintf(stderr, "winnow: --dtype takes auto, fp32, bf16, int8 or int4\n");
    return std::nullopt;
  }
  if (!parser.positionalArguments().isEmpty()) options.file = QFile::encodeName(absolute(parser.positionalArguments().first()));
  return options;
}

}  // namespace winnow::bootstrap
