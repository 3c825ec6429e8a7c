#include "app/programs/bootstrap/options.h"

#include <QCommandLineParser>
#include <QFile>
#include <QFileInfo>
#include <cstdio>
#include <utility>

#include "app/engine/remote/server_address.h"
#include "engine/base/error.h"
#include "engine/messages/choice_words.h"

namespace winnow::bootstrap {
namespace {

// They are kept with the chats, and may be meant for a program that runs in another folder.
QString absolute(const QString& path) { return path.isEmpty() ? path : QFileInfo(path).absoluteFilePath(); }

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

// A server in the engine's place, as winnow-cli's options name it.
class ServerOptions {
 public:
  explicit ServerOptions(QCommandLineParser& parser) { parser.addOptions({m_server, m_model, m_keyFile, m_keyEnv}); }

  // The place of its model; empty: none is named. Throws Exception.
  QString place(const QCommandLineParser& parser) const {
    const std::string typed = parser.value(m_server).toStdString();
    if (typed.empty()) {
      for (const QCommandLineOption* each : {&m_model, &m_keyFile, &m_keyEnv}) {
        if (parser.isSet(*each)) throw Exception(ErrorCode::kInvalidArgument, "--" + nameOf(*each), "it goes with --server");
      }
      return {};
    }
    app::ServerAddress address = app::serverAddressOf(typed);
    if (parser.isSet(m_model)) address.model = parser.value(m_model).toStdString();
    using Kind = app::KeySource::Kind;
    for (const auto& [option, kind] : {std::pair{&m_keyFile, Kind::kFile}, std::pair{&m_keyEnv, Kind::kEnvironment}}) {
      if (!parser.isSet(*option)) continue;
      const QString name = parser.value(*option);
      address.key = {kind, (kind == Kind::kFile ? absolute(name) : name).toStdString()};
    }
    return QString::fromStdString(app::textOf(address));
  }

 private:
  static std::string nameOf(const QCommandLineOption& option) { return option.names().first().toStdString(); }
  static QCommandLineOption option(const char* name, const QString& does, const char* value) {
    return {QString::fromLatin1(name), does, QString::fromLatin1(value)};
  }

  const QCommandLineOption m_server = option(
      "server", QCoreApplication::translate("options", "A server with an OpenAI-compatible API answers instead of a model here."), "URL");
  const QCommandLineOption m_model =
      option("server-model", QCoreApplication::translate("options", "Name of the model there; default: the first that it lists."), "name");
  const QCommandLineOption m_keyFile =
      option("key-file", QCoreApplication::translate("options", "File whose first line is the key for the server."), "path");
  const QCommandLineOption m_keyEnv =
      option("key-env", QCoreApplication::translate("options", "Environment variable that holds the key."), "variable");
};

// The model's place; if there can be none, says so and returns nothing.
std::optional<QString> placeOf(const QCommandLineParser& parser, const QString& model, const ServerOptions& server) {
  try {
    const QString place = server.place(parser);
    if (!place.isEmpty() && !model.isEmpty()) throw Exception(ErrorCode::kInvalidArgument, "--server", "it stands instead of --model");
    if (!place.isEmpty()) return place;
  } catch (const Exception& exception) {
    std::fprintf(stderr, "winnow: %s: %s\n", exception.error().subject.c_str(), exception.error().reason.c_str());
    return std::nullopt;
  }
  return app::isServerAddress(model.toStdString()) ? model : absolute(model);
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
  // main() has followed these: here they are for --help.
  const QCommandLineOption inProcess("in-process",
                                     QCoreApplication::translate("options", "Run the engine in the program itself, for debuggers."));
  const QCommandLineOption requireSandbox(
      "require-sandbox", QCoreApplication::translate("options", "Refuse media if this system has no sandbox to read them in."));
  parser.addOptions({demo, model, device, dtype, inProcess, requireSandbox});
  const ServerOptions server(parser);
  parser.addPositionalArgument(
      "files", QCoreApplication::translate("options", "Images, videos or texts to attach, or a GGUF file to open."), "[files...]");
  parser.process(application);

  Options options{.demo = parser.isSet(demo)};
  const std::optional<QString> place = placeOf(parser, parser.value(model), server);
  if (!place) return std::nullopt;
  options.modelFolder = *place;
  if (!take(kDeviceWords, parser, device, options.device)) return std::nullopt;
  if (!take(kWeightWords, parser, dtype, options.format)) return std::nullopt;
  // A file manager hands over only files.
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

ui::InitialState initialState(const Options& options) {
  ui::InitialState state;
  state.device = options.device;
  state.format = options.format;
  state.demoModelFolder = app::demoModelFolder();
  state.samples = app::demoSamples();
  state.modelFolder = options.modelFolder;
  state.attachedFiles = options.files;
  if (!options.demo) return state;
  state.demoWanted = true;
  state.modelFolder = state.demoModelFolder;
  for (const app::Sample& sample : state.samples) {
    if (sample.questions.isEmpty()) continue;
    state.attachedFiles = {QFile::encodeName(sample.file)};
    state.question = sample.questions.first().question;
    break;
  }
  return state;
}

app::StartRequest startRequest(const ui::InitialState& initial) {
  return {initial.attachedFiles, initial.question, initial.modelFolder, qgetenv("XDG_ACTIVATION_TOKEN")};
}

}  // namespace winnow::bootstrap
