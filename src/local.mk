# One archive a layer, lowest first. A layer's sources are its own list; keep the lists sorted.

noinst_LIBRARIES += src/libbase.a src/libetf.a src/libui.a

src_libbase_a_SOURCES = \
	src/base/alloc.c src/base/arena.c src/base/buf.c src/base/clock.c src/base/error.c \
	src/base/regex.c src/base/ring.c src/base/text.c src/base/text_units.c
src_libbase_a_CFLAGS = $(AM_CFLAGS) $(PCRE2_CFLAGS) $(UTF8PROC_CFLAGS)

src_libetf_a_SOURCES = \
	src/etf/build.c src/etf/check.c src/etf/cursor.c src/etf/field.c src/etf/internal.h \
	src/etf/parse.c src/etf/print.c src/etf/print.h src/etf/print_ex.c src/etf/print_ex.h \
	src/etf/print_ex_text.c src/etf/print_text.c src/etf/scan.c src/etf/scan.h src/etf/slice.c
src_libetf_a_CFLAGS = $(AM_CFLAGS) $(EI_CFLAGS)

noinst_LIBRARIES += src/libdist.a
src_libdist_a_SOURCES = \
	src/dist/claim.c \
	src/dist/conn.c \
	src/dist/conn_in.c \
	src/dist/conn_internal.h \
	src/dist/control.c \
	src/dist/cookie.c \
	src/dist/dial.c \
	src/dist/discover.c \
	src/dist/discover_scan.c \
	src/dist/epmd.c \
	src/dist/frame.c \
	src/dist/handshake.c \
	src/dist/internal.h \
	src/dist/lookup.c \
	src/dist/name.c \
	src/dist/proc.c \
	src/dist/proc.h \
	src/dist/wire.c \
	src/dist/wire.h
src_libdist_a_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)

src_libui_a_SOURCES = \
	src/ui/canvas.c \
	src/ui/cells.c \
	src/ui/doc.c \
	src/ui/graph.c \
	src/ui/header.c \
	src/ui/page.c \
	src/ui/pane.c \
	src/ui/panes.c \
	src/ui/screen.c src/ui/screen_act.c src/ui/screen_internal.h src/ui/screen_picker.c \
	src/ui/style.c \
	src/ui/table.c \
	src/ui/table_draw.c \
	src/ui/pretty.c src/ui/pretty.h \
	src/ui/view_apps.c \
	src/ui/view_armed.c \
	src/ui/view_calls.c \
	src/ui/view_findings.c \
	src/ui/view_owners.c \
	src/ui/view_help.c \
	src/ui/view_log.c \
	src/ui/view_memory.c \
	src/ui/view_process.c \
	src/ui/view_schedulers.c \
	src/ui/view_top.c \
	src/ui/view_trace.c src/ui/view_trace.h \
	src/ui/view_trace_event.c src/ui/view_trace_flow.c \
	src/ui/view_trace_head.c src/ui/view_trace_long.c src/ui/view_trace_open.c \
	src/ui/view_trace_patterns.c src/ui/view_trace_text.c \
	src/ui/view_tree.c \
	src/ui/views.c \
	src/ui/views.h
src_libui_a_CFLAGS = $(AM_CFLAGS) $(NCURSES_CFLAGS) $(READLINE_CFLAGS)

# ---- ui, below the views: canvas, tables of what a person can do, configuration, prompt, terminal
src_libui_a_SOURCES += \
	src/ui/action.c \
	src/ui/capture.c \
	src/ui/capture_file.c \
	src/ui/complete.c src/ui/complete_trace.c \
	src/ui/config.c \
	src/ui/describe.c \
	src/ui/diag.c \
	src/ui/embedded.h \
	src/ui/file.c \
	src/ui/file.h \
	src/ui/key.c \
	src/ui/keymap.c \
	src/ui/line.c \
	src/ui/line.h \
	src/ui/option.c \
	src/ui/option_table.c \
	src/ui/prompt.c \
	src/ui/prompt_draw.c \
	src/ui/prompt_internal.h \
	src/ui/theme.c \
	src/ui/theme_color.c \
	src/ui/tty_curses.c \
	src/ui/tty_keys.c \
	src/ui/tty_keys.h \
	src/ui/tty_null.c \
	src/ui/tty_rescue.c
nodist_src_libui_a_SOURCES = src/ui/embedded_config.c src/ui/embedded_themes.c

THEMES = \
	themes/colour-blind.theme \
	themes/default.theme \
	themes/high-contrast.theme \
	themes/light.theme \
	themes/mono.theme
themesdir = $(pkgdatadir)/themes
dist_themes_DATA = $(THEMES)
EXTRA_DIST += etc/beamtop.conf src/embed.sh
CLEANFILES += src/ui/embedded_config.c src/ui/embedded_themes.c

src/ui/embedded_themes.c: $(THEMES) $(top_srcdir)/src/embed.sh
	$(AM_V_GEN)$(MKDIR_P) src/ui && cd $(srcdir) && $(SHELL) src/embed.sh embedded_themes \
		$(THEMES) > $(abs_builddir)/$@.tmp && mv $(abs_builddir)/$@.tmp $(abs_builddir)/$@
src/ui/embedded_config.c: etc/beamtop.conf $(top_srcdir)/src/embed.sh
	$(AM_V_GEN)$(MKDIR_P) src/ui && cd $(srcdir) && $(SHELL) src/embed.sh embedded_config \
		etc/beamtop.conf > $(abs_builddir)/$@.tmp && mv $(abs_builddir)/$@.tmp $(abs_builddir)/$@

noinst_LIBRARIES += src/libmodel.a
src_libmodel_a_SOURCES = \
	src/model/column.c \
	src/model/decode.c \
	src/model/decode_armed.c \
	src/model/decode_detail.c \
	src/model/decode_process.c \
	src/model/decode_read.c \
	src/model/filter.c \
	src/model/history.c \
	src/model/internal.h \
	src/model/journal.c \
	src/model/kind.c \
	src/model/model.c \
	src/model/model_scan.c \
	src/model/model_state.h \
	src/model/order.c \
	src/model/owners.c \
	src/model/rate.c \
	src/model/seen.c \
	src/model/want.c
src_libmodel_a_CFLAGS = $(AM_CFLAGS)

noinst_LIBRARIES += src/libstore.a
src_libstore_a_SOURCES = \
	src/store/calls_fields.c src/store/calls_internal.h src/store/calls_read.c src/store/calls_sink.c \
	src/store/calls_text.c \
	src/store/describe.c \
	src/store/export.c \
	src/store/fields.c \
	src/store/finding.c \
	src/store/internal.h \
	src/store/json.h \
	src/store/json_read.c \
	src/store/number.c \
	src/store/paper.c \
	src/store/paper.h \
	src/store/paper_html.c \
	src/store/paper_markdown.c \
	src/store/paper_text.c \
	src/store/recorder.c src/store/recorder_facts.c \
	src/store/recorded_log.c \
	src/store/recorded_log_events.c \
	src/store/recorded_log_internal.h \
	src/store/recorder_internal.h \
	src/store/recorder_pending.c \
	src/store/recorder_rows.c \
	src/store/recorder_trace.c \
	src/store/recording.c \
	src/store/recording_internal.h \
	src/store/recording_owners.c \
	src/store/recording_processes.c \
	src/store/recording_schema.c \
	src/store/recording_schema.h \
	src/store/recording_sums.c \
	src/store/recording_traces.c \
	src/store/recording_windows.c \
	src/store/report.c \
	src/store/rules.c \
	src/store/rules_calls.c \
	src/store/rules_internal.h \
	src/store/rules_memory.c \
	src/store/rules_owners.c \
	src/store/rules_system.c \
	src/store/shape.c \
	src/store/shape.h \
	src/store/sink.c \
	src/store/sink_csv.c \
	src/store/sink_json.c \
	src/store/sink_text.c \
	src/store/sqlite.c \
	src/store/sqlite.h \
	src/store/summary.c \
	src/store/summary_internal.h \
	src/store/summary_json.c \
	src/store/summary_limit.c \
	src/store/summary_many.c \
	src/store/summary_one.c \
	src/store/trace_columns.c \
	src/store/trace_columns.h \
	src/store/trace_fields.c \
	src/store/trace_json.c \
	src/store/trace_line.c \
	src/store/trace_line.h \
	src/store/trace_read.c \
	src/store/trace_sink.c \
	src/store/trace_text.c \
	src/store/writer.c
src_libstore_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(ZLIB_CFLAGS)

noinst_LIBRARIES += src/libquery.a
src_libquery_a_SOURCES = \
	src/query/expr.c \
	src/query/internal.h \
	src/query/query.c
nodist_src_libquery_a_SOURCES = src/query/sources.c
src_libquery_a_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS)

noinst_LIBRARIES += src/libtrace.a
src_libtrace_a_SOURCES = \
	src/trace/assist.c src/trace/assist_internal.h src/trace/assist_line.c \
	src/trace/calls.c src/trace/calls_decode.c src/trace/calls_internal.h src/trace/calls_log.c \
	src/trace/calls_prepare.c src/trace/calls_window.c src/trace/calls_words.c \
	src/trace/caps.c \
	src/trace/decode.c \
	src/trace/decode.h \
	src/trace/decode_answer.c \
	src/trace/elixir_guard.c \
	src/trace/expect.c \
	src/trace/histogram.c \
	src/trace/lex.c src/trace/lex.h src/trace/lex_value.c \
	src/trace/library.c \
	src/trace/log.c \
	src/trace/matchspec.c src/trace/matchspec_encode.c src/trace/matchspec_expression.c \
	src/trace/matchspec_head.c src/trace/matchspec_internal.h src/trace/matchspec_literal.c \
	src/trace/matchspec_match.c src/trace/matchspec_print.c src/trace/matchspec_record.c \
	src/trace/matchspec_scope.c \
	src/trace/names.c src/trace/names_near.c \
	src/trace/parse.c src/trace/parse.h src/trace/parse_binary.c src/trace/parse_ex.c \
	src/trace/parse_ex.h src/trace/parse_record.c src/trace/parse_term.c \
	src/trace/parser.c src/trace/pattern.c src/trace/pattern_print.c \
	src/trace/prepare.c src/trace/prepare_nobody.c src/trace/prepare_why.c src/trace/prepare.h \
	src/trace/procs.c \
	src/trace/request.c \
	src/trace/session.c \
	src/trace/session_act.c \
	src/trace/session_arm.c \
	src/trace/session_internal.h \
	src/trace/session_own.c \
	src/trace/session_prepare.c \
	src/trace/session_take.c \
	src/trace/syntax.c src/trace/unwrap.c src/trace/values.c src/trace/words.c
src_libtrace_a_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS)

QUERY_EXPRESSIONS = \
	src/query/q/alloc.erl \
	src/query/q/apps.erl \
	src/query/q/armed.erl \
	src/query/q/calls.erl \
	src/query/q/facts.erl \
	src/query/q/functions.erl \
	src/query/q/keeper.erl \
	src/query/q/leaders.erl \
	src/query/q/mailbox.erl \
	src/query/q/names.erl \
	src/query/q/node.erl \
	src/query/q/preflight.erl \
	src/query/q/process.erl \
	src/query/q/records.erl \
	src/query/q/scan.erl \
	src/query/q/state.erl \
	src/query/q/system.erl \
	src/query/q/trace.erl \
	src/query/q/tree.erl
# What they include.
QUERY_PARTS = \
	src/query/q/part/armed_scan.erl \
	src/query/q/part/carriers.erl \
	src/query/q/part/cut.erl \
	src/query/q/part/in_use.erl \
	src/query/q/part/supervisors.erl \
	src/query/q/part/trace_arms.erl \
	src/query/q/part/trace_events.erl \
	src/query/q/part/trace_secret.erl \
	src/query/q/part/trace_refuse.erl \
	src/query/q/part/trace_ship.erl \
	src/query/q/part/trace_turns.erl \
	src/query/q/part/unknown_atoms.erl
EXTRA_DIST += src/embed.sh $(QUERY_EXPRESSIONS) $(QUERY_PARTS)
CLEANFILES += src/query/sources.c
src/query/sources.c: $(QUERY_EXPRESSIONS) $(QUERY_PARTS) src/embed.sh src/local.mk
	$(AM_V_GEN)$(MKDIR_P) src/query && (cd $(srcdir) && $(SHELL) src/embed.sh query_sources \
		$(QUERY_EXPRESSIONS)) >$@.tmp && mv $@.tmp $@

# What each layer's tests link: its own archive and the ones below.
BASE_LIBS = src/libbase.a $(PCRE2_LIBS) $(UTF8PROC_LIBS) -lm
ETF_LIBS = src/libetf.a $(EI_LIBS) $(BASE_LIBS)
DIST_LIBS = src/libdist.a $(UV_LIBS) $(ETF_LIBS)
QUERY_LIBS = src/libquery.a $(DIST_LIBS)
MODEL_LIBS = src/libmodel.a $(ETF_LIBS)
TRACE_LIBS = src/libtrace.a src/libmodel.a $(QUERY_LIBS)
STORE_LIBS = src/libstore.a $(JANSSON_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) $(TRACE_LIBS)
UI_LIBS = src/libui.a $(NCURSES_LIBS) $(READLINE_LIBS) $(TRACE_LIBS)

bin_PROGRAMS += src/beamtop
src_beamtop_SOURCES = \
	src/app/batch.c src/app/batch.h \
	src/app/calls_command.c \
	src/app/calls_file.c src/app/calls_file.h \
	src/app/capture_command.c \
	src/app/cli.c src/app/cli.h src/app/cli_table.h src/app/cli_text.c \
	src/app/commands.c src/app/commands.h \
	src/app/condition.c src/app/condition.h \
	src/app/crash.c src/app/crash.h \
	src/app/encode.c src/app/encode.h \
	src/app/exit_code.c src/app/exit_code.h \
	src/app/explain_command.c \
	src/app/generate.c src/app/generate.h \
	src/app/governor.c src/app/governor.h \
	src/app/leaders.c src/app/leaders.h \
	src/app/live.c src/app/live.h src/app/live_internal.h src/app/live_tick.c \
	src/app/main.c \
	src/app/mistake.c src/app/mistake.h \
	src/app/node_run.c src/app/node_run.h \
	src/app/nodes.c src/app/nodes.h \
	src/app/record_calls.c src/app/record_calls.h \
	src/app/record_trace.c src/app/record_trace.h \
	src/app/record_client.c src/app/record_client.h \
	src/app/record_command.c \
	src/app/record_control.c src/app/record_control.h \
	src/app/record_retry.c src/app/record_retry.h \
	src/app/record_run.c src/app/record_run.h src/app/record_run_armed.c src/app/record_run_internal.h \
	src/app/record_run_requests.c src/app/record_run_source.c \
	src/app/record_starter.c src/app/record_starter.h \
	src/app/record_status.c src/app/record_status.h \
	src/app/replay.c src/app/replay.h src/app/replay_calls.c src/app/replay_calls.h \
	src/app/report_command.c \
	src/app/settings.c src/app/settings.h \
	src/app/source.c src/app/source.h src/app/source_live.c src/app/source_replay.c \
	src/app/target.c src/app/target.h \
	src/app/trace_print.c src/app/trace_print.h \
	src/app/trace_words.c src/app/trace_words.h \
	src/app/trace_port.c src/app/trace_port.h \
	src/app/tui.c src/app/tui_act.c src/app/tui_internal.h src/app/tui_nodes.c src/app/tui_prompt.c \
	src/app/trace_command.c \
	src/app/trace_file.c src/app/trace_file.h \
	src/app/tui_calls.c src/app/tui_calls.h src/app/tui_findings.c src/app/tui_findings.h \
	src/app/tui_record.c src/app/tui_record.h \
	src/app/tui_time.c \
	src/app/tui_trace.c src/app/tui_trace.h src/app/tui_trace_act.c src/app/tui_trace_internal.h \
	src/app/tui_trace_pick.c src/app/tui_trace_prompt.c src/app/tui_trace_save.c \
	src/app/trace_history.c src/app/trace_history.h \
	src/app/trigger.c src/app/trigger.h
src_beamtop_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(JANSSON_CFLAGS)
src_beamtop_LDADD = src/libui.a src/libstore.a $(NCURSES_LIBS) $(READLINE_LIBS) \
	$(JANSSON_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) $(TRACE_LIBS)
