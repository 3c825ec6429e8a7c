#include "app/ground/diagnostics/logged_engine.h"

#include <QStringList>
#include <utility>

namespace winnow::app {
namespace {

// "prompt 640, visual 576, ..": every figure that is not zero.
template <HasFields Figures>
QString figuresText(const Figures& figures) {
  QStringList parts;
  visit_fields(figures, [&](const char* name, const auto& value) {
    if (value != 0) parts << QStringLiteral("%1 %2").arg(QLatin1String(name), QString::number(static_cast<double>(value), 'f', 0));
  });
  return parts.join(QStringLiteral(", "));
}

class LoggingSink final : public EventSink {
 public:
  LoggingSink(EventSink& sink, Log& log) : m_sink(sink), m_log(log) {}

  void on_event(Event event) override {
    std::visit([this](const auto& body) { note(body); }, event.body);
    m_sink.on_event(std::move(event));
  }

 private:
  void note(const ModelLoaded& loaded) {
    const ModelInfo& info = loaded.info;
    write(LogLevel::kInfo,
          QStringLiteral("model %1, %2 million parameters, %3 layers, %4 of %5 kv heads, context %6, %7 on %8 %9")
              .arg(QString::fromStdString(info.family))
              .arg(info.parameter_count / 1'000'000)
              .arg(info.layers)
              .arg(info.kv_heads)
              .arg(info.heads)
              .arg(info.context_tokens)
              .arg(QString::fromStdString(info.dtype), QString::fromStdString(info.device), QString::fromStdString(info.device_note))
              .trimmed());
  }
  void note(const Finished& finished) {
    const TurnFigures& f = finished.figures;
    if (finished.restored) return write(LogLevel::kInfo, QStringLiteral("cancelled"));
    write(f.timings_ms.ttft > kSlowMs ? LogLevel::kWarning : LogLevel::kInfo,
          QStringLiteral("answer %1 at %2, seed %7; tokens: %3; ms: %4; %5 tokens/s; KV bytes: %6")
              .arg(QString::fromStdString(f.method))
              .arg(f.retention)
              .arg(figuresText(f.tokens), figuresText(f.timings_ms))
              .arg(f.tokens_per_s, 0, 'f', 1)
              .arg(figuresText(f.kv_bytes))
              .arg(f.seed));
  }
  void note(const Failed& failed) { write(LogLevel::kError, errorLine(failed.error)); }
  template <class Other>
  void note(const Other&) {}

  void write(LogLevel level, const QString& text) { m_log.write(level, "engine", text); }

  EventSink& m_sink;
  Log& m_log;
};

}  // namespace

QString errorLine(const Error& error) {
  QString reason = QString::fromStdString(error.reason);
  if (const QString subject = QString::fromStdString(error.subject); !subject.isEmpty())
    reason.replace(subject, QStringLiteral("<subject>"));
  // A server's own words may quote what it was asked.
  const QString says = QStringLiteral("it says");
  if (const qsizetype said = reason.indexOf(says); said >= 0) reason = reason.left(said + says.size()) + QStringLiteral(" <words>");
  return QStringLiteral("code %1: %2").arg(static_cast<int>(error.code)).arg(withoutPaths(reason));
}

LoggedEngine::LoggedEngine(std::unique_ptr<Engine> engine, Log& log) : m_engine(std::move(engine)), m_log(log) {}

void LoggedEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  LoggingSink logging(sink, m_log);
  m_engine->handle(request, logging, interrupt);
}

}  // namespace winnow::app
