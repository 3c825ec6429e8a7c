// winnow_icons SVG FOLDER SIZE...: the application's icon as FOLDER/SIZE.png, for icon themes. Run by the build.
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QSvgRenderer>
#include <cstdio>

int main(int argc, char** argv) {
  QSvgRenderer drawing(argc > 3 ? QFile::decodeName(argv[1]) : QString());
  if (!drawing.isValid()) {
    std::fputs("usage: winnow_icons DRAWING.svg FOLDER SIZE...\n", stderr);
    return 2;
  }
  for (int at = 3; at < argc; ++at) {
    const int side_px = QByteArray(argv[at]).toInt();
    QImage icon(side_px, side_px, QImage::Format_ARGB32_Premultiplied);
    icon.fill(Qt::transparent);
    QPainter painter(&icon);
    drawing.render(&painter);
    painter.end();
    const QString file = QFile::decodeName(argv[2]) + QStringLiteral("/%1.png").arg(side_px);
    if (icon.isNull() || !icon.save(file)) {
      std::fprintf(stderr, "winnow_icons: %s cannot be written\n", qPrintable(file));
      return 1;
    }
  }
  return 0;
}
