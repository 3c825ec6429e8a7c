// A form on a page of a dialog: long rows wrap, fields grow. UI thread only.
#pragma once

#include <QFormLayout>

#include "ui/theme/theme.h"

namespace winnow::ui {

// The page's layout, which the page owns.
inline QFormLayout* formOn(QWidget* page) {
  auto* form = new QFormLayout(page);
  form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->setVerticalSpacing(theme().px(10));
  return form;
}

}  // namespace winnow::ui
