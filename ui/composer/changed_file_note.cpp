#include "ui/composer/changed_file_note.h"

#include "ui/theme/theme.h"

namespace winnow::ui {

ChangedFileNote::ChangedFileNote(MediaPreview& preview, QWidget* parent) : QLabel(parent), m_preview(preview) {
  setWordWrap(true);
  setTextFormat(Qt::PlainText);
  setText(tr("This is another file than the one that was asked about: it has changed since it was attached."));
  hide();
  const auto colour = [this] {
    QPalette palette = this->palette();
    palette.setColor(QPalette::WindowText, theme().colors().warning);
    setPalette(palette);
  };
  connect(&theme(), &Theme::changed, this, colour);
  colour();
  connect(&m_preview, &MediaPreview::probed, this, [this](PreviewToken token, const MediaSummary& summary) {
    if (token == m_token) setVisible(!summary.sha256.isEmpty() && summary.sha256 != m_sha256);
  });
}

void ChangedFileNote::look(const app::Attachment& attached) {
  if (m_token != 0) m_preview.cancel(m_token);
  m_token = 0;
  m_sha256 = attached.sha256;
  hide();
  if (!m_sha256.isEmpty()) m_token = m_preview.probe(attached.path, attached.encoding);
}

}  // namespace winnow::ui
