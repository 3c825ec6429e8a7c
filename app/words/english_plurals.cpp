#include "app/words/english_plurals.h"

#include <QCoreApplication>
#include <QTranslator>

namespace winnow::app {
namespace {

class EnglishPlurals : public QTranslator {
 public:
  using QTranslator::QTranslator;
  bool isEmpty() const override { return false; }
  QString translate(const char*, const char* source, const char*, int count) const override {
    if (count < 0 || source == nullptr) return {};  // nothing is counted
    QString text = QString::fromUtf8(source);
    return text.replace(QLatin1String("(s)"), count == 1 ? QLatin1String("") : QLatin1String("s"));
  }
};

}  // namespace

void installEnglishPlurals(QCoreApplication& application) { QCoreApplication::installTranslator(new EnglishPlurals(&application)); }

}  // namespace winnow::app
