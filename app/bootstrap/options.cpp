#include "app/bootstrap/options.h"

#include <QCommandLineParser>
#include <QFile>
#include <QFileInfo>
#include <cstdio>

#include "app/remote/server_address.h"
#include "engine/messages/choice_words.h"

namespace winnow::bootstrap {
namespace {

// False, and said so: the option was given a word that is none of them.
template <class Value, std::size_t N>
bool take(const ChoiceWord<Value> (&words)[N], const QCommandLineParser& parser, const QCommandLineOption& option, Value& into) {
  const std::optional<Value> value = value_of(words, parser.value(option).toStdString());
  if (value) {
    into = *value;
  } else {
    std::fprintf(stderr, "winnow: --%s takes %s\n", qPrintable(option.names().first()), listed(words).c_str());
  }
  return value.has_value();
}

}  // namespace

std::optional<Options> parseOptions(const QCoreApplication& application) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QCoreApplication::translate("options", "Chat about images and long videos on this machine."));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption demo("demo",
                                QCoreApplication::translate("options", "Start with the demo model, a sample video and its question."));
  const QCommandLineOption model(
      "model", QCoreApplication::translate("options", "A GGUF file, a folder in Hugging Face's layout, or a server's address."), "path");
  const QCommandLineOption device("device", QString::fromStdString(listed(kDeviceWords) + "."), "device", "auto");
  const QCommandLineOption dtype(
      "dtype", QCoreApplication::translate("options", "Weight format of the model: %1.").arg(QString::fromStdString(listed(kWeightWords))),
      "type", "auto");
  // main() has followed it: here it is for --help.
  const QCommandLineOption inProcess("in-process",
                                     QCoreApplication::translate("options", "Run the engine in the program itself, for debuggers."));
  parser.addOptions({demo, model, device, dtype, inProcess});
  parser.addPositionalArgument(
      "files", QCoreApplication::translate("options", "Images, videos or texts to attach, or a GGUF file to open."), "[files...]");
  parser.process(application);

  Options options;
  options.demo = parser.isSet(demo);
  // Absolute: they are kept with the chats, and may be meant for a program that runs in another folder.
  const auto absolute = [](const QString& path) { return path.isEmpty() ? path : QFileInfo(path).absoluteFilePath(); };
  const QString place = parser.value(model);
  options.modelFolder = app::isServerAddress(place.toStdString()) ? place : absolute(place);
  if (!take(kDeviceWords, parser, device, options.device)) return std::nullopt;
  if (!take(kWeightWords, parser, dtype, options.format)) return std::nullopt;
  // What a file manager hands over are files alone.
  for (const QString& name : parser.positionalArguments()) {
    const QString file = absolute(name);
    if (file.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive)) {
      options.modelFolder = file;
    } else {
      options.files << QFile::encodeName(file);
    }
  }
  return options;
}

}  // namespace winnow::bootstrap
