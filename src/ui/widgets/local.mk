# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/widgets/doc.c src/ui/widgets/doc.h src/ui/widgets/flame.c src/ui/widgets/flame.h \
	src/ui/widgets/page.c src/ui/widgets/page.h \
	src/ui/widgets/pretty.c src/ui/widgets/pretty.h src/ui/widgets/rows.c src/ui/widgets/rows.h \
	src/ui/widgets/table.c \
	src/ui/widgets/table.h src/ui/widgets/table_draw.c src/ui/widgets/table_fold.c
