# SPDX-License-Identifier: GPL-3.0-or-later
# cmocka speaks TAP; a test binary is one module's. One that cannot run prints `1..0 # SKIP reason`
# and exits with 0: automake takes 77 for an error where there is TAP.
TEST_EXTENSIONS = .sh
LOG_DRIVER = env CMOCKA_MESSAGE_OUTPUT=TAP $(TAP_DRIVER)
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap_skip.sh
SH_LOG_DRIVER = $(TAP_DRIVER)
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/tests/driver.sh $(top_srcdir)/build-aux/tap-driver.sh
# What is set up for somebody's own work is not for the tests: messages in a language, arguments for
# every erl, a cookie; nor more descriptors than a VM may look at one by one when it starts. Idle
# schedulers sleep at once: there are more VMs than cores, and what one spins the others wait for.
# The address sanitizer keeps less of what was freed: a third of the time of what allocates much.
AM_TESTS_ENVIRONMENT = LC_ALL=C.UTF-8; export LC_ALL; umask 022; ulimit -S -n 4096 2>/dev/null || :; \
	unset BEAMTOP_COOKIE ERL_EPMD_ADDRESS ERL_EPMD_PORT ERL_FLAGS ERL_LIBS ERL_ZFLAGS; \
	BEAMTOP_SRCDIR='$(abs_top_srcdir)' BEAMTOP_BUILDDIR='$(abs_top_builddir)'; \
	BEAMTOP='$(abs_top_builddir)/src/beamtop'; FUZZ_TARGETS='$(FUZZ_TARGETS)'; \
	ERL_AFLAGS='+sbwt none +sbwtdcpu none +sbwtdio none'; \
	ASAN_OPTIONS='quarantine_size_mb=8:malloc_context_size=8'; \
	export ASAN_OPTIONS BEAMTOP BEAMTOP_SRCDIR BEAMTOP_BUILDDIR ERL_AFLAGS FUZZ_TARGETS;

# ---- unit and screen tests: tests/main.c is their main(), with what several of them share
check_LIBRARIES = tests/libtest.a
tests_libtest_a_SOURCES = tests/main.c tests/test.h tests/screen/golden.c tests/screen/world.c \
	tests/screen/world_spans.c tests/screen/world_trace.c tests/screen/world_views.c \
	tests/unit/trace/played.c tests/unit/trace/session_world.c
# A folder, which golden.c is not the source of.
tests/screen/golden: ;
LDADD = tests/libtest.a $(APP_LIBS) $(CMOCKA_LIBS)
tests/unit/%.$(OBJEXT) tests/screen/%.$(OBJEXT): AM_CFLAGS += $(UV_CFLAGS) $(JANSSON_CFLAGS) \
	$(EI_CFLAGS) $(ELFUTILS_CFLAGS) $(OPENSSL_CFLAGS) $(SQLITE_CFLAGS)
UNIT_LONG = tests/unit/report/test_rules tests/unit/app/test_hostile_recording \
	tests/unit/app/test_advice tests/unit/app/test_extreme_numbers
UNIT_BASE = tests/unit/base/test_clock tests/unit/base/test_error tests/unit/base/test_files \
	tests/unit/base/test_memory tests/unit/base/test_question tests/unit/base/test_regex \
	tests/unit/base/test_slice tests/unit/base/test_spawn tests/unit/base/test_text
UNIT_ETF = tests/unit/etf/test_check tests/unit/etf/test_cursor tests/unit/etf/test_parse \
	tests/unit/etf/test_print tests/unit/etf/test_print_ex
UNIT_LINK = tests/unit/link/test_aside tests/unit/link/test_atom_cache tests/unit/link/test_control \
	tests/unit/link/test_cookie tests/unit/link/test_dial tests/unit/link/test_discover tests/unit/link/test_discover_blocked tests/unit/link/test_epmd \
	tests/unit/link/test_frame tests/unit/link/test_lookup tests/unit/link/test_name \
	tests/unit/link/test_way tests/unit/link/test_listener tests/unit/link/test_inside \
	tests/unit/link/test_load_tls tests/unit/link/test_optfile tests/unit/link/test_tls \
	tests/unit/link/test_tls_files tests/unit/link/test_wiped
UNIT_LOCAL = tests/unit/local/test_rights tests/unit/local/test_erl_pid tests/unit/local/test_images \
	tests/unit/local/test_jit tests/unit/local/test_outside tests/unit/local/test_records \
	tests/unit/local/test_resident tests/unit/local/test_machine tests/unit/local/test_stack
UNIT_QUERY = tests/unit/query/test_allocators tests/unit/query/test_apps \
	tests/unit/query/test_facts tests/unit/query/test_growth tests/unit/query/test_header tests/unit/query/test_holders \
	tests/unit/query/test_late tests/unit/query/test_leaders tests/unit/query/test_links tests/unit/query/test_old_code tests/unit/query/test_node tests/unit/query/test_ports tests/unit/query/test_price tests/unit/query/test_process tests/unit/query/test_raft \
	tests/unit/query/test_scan tests/unit/query/test_suspenders tests/unit/query/test_tables tests/unit/query/test_terms tests/unit/query/test_waits \
	tests/unit/query/test_vm \
	tests/unit/query/test_who
UNIT_MODEL = tests/unit/model/spans/test_ends tests/unit/model/spans/test_join \
	tests/unit/model/spans/test_sampled tests/unit/model/spans/test_spans tests/unit/model/test_armed tests/unit/model/test_column \
	tests/unit/model/test_decode tests/unit/model/test_filter tests/unit/model/test_order tests/unit/model/test_table \
	tests/unit/model/test_owners tests/unit/model/test_rate tests/unit/model/test_recorded \
	tests/unit/model/test_outside_lines tests/unit/model/test_stacks tests/unit/model/test_threads tests/unit/model/test_timeline \
	tests/unit/model/test_waits tests/unit/model/test_yields
UNIT_TRACE = tests/unit/trace/test_assist tests/unit/trace/test_calls tests/unit/trace/test_calls_several tests/unit/trace/test_caps \
	tests/unit/trace/test_events \
	tests/unit/trace/test_histogram tests/unit/trace/test_library tests/unit/trace/test_log \
	tests/unit/trace/test_matchspec tests/unit/trace/test_names tests/unit/trace/test_pattern \
	tests/unit/trace/test_procs tests/unit/trace/test_request tests/unit/trace/test_session \
	tests/unit/trace/test_session_counts tests/unit/trace/test_session_preflight \
	tests/unit/trace/test_spans_request tests/unit/trace/test_spans_session
UNIT_OUTPUT = tests/unit/output/test_calls_sink tests/unit/output/test_samples_sink \
	tests/unit/output/test_sink tests/unit/output/test_spans_sink tests/unit/output/test_trace_sink
UNIT_RECORDING = tests/unit/recording/test_recorded_log tests/unit/recording/test_recording \
	tests/unit/recording/test_recording_facts tests/unit/recording/test_recording_limits \
	tests/unit/recording/test_recording_long tests/unit/recording/test_recording_samples \
	tests/unit/recording/test_recording_events tests/unit/recording/test_recording_spans \
	tests/unit/recording/test_recording_trace
UNIT_REPORT = tests/unit/report/test_summary \
	tests/unit/report/test_summary_events tests/unit/report/test_summary_many tests/unit/report/test_summary_requests \
	tests/unit/report/test_summary_samples
UNIT_UI = tests/unit/ui/test_canvas tests/unit/ui/test_capture tests/unit/ui/test_complete_trace \
	tests/unit/ui/test_config tests/unit/ui/test_flame tests/unit/ui/test_graph \
	tests/unit/ui/test_key tests/unit/ui/test_pretty tests/unit/ui/test_prompt \
	tests/unit/ui/test_table tests/unit/ui/test_theme tests/unit/ui/test_tty
UNIT_SCREEN = tests/screen/test_acts tests/screen/test_commands tests/screen/test_help \
	tests/screen/test_replay tests/screen/test_screen tests/screen/test_spans \
	tests/screen/test_trace
UNIT_APP = tests/unit/app/test_actions tests/unit/app/test_cli tests/unit/app/test_doctor \
	tests/unit/app/test_condition \
	tests/unit/app/test_error_at tests/unit/app/test_feed \
	tests/unit/app/test_governor tests/unit/app/test_held \
	tests/unit/app/test_local_read tests/unit/app/test_map_file \
	tests/unit/app/test_record_client tests/unit/app/test_record_detach \
	tests/unit/app/test_record_retry tests/unit/app/test_record_status tests/unit/app/test_report \
	tests/unit/app/test_fleet_names tests/unit/app/test_fleet_log tests/unit/app/test_merge tests/unit/app/test_mesh tests/unit/app/test_trace_history tests/unit/app/test_trigger \
	tests/unit/app/test_fleet_join tests/unit/app/test_fleet_trace \
	tests/unit/app/test_fleet_facts \
	tests/unit/app/test_fleet_index tests/unit/app/test_together tests/unit/app/test_way
UNIT_SHORT = $(UNIT_BASE) $(UNIT_ETF) $(UNIT_LINK) $(UNIT_LOCAL) $(UNIT_QUERY) $(UNIT_MODEL) \
	$(UNIT_TRACE) $(UNIT_OUTPUT) $(UNIT_RECORDING) $(UNIT_REPORT) $(UNIT_UI) $(UNIT_SCREEN) $(UNIT_APP)
UNIT_ALL = $(UNIT_LONG) $(UNIT_SHORT)
check_PROGRAMS += $(UNIT_ALL)
check_PROGRAMS += tests/unit/output/spans_files

# Those of a layer are linked with it and those below: the linker shows what it lacks.
tests/unit/base/test_%: LDADD = tests/libtest.a $(BASE_LIBS) $(CMOCKA_LIBS)
tests/unit/etf/test_%: LDADD = tests/libtest.a $(ETF_LIBS) $(CMOCKA_LIBS)
tests/unit/link/test_%: LDADD = tests/libtest.a $(LINK_LIBS) $(CMOCKA_LIBS)
tests/unit/local/test_%: LDADD = tests/libtest.a $(LOCAL_LIBS) $(CMOCKA_LIBS)
tests/unit/query/test_%: LDADD = tests/libtest.a $(QUERY_LIBS) $(CMOCKA_LIBS)
tests/unit/model/test_%: LDADD = tests/libtest.a $(MODEL_LIBS) $(CMOCKA_LIBS)
tests/unit/trace/test_%: LDADD = tests/libtest.a $(TRACE_LIBS) $(CMOCKA_LIBS)
tests/unit/output/test_%: LDADD = tests/libtest.a $(OUTPUT_LIBS) $(CMOCKA_LIBS)
tests/unit/recording/test_%: LDADD = tests/libtest.a $(RECORDING_LIBS) $(CMOCKA_LIBS)
tests/unit/report/test_%: LDADD = tests/libtest.a $(REPORT_LIBS) $(CMOCKA_LIBS)
tests/unit/ui/test_%: LDADD = tests/libtest.a $(UI_LIBS) $(CMOCKA_LIBS)
tests/screen/test_%: LDADD = tests/libtest.a $(UI_LIBS) $(CMOCKA_LIBS)
tests_unit_link_test_wiped_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free,--wrap=realloc
tests_screen_test_replay_LDADD = tests/libtest.a $(APP_LIBS) $(CMOCKA_LIBS)
tests_unit_local_test_images_LDADD = tests/libtest.a $(LOCAL_LIBS) $(LIBDW_LIBS) $(CMOCKA_LIBS)
tests_unit_recording_test_recording_trace_LDADD = tests/libtest.a $(REPORT_LIBS) $(CMOCKA_LIBS)

# ---- connections
LIVE_LINK = tests/live/test_apps tests/live/test_conn tests/live/test_conn_peers tests/live/test_facts \
	tests/live/test_keeper tests/live/test_native tests/live/test_process tests/live/test_who
LIVE_LINK_PARTS = tests/live/node.c tests/live/node.h tests/live/fake_peer.c \
	tests/live/fake_peer.h tests/live/probe.c tests/live/probe.h
tests_live_test_conn_SOURCES = tests/live/test_conn.c $(LIVE_LINK_PARTS)
tests_live_test_conn_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_live_test_conn_LDADD = $(LINK_LIBS) $(CMOCKA_LIBS)
tests_live_test_conn_peers_SOURCES = tests/live/test_conn_peers.c $(LIVE_LINK_PARTS)
tests_live_test_conn_peers_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_live_test_conn_peers_LDADD = $(LINK_LIBS) $(CMOCKA_LIBS)
tests_live_test_apps_SOURCES = tests/live/test_apps.c $(LIVE_LINK_PARTS)
tests_live_test_apps_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_live_test_apps_LDADD = $(QUERY_LIBS) $(CMOCKA_LIBS)
tests_live_test_facts_SOURCES = tests/live/test_facts.c $(LIVE_LINK_PARTS)
tests_live_test_facts_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_live_test_facts_LDADD = $(QUERY_LIBS) $(CMOCKA_LIBS)
tests_live_test_keeper_SOURCES = tests/live/test_keeper.c $(LIVE_LINK_PARTS)
tests_live_test_keeper_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_live_test_keeper_LDADD = $(QUERY_LIBS) $(CMOCKA_LIBS)
tests_live_test_native_SOURCES = tests/live/test_native.c $(LIVE_LINK_PARTS)
tests_live_test_native_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_live_test_native_LDADD = $(QUERY_LIBS) $(CMOCKA_LIBS)
tests_live_test_process_SOURCES = tests/live/test_process.c $(LIVE_LINK_PARTS)
tests_live_test_process_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_live_test_process_LDADD = $(QUERY_LIBS) $(CMOCKA_LIBS)
tests_live_test_who_SOURCES = tests/live/test_who.c $(LIVE_LINK_PARTS)
tests_live_test_who_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_live_test_who_LDADD = $(QUERY_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += $(LIVE_LINK)
# ---- fuzz: tests/fuzz/fuzz_NAME.c, its inputs in tests/fuzz/corpus/NAME/. A target is its name here and its line below.
FUZZ_TARGETS = \
	tests/fuzz/fuzz_apps \
	tests/fuzz/fuzz_atom_cache \
	tests/fuzz/fuzz_calls \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_decode \
	tests/fuzz/fuzz_diag \
	tests/fuzz/fuzz_etf \
	tests/fuzz/fuzz_stepped \
	tests/fuzz/fuzz_frame \
	tests/fuzz/fuzz_header \
	tests/fuzz/fuzz_jit \
	tests/fuzz/fuzz_image \
	tests/fuzz/fuzz_optfile \
	tests/fuzz/fuzz_parse \
	tests/fuzz/fuzz_pattern \
	tests/fuzz/fuzz_prompt \
	tests/fuzz/fuzz_recording \
	tests/fuzz/fuzz_outside \
	tests/fuzz/fuzz_records \
	tests/fuzz/fuzz_regex \
	tests/fuzz/fuzz_scan \
	tests/fuzz/fuzz_spans \
	tests/fuzz/fuzz_srv \
	tests/fuzz/fuzz_theme \
	tests/fuzz/fuzz_trace \
	tests/fuzz/fuzz_growth \
	tests/fuzz/fuzz_holders \
	tests/fuzz/fuzz_leaders \
	tests/fuzz/fuzz_waits \
	tests/fuzz/fuzz_who tests/fuzz/fuzz_wire tests/fuzz/fuzz_way
tests_fuzz_fuzz_apps_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_atom_cache_LDADD = $(FUZZ_MAIN) $(LINK_LIBS)
tests_fuzz_fuzz_calls_LDADD = $(FUZZ_MAIN) $(REPORT_LIBS)
tests_fuzz_fuzz_config_LDADD = $(FUZZ_MAIN) src/libui.a src/libtrace.a src/libetf.a $(BASE_LIBS)
tests_fuzz_fuzz_decode_LDADD = $(FUZZ_MAIN) $(MODEL_LIBS)
tests_fuzz_fuzz_diag_LDADD = $(FUZZ_MAIN) $(LINK_LIBS)
tests_fuzz_fuzz_etf_LDADD = $(FUZZ_MAIN) $(ETF_LIBS)
tests_fuzz_fuzz_stepped_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_frame_LDADD = $(FUZZ_MAIN) $(LINK_LIBS)
tests_fuzz_fuzz_header_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_jit_LDADD = $(FUZZ_MAIN) $(LOCAL_LIBS)
tests_fuzz_fuzz_image_CFLAGS = $(AM_CFLAGS) $(ELFUTILS_CFLAGS)
tests_fuzz_fuzz_image_LDADD = $(FUZZ_MAIN) $(LOCAL_LIBS)
tests_fuzz_fuzz_optfile_LDADD = $(FUZZ_MAIN) $(LINK_LIBS)
tests_fuzz_fuzz_parse_LDADD = $(FUZZ_MAIN) $(ETF_LIBS)
tests_fuzz_fuzz_pattern_LDADD = $(FUZZ_MAIN) $(TRACE_LIBS)
tests_fuzz_fuzz_prompt_LDADD = $(FUZZ_MAIN) src/libui.a src/libtrace.a src/libetf.a $(READLINE_LIBS) $(BASE_LIBS)
tests_fuzz_fuzz_recording_CPPFLAGS = $(AM_CPPFLAGS) $(FUZZ_WAYS)
tests_fuzz_fuzz_recording_LDADD = $(FUZZ_MAIN) $(REPORT_LIBS)
tests_fuzz_fuzz_outside_LDADD = $(FUZZ_MAIN) $(LOCAL_LIBS)
tests_fuzz_fuzz_records_LDADD = $(FUZZ_MAIN) $(LOCAL_LIBS)
tests_fuzz_fuzz_regex_LDADD = $(FUZZ_MAIN) $(BASE_LIBS)
tests_fuzz_fuzz_scan_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_spans_LDADD = $(FUZZ_MAIN) $(MODEL_LIBS)
tests_fuzz_fuzz_way_LDADD = $(FUZZ_MAIN) $(APP_LIBS)
tests_fuzz_fuzz_srv_LDADD = $(FUZZ_MAIN) $(LINK_LIBS)
tests_fuzz_fuzz_theme_LDADD = $(FUZZ_MAIN) src/libui.a $(BASE_LIBS)
tests_fuzz_fuzz_trace_LDADD = $(FUZZ_MAIN) $(REPORT_LIBS)
tests_fuzz_fuzz_growth_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_holders_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_waits_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_leaders_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_who_LDADD = $(FUZZ_MAIN) $(QUERY_LIBS)
tests_fuzz_fuzz_wire_CFLAGS = $(AM_CFLAGS) $(UV_CFLAGS) $(EI_CFLAGS)
tests_fuzz_fuzz_wire_LDADD = $(FUZZ_MAIN) $(LINK_LIBS)

# With --enable-fuzzing libFuzzer has the main(); else it is the driver's, which replays the inputs.
FUZZ_REPLAY =
if FUZZING
FUZZ_MAIN = $(FUZZ_LDFLAGS)
noinst_PROGRAMS += $(FUZZ_TARGETS)
FUZZ_WAYS = -DFUZZ_ONE_WAY
else
FUZZ_WAYS =
FUZZ_MAIN = tests/fuzz/libdriver.a
check_LIBRARIES += tests/fuzz/libdriver.a
tests_fuzz_libdriver_a_SOURCES = tests/fuzz/driver.c
check_PROGRAMS += $(FUZZ_TARGETS)
FUZZ_REPLAY += tests/fuzz/replay.sh
endif

SCRIPT_TESTS = tests/format.sh tests/layers.sh tests/names.sh tests/never.sh tests/spdx.sh \
  tests/words.sh $(FUZZ_REPLAY)
SCRIPT_TESTS += tests/archive.sh tests/scripts.sh tests/unit/output/test_schema.sh

# The tests that need no node and no terminal: quick.
UNIT_TESTS = $(SCRIPT_TESTS) $(UNIT_ALL)
check-unit: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(UNIT_TESTS)'
.PHONY: check-unit

# ---- real nodes, real terminals
LIVE_BINARIES = tests/live/test_clean
tests_live_test_clean_SOURCES = tests/live/test_clean.c tests/live/node.c
tests_live_test_clean_LDADD = $(LINK_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += $(LIVE_BINARIES)
LIVE_RUN_PARTS = tests/live/node.c tests/live/node.h tests/live/run.c tests/live/run.h
LIVE_RUN_LIBS = src/libbase.a $(JANSSON_LIBS) $(BASE_LIBS) $(CMOCKA_LIBS)
LIVE_BINARIES += tests/live/test_armed tests/live/test_exit tests/live/test_right
tests_live_test_armed_SOURCES = tests/live/test_armed.c $(LIVE_RUN_PARTS)
tests_live_test_armed_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_live_test_armed_LDADD = $(LIVE_RUN_LIBS)
tests_live_test_exit_SOURCES = tests/live/test_exit.c $(LIVE_RUN_PARTS)
tests_live_test_exit_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_live_test_exit_LDADD = $(LIVE_RUN_LIBS)
LIVE_BINARIES += tests/live/test_record
tests_live_test_record_SOURCES = tests/live/test_record.c $(LIVE_RUN_PARTS)
tests_live_test_record_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)
tests_live_test_record_LDADD = $(REPORT_LIBS) $(LIVE_RUN_LIBS)
tests_live_test_right_SOURCES = tests/live/test_right.c tests/live/right.c tests/live/right.h \
	tests/live/right_node.c tests/live/right_odd.c tests/live/right_processes.c $(LIVE_RUN_PARTS)
tests_live_test_right_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_live_test_right_LDADD = $(LIVE_RUN_LIBS)
LIVE_BINARIES += tests/live/test_cookies
tests_live_test_cookies_SOURCES = tests/live/test_cookies.c $(LIVE_RUN_PARTS)
tests_live_test_cookies_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(EI_CFLAGS)
tests_live_test_cookies_LDADD = $(BASE_LIBS) $(JANSSON_LIBS) $(EI_LIBS) $(CMOCKA_LIBS)
LIVE_BINARIES += tests/live/test_same
tests_live_test_same_SOURCES = tests/live/test_same.c $(LIVE_RUN_PARTS) src/app/live/encode.c src/app/live/governor.c \
	src/app/live/live.c src/app/live/live_ask.c src/app/live/live_clock.c src/app/live/live_cost.c src/app/live/live_due.c \
	src/app/live/live_host.c src/app/live/live_take.c src/app/live/live_tick.c src/app/live/live_want.c
tests_live_test_same_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(UV_CFLAGS)
tests_live_test_same_LDADD = src/liblocal.a $(ELFUTILS_LIBS) $(REPORT_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += tests/live/select
tests_live_select_LDADD = $(TRACE_LIBS)
# They begin first, the longest of them before: the last one that ends decides how long all take.
LONG_TESTS = tests/live/test_record_fleet.sh tests/live/test_mesh.sh tests/live/test_stall.sh \
	tests/live/test_queries.sh tests/live/test_sample.sh tests/live/test_tls.sh \
	tests/live/test_events.sh tests/live/test_spans.sh tests/live/test_spans_fleet.sh \
	tests/live/test_ports.sh tests/live/test_mnesia.sh tests/live/test_faults.sh \
	tests/live/test_terms.sh tests/live/test_findings.sh tests/live/test_ssh.sh \
	tests/live/test_report.sh tests/live/test_waits.sh tests/live/test_tables.sh \
	tests/live/test_stacks.sh tests/live/test_record_trace.sh tests/live/test_large.sh \
	tests/live/test_names.sh tests/live/test_ways.sh tests/live/test_modules.sh \
	tests/live/test_spans_with.sh tests/live/test_trace_batch.sh tests/live/test_traces.sh \
	tests/live/test_spans_calls.sh tests/live/test_outside.sh tests/live/test_calls_fleet.sh \
	tests/live/test_healthy.sh tests/live/test_lateness.sh tests/live/test_pods.sh
LIVE_TESTS = tests/live/test_calls.sh tests/live/test_calls_batch.sh tests/live/test_closed.sh \
	tests/live/test_completion.sh tests/live/test_cpus.sh tests/live/test_demo.sh \
	tests/live/test_doctor.sh tests/live/test_examples.sh tests/live/test_fleet.sh \
	tests/live/test_gateway.sh tests/live/test_heaps.sh tests/live/test_holders.sh \
	tests/live/test_late.sh tests/live/test_members.sh tests/live/test_near.sh \
	tests/live/test_odd_nodes.sh tests/live/test_output.sh tests/live/test_perf_map.sh \
	tests/live/test_planted.sh tests/live/test_preflights.sh tests/live/test_prompt_fleet.sh \
	tests/live/test_sample_fleet.sh tests/live/test_sample_remote.sh tests/live/test_select.sh \
	tests/live/test_sharing.sh tests/live/test_spans_elixir.sh tests/live/test_spans_gateway.sh \
	tests/live/test_spans_kills.sh tests/live/test_spans_shapes.sh tests/live/test_suspenders.sh \
	tests/live/test_system.sh tests/live/test_trace_caps.sh tests/live/test_trace_fleet.sh \
	tests/live/test_trace_kills.sh tests/live/test_waits_spans.sh
TMUX_TESTS = tests/tmux/test_act.sh tests/tmux/test_findings.sh tests/tmux/test_life.sh tests/tmux/test_link.sh tests/tmux/test_look.sh tests/tmux/test_outside.sh \
	tests/tmux/test_record.sh tests/tmux/test_replay.sh tests/tmux/test_spans.sh tests/tmux/test_trace.sh \
	tests/tmux/test_views.sh

# What `./bootstrap check` runs, and what only `./bootstrap check all` does.
QUICK_TESTS = $(LONG_TESTS) $(UNIT_LONG) $(LIVE_BINARIES) $(LIVE_LINK) $(SCRIPT_TESTS) $(LIVE_TESTS) \
	$(TMUX_TESTS) $(UNIT_SHORT)
REST_TESTS = tests/live/test_engines.sh tests/live/test_million.sh tests/live/test_release.sh \
	tests/tmux/test_idle.sh tests/tmux/test_pictures.sh
ALL_TESTS = $(QUICK_TESTS) $(REST_TESTS)
TESTS = $(ALL_TESTS)

# make print-tests LIST=QUICK_TESTS
LIST = ALL_TESTS
print-tests:
	@echo $($(LIST))
.PHONY: print-tests

# ---- bench: figures beside their goals, never part of `make check`. BENCH: some of those that
# bench.sh names
EXTRA_PROGRAMS = tests/bench/pty
tests_bench_pty_LDADD = -lutil
CLEANFILES += tests/bench/pty$(EXEEXT)
EXTRA_PROGRAMS += tests/bench/names
tests_bench_names_LDADD = $(TRACE_LIBS)
CLEANFILES += tests/bench/names$(EXEEXT)
EXTRA_PROGRAMS += tests/bench/recording
tests_bench_recording_LDADD = $(REPORT_LIBS)
CLEANFILES += tests/bench/recording$(EXEEXT)
EXTRA_PROGRAMS += tests/bench/link
tests_bench_link_LDADD = $(LINK_LIBS)
CLEANFILES += tests/bench/link$(EXEEXT)
BENCH =
bench: all tests/bench/pty$(EXEEXT) tests/bench/names$(EXEEXT) tests/bench/recording$(EXEEXT)
	BEAMTOP_SRCDIR='$(abs_top_srcdir)' BEAMTOP_BUILDDIR='$(abs_top_builddir)' \
		$(srcdir)/tests/bench/bench.sh $(BENCH)
.PHONY: bench
