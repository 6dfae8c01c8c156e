# SPDX-License-Identifier: GPL-3.0-or-later
# One archive a layer, lowest first. Each room lists its own sources; keep the lists sorted.

noinst_LIBRARIES += src/libbase.a src/libetf.a src/libui.a

src_libbase_a_SOURCES =
include src/base/local.mk
src_libbase_a_CFLAGS = $(AM_CFLAGS) $(PCRE2_CFLAGS) $(UTF8PROC_CFLAGS)

src_libetf_a_SOURCES =
include src/etf/local.mk
src_libetf_a_CFLAGS = $(AM_CFLAGS) $(EI_CFLAGS)

noinst_LIBRARIES += src/liblink.a
src_liblink_a_SOURCES =
include src/link/local.mk
include src/link/discover/local.mk
include src/link/dns/local.mk
include src/link/sockets/local.mk
include src/link/inside/local.mk
include src/link/tls/local.mk
src_liblink_a_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS) $(OPENSSL_CFLAGS)

# Looks at VMs of this host from outside; without elfutils its commands say what is missing.
noinst_LIBRARIES += src/liblocal.a
src_liblocal_a_SOURCES =
include src/local/image/local.mk
include src/local/jit/local.mk
include src/local/outside/local.mk
include src/local/machine/local.mk
include src/local/process/local.mk
include src/local/sampler/local.mk
src_liblocal_a_CFLAGS = $(AM_CFLAGS) $(ELFUTILS_CFLAGS)

src_libui_a_SOURCES =
nodist_src_libui_a_SOURCES = src/ui/embedded_config.c src/ui/embedded_themes.c
include src/ui/canvas/local.mk
include src/ui/config/local.mk
include src/ui/files/local.mk
include src/ui/prompt/local.mk
include src/ui/screen/local.mk
include src/ui/samples/local.mk
include src/ui/spans/local.mk
include src/ui/terminal/local.mk
include src/ui/traces/local.mk
include src/ui/views/local.mk
include src/ui/process/local.mk
include src/ui/widgets/local.mk
src_libui_a_CFLAGS = $(AM_CFLAGS) $(NCURSES_CFLAGS) $(READLINE_CFLAGS)

THEMES = \
	themes/colour-blind.theme \
	themes/colour-blind-light.theme \
	themes/default.theme \
	themes/high-contrast.theme \
	themes/light.theme \
	themes/mono.theme
themesdir = $(pkgdatadir)/themes
dist_themes_DATA = $(THEMES)
EXTRA_DIST += etc/beamtop.conf src/embed.sh src/query/prepare.erl
CLEANFILES += src/ui/embedded_config.c src/ui/embedded_themes.c

src/ui/embedded_themes.c: $(THEMES) $(top_srcdir)/src/embed.sh
	$(AM_V_GEN)$(MKDIR_P) src/ui && cd $(srcdir) && $(SHELL) src/embed.sh embedded_themes \
		$(THEMES) > $(abs_builddir)/$@.tmp && mv $(abs_builddir)/$@.tmp $(abs_builddir)/$@
FLAME_PAGE = src/output/samples/flame.css src/output/samples/flame.js
EXTRA_DIST += $(FLAME_PAGE)
CLEANFILES += src/output/samples/flame_page.c
src/output/samples/flame_page.c: $(FLAME_PAGE) $(top_srcdir)/src/embed.sh
	$(AM_V_GEN)$(MKDIR_P) src/output/samples && cd $(srcdir) && $(SHELL) src/embed.sh flame_page \
		$(FLAME_PAGE) > $(abs_builddir)/$@.tmp && mv $(abs_builddir)/$@.tmp $(abs_builddir)/$@
src/ui/embedded_config.c: etc/beamtop.conf $(top_srcdir)/src/embed.sh
	$(AM_V_GEN)$(MKDIR_P) src/ui && cd $(srcdir) && $(SHELL) src/embed.sh embedded_config \
		etc/beamtop.conf > $(abs_builddir)/$@.tmp && mv $(abs_builddir)/$@.tmp $(abs_builddir)/$@

noinst_LIBRARIES += src/libmodel.a
src_libmodel_a_SOURCES =
include src/model/local.mk
include src/model/fields/local.mk
include src/model/name/local.mk
include src/model/outside/local.mk
include src/model/process/local.mk
include src/model/spans/local.mk
include src/model/timeline/local.mk
src_libmodel_a_CFLAGS = $(AM_CFLAGS)

noinst_LIBRARIES += src/liboutput.a
src_liboutput_a_SOURCES =
nodist_src_liboutput_a_SOURCES = src/output/samples/flame_page.c
include src/output/local.mk
include src/output/outside/local.mk
include src/output/samples/local.mk
include src/output/spans/local.mk
include src/output/timeline/local.mk
src_liboutput_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)

noinst_LIBRARIES += src/librecording.a
src_librecording_a_SOURCES =
include src/recording/local.mk
include src/recording/events/local.mk
include src/recording/spans/local.mk
src_librecording_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(ZLIB_CFLAGS)

noinst_LIBRARIES += src/libreport.a
src_libreport_a_SOURCES =
include src/report/local.mk
include src/report/rules/local.mk
src_libreport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)

noinst_LIBRARIES += src/libquery.a
src_libquery_a_SOURCES =
include src/query/local.mk
include src/query/alloc/local.mk
include src/query/apps/local.mk
include src/query/late/local.mk
include src/query/raft/local.mk
include src/query/links/local.mk
include src/query/leaders/local.mk
include src/query/native/local.mk
include src/query/scan/local.mk
include src/query/facts/local.mk
include src/query/stepped/local.mk
include src/query/holders/local.mk
include src/query/tables/local.mk
include src/query/seek/local.mk
include src/query/terms/local.mk
include src/query/growth/local.mk
include src/query/ports/local.mk
include src/query/vm/local.mk
include src/query/process/local.mk
include src/query/waits/local.mk
include src/query/who/local.mk
nodist_src_libquery_a_SOURCES = src/query/sources.c
src_libquery_a_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS)

noinst_LIBRARIES += src/libtrace.a
src_libtrace_a_SOURCES =
include src/trace/assist/local.mk
include src/trace/calls/local.mk
include src/trace/events/local.mk
include src/trace/spans/local.mk
include src/trace/language/local.mk
include src/trace/log/local.mk
include src/trace/matchspec/local.mk
include src/trace/session/local.mk
src_libtrace_a_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS)

# Every query of the folder, with the parts that they include; the archive has all of src.
CLEANFILES += src/query/sources.c src/query/prepared/*.etf
src/query/sources.c: $(wildcard $(srcdir)/src/query/q/*.erl $(srcdir)/src/query/q/*/*.erl) \
		src/query/prepare.erl src/embed.sh src/local.mk
	$(AM_V_GEN)rm -rf src/query/prepared && $(MKDIR_P) src/query/prepared && \
		$(ESCRIPT) $(srcdir)/src/query/prepare.erl src/query/prepared \
			$(srcdir)/src/query/q/*.erl && \
		$(SHELL) $(srcdir)/src/embed.sh query_sources src/query/prepared/*.etf >$@.tmp && \
		mv $@.tmp $@

# What each layer's tests link: its own archive and the ones below.
BASE_LIBS = src/libbase.a $(PCRE2_LIBS) $(UTF8PROC_LIBS) -lm
ETF_LIBS = src/libetf.a $(EI_LIBS) $(BASE_LIBS)
LINK_LIBS = src/liblink.a $(UV_LIBS) $(RESOLV_LIBS) $(OPENSSL_LIBS) $(ETF_LIBS)
LOCAL_LIBS = src/liblocal.a $(ELFUTILS_LIBS) $(BASE_LIBS)
QUERY_LIBS = src/libquery.a $(LINK_LIBS)
MODEL_LIBS = src/libmodel.a $(ETF_LIBS)
TRACE_LIBS = src/libtrace.a src/libmodel.a $(QUERY_LIBS)
OUTPUT_LIBS = src/liboutput.a $(JANSSON_LIBS) $(TRACE_LIBS)
RECORDING_LIBS = src/librecording.a $(SQLITE_LIBS) $(ZLIB_LIBS) $(OUTPUT_LIBS)
REPORT_LIBS = src/libreport.a $(RECORDING_LIBS)
UI_LIBS = src/libui.a $(NCURSES_LIBS) $(READLINE_LIBS) $(TRACE_LIBS)

noinst_LIBRARIES += src/libapp.a
src_libapp_a_SOURCES =
include src/app/cli/local.mk
include src/app/doctor/local.mk
include src/app/fleet/local.mk
include src/app/tracing/local.mk
include src/app/command/local.mk
include src/app/job/local.mk
include src/app/live/local.mk
include src/app/outside/local.mk
include src/app/recorder/local.mk
include src/app/sample/local.mk
include src/app/search/local.mk
include src/app/spans/local.mk
include src/app/source/local.mk
include src/app/tui/local.mk
include src/app/tui_fleet/local.mk
include src/app/pod/local.mk
include src/app/way/local.mk
include src/app/tui_outside/local.mk
src_libapp_a_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(JANSSON_CFLAGS)
APP_LIBS = src/libapp.a src/liblocal.a $(ELFUTILS_LIBS) src/libui.a $(NCURSES_LIBS) $(READLINE_LIBS) $(REPORT_LIBS)

bin_PROGRAMS += src/beamtop
src_beamtop_SOURCES = src/app/main.c
src_beamtop_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(JANSSON_CFLAGS)
src_beamtop_LDADD = $(APP_LIBS)
