# One archive a layer, lowest first. A layer's sources are its own list; keep the lists sorted.

noinst_LIBRARIES += src/libbase.a src/libetf.a src/libui.a

src_libbase_a_SOURCES = \
	src/base/alloc.c src/base/arena.c src/base/buf.c src/base/clock.c src/base/error.c \
	src/base/regex.c src/base/ring.c src/base/text.c src/base/text_units.c
src_libbase_a_CFLAGS = $(AM_CFLAGS) $(PCRE2_CFLAGS) $(UTF8PROC_CFLAGS)

src_libetf_a_SOURCES = \
	src/etf/build.c src/etf/check.c src/etf/cursor.c src/etf/field.c src/etf/internal.h \
	src/etf/parse.c src/etf/print.c src/etf/print.h src/etf/print_text.c src/etf/scan.c \
	src/etf/scan.h
src_libetf_a_CFLAGS = $(AM_CFLAGS) $(EI_CFLAGS)

noinst_LIBRARIES += src/libdist.a
src_libdist_a_SOURCES = \
	src/dist/conn.c \
	src/dist/control.c \
	src/dist/cookie.c \
	src/dist/dial.c \
	src/dist/epmd.c \
	src/dist/frame.c \
	src/dist/handshake.c \
	src/dist/internal.h \
	src/dist/lookup.c \
	src/dist/name.c
src_libdist_a_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)

src_libui_a_SOURCES = \
	src/ui/canvas.c \
	src/ui/doc.c \
	src/ui/graph.c \
	src/ui/page.c \
	src/ui/style.c \
	src/ui/table.c \
	src/ui/table_draw.c
src_libui_a_CFLAGS = $(AM_CFLAGS) $(NCURSES_CFLAGS) $(READLINE_CFLAGS)

noinst_LIBRARIES += src/libmodel.a
src_libmodel_a_SOURCES = \
	src/model/column.c \
	src/model/decode.c \
	src/model/decode_detail.c \
	src/model/decode_process.c \
	src/model/decode_read.c \
	src/model/history.c \
	src/model/internal.h \
	src/model/journal.c \
	src/model/model.c \
	src/model/rate.c \
	src/model/seen.c \
	src/model/want.c
src_libmodel_a_CFLAGS = $(AM_CFLAGS)

noinst_LIBRARIES += src/libstore.a
src_libstore_a_SOURCES = \
	src/store/describe.c \
	src/store/fields.c \
	src/store/internal.h \
	src/store/report.c \
	src/store/sink.c \
	src/store/sink_csv.c \
	src/store/sink_json.c \
	src/store/sink_text.c
src_libstore_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)

# What each layer's tests link: its own archive and the ones below.
BASE_LIBS = src/libbase.a $(PCRE2_LIBS) $(UTF8PROC_LIBS) -lm
ETF_LIBS = src/libetf.a $(EI_LIBS) $(BASE_LIBS)
DIST_LIBS = src/libdist.a $(UV_LIBS) $(ETF_LIBS)
QUERY_LIBS = src/libquery.a $(DIST_LIBS)
MODEL_LIBS = src/libmodel.a $(ETF_LIBS)
STORE_LIBS = src/libstore.a $(JANSSON_LIBS) $(MODEL_LIBS)
UI_LIBS = src/libui.a $(NCURSES_LIBS) $(READLINE_LIBS) $(MODEL_LIBS)

bin_PROGRAMS += src/beamtop
src_beamtop_SOURCES = \
	src/app/main.c
src_beamtop_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(JANSSON_CFLAGS)
src_beamtop_LDADD = $(ETF_LIBS)
