/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every cap of the program, with its unit and its reason. A queue, ring, buffer, depth or rate
 * that is bounded elsewhere is an error. */
#ifndef BEAMTOP_BASE_LIMITS_H
#define BEAMTOP_BASE_LIMITS_H

/* base */
/* clang-format off */
#define LIMIT_REGEX_BYTES 4096u                   /* a regex that the user types */
#define LIMIT_REGEX_STEPS 50000u                  /* of a regex on one text: less than 1 ms */
#define LIMIT_REGEX_PASS_STEPS (8u * 1024 * 1024) /* … on all names: a key waits 0.1 s */
#define LIMIT_REGEX_DRAW_STEPS (2u * 1024 * 1024) /* … while one picture is drawn */
#define LIMIT_REGEX_DEPTH 2000u                   /* PCRE2's depth limit, without JIT */
#define LIMIT_REGEX_HEAP_KIB 4096u                /* PCRE2's heap limit, without JIT */

/* link */
#define LIMIT_FRAME_BYTES (16u * 1024 * 1024) /* one inbound frame; larger ones are skipped */
#define LIMIT_OUT_QUEUE_BYTES (4u * 1024 * 1024) /* unsent bytes: above it the link is stalled */
#define LIMIT_COOKIE_BYTES 511u                   /* what libei's digest takes */
#define LIMIT_NODE_NAME_BYTES 511u                /* Name@Host, as libei's MAXNODELEN */
#define LIMIT_NAME_POOL 8 /* beamtop@, beamtop-2@ … beamtop-8@: bounds the atoms we cost */
#define LIMIT_EPMD_ANSWER_BYTES (256u * 1024)     /* a NAMES answer */
#define LIMIT_DISCOVER_VMS 256                    /* VMs listed on one host */
#define LIMIT_EPMD_NAMES 1024                     /* names read out of one NAMES answer */
#define LIMIT_FRAME_SKIP_BYTES (512u * 1024 * 1024) /* the largest frame that is skipped */
#define LIMIT_PROC_CMDLINE_BYTES (256u * 1024)    /* one /proc/PID/cmdline or environ */
#define LIMIT_PROC_FDS 65536                      /* descriptors of one OS process that are read */
#define LIMIT_LISTENING 1024                      /* sockets of one user that listen */
#define LIMIT_DIAG_MS 1000                        /* the kernel is waited for, about sockets */
#define LIMIT_DIAG_ROWS 65536                     /* sockets of one answer of it */
#define LIMIT_READ_BYTES_PER_TURN (2u * 1024 * 1024) /* read in one turn of the loop */
#define LIMIT_TLS_FILE_BYTES (1024u * 1024)     /* a file of certificates or options */
#define LIMIT_TLS_LOADS 32                        /* certificates that are being read */
#define LIMIT_TLS_KNOWN 1024                      /* nodes of which is kept that they use TLS */

/* etf */
#define LIMIT_TERM_DEPTH 256u                     /* nesting of a term from the wire */
#define LIMIT_ATOM_BYTES 1020u                    /* an atom's name: 255 characters of UTF-8 */
#define LIMIT_TERM_NODES (4u * 1024 * 1024)       /* subterms of one term from the wire */
#define LIMIT_TERM_TEXT_BYTES (256u * 1024)       /* one term printed for the user */

/* query */
#define LIMIT_CALLS_IN_FLIGHT 16                  /* questions without an answer */
#define LIMIT_QUERY_MS 60000                      /* the longest deadline of a question */
#define LIMIT_BATCH_APART_S 20 /* ticks of a run that ends by itself: its cost ends too */

/* model */
#define LIMIT_ROWS 1000                           /* process rows of one scan */
#define LIMIT_HISTORY 900 /* samples kept for each line of history: 15 min at 1 s */
#define LIMIT_SCHEDULERS 4096 /* 1024 normal + 1024 dirty CPU + 1024 dirty I/O, and room */
#define LIMIT_CPUS 65536 /* of a host */
#define LIMIT_FILTER_CALLS 20000 /* a filter reads current functions up to this */
#define LIMIT_LEADERS_ALL 150000 /* processes of which all are looked at for the longest queue */
#define LIMIT_FILTER_LABELS 20000                 /* distinct names a filter looks at */
#define LIMIT_FILTER_LABEL_BYTES 4096             /* one of them */
#define LIMIT_JOURNAL 1000                        /* lines of the log view */
#define LIMIT_SEEN_PIDS 32768 /* processes whose earlier sights are remembered: about 6 MiB */
#define LIMIT_SEEN_NAMES 4096 /* registered names whose last pid is remembered */
#define HEAPS_ROWS 20  /* largest processes of `heaps`: those shown, by default */
#define HEAPS_MOST 200 /* and at most: each costs some 30 µs there */
#define COLLECT_MS 5000 /* that a garbage collection on request is waited for there */
#define COLLECT_DEADLINE_MS 10000
#define LIMIT_DETAIL_ITEMS 20000 /* elements of one list of an answer: links, frames … */
#define LIMIT_TABLE_ROWS 4096                     /* of an answer that is one table */
#define LIMIT_TABLE_KEYS 100 /* of an ETS table, read on request */
#define LIMIT_STACK_FRAMES 50000                  /* distinct frames of weighted stacks … */
#define LIMIT_STACK_TEXT_BYTES (32u * 1024 * 1024) /* … and their texts all together */
#define LIMIT_STACK_NAME_BYTES 4096u /* one of them: an MFA has 2 KiB, a C++ symbol any length */
#define LIMIT_STACK_DEPTH 1024 /* frames of one stack: as many as 8 KiB of stack can hold */
#define LIMIT_STACK_NODES 100000                  /* of one tree: 15 MiB */
#define LIMIT_SPAN_EVENTS 40000u /* of causal spans: twice what a node may send; 3 MiB */
#define LIMIT_SPAN_NODES 16u /* whose requests are captured together */
#define LIMIT_SPAN_PROCESSES 2000u                /* distinct ones among them */
#define LIMIT_SPAN_TEXT_BYTES (1024u * 1024)      /* distinct names among them, all together */
#define LIMIT_SPAN_NAME_BYTES 2048u               /* one of them: an MFA has 2 KiB */
#define LIMIT_SPAN_ROOTS 1000u                    /* trees */
#define LIMIT_SPAN_DEPTH 64u                      /* of one tree */
#define LIMIT_SPAN_STEPS 100000u                  /* of one critical path */
#define LIMIT_SPAN_SAMPLES 200000u                /* of the sampler beside a capture; 6 MiB */
#define LIMIT_TIMELINE_EVENTS 60000u /* of one process: calls, times off CPU, gaps; 10 MiB */
#define LIMIT_ARMED 1000 /* breakpoints, and flags, asked for, more are counted; and sessions */

/* trace: the caps that the user sets, with their ceilings, are in trace/caps.h */
#define LIMIT_TRACE_PATTERNS 32                   /* in one trace */
#define LIMIT_PATTERN_BYTES 4096u                 /* one pattern as typed */
#define LIMIT_PATTERN_NODES 2000                  /* of one tree */
#define LIMIT_PATTERN_DEPTH 100                   /* of one tree: the parser recurses */
#define LIMIT_SPEC_NODES 50000u /* terms of one match specification */
#define LIMIT_TRACE_EVENTS 10000                  /* kept, whatever their size … */
#define LIMIT_TRACE_KEPT_BYTES (64u * 1024 * 1024) /* … and all together */
#define LIMIT_TRACE_STACK 64                      /* frames of one call */
#define LIMIT_TRACE_HELD_BYTES (1024u * 1024) /* messages before the answer `armed` */
#define LIMIT_TRACE_FIELDS 1000                   /* of one record */
#define LIMIT_CALLS_WINDOW_MS 45000 /* of counted calls: within a question's deadline */
#define LIMIT_CALLS_ROWS 1000                     /* functions of a window */
#define LIMIT_NAMES 200000                        /* functions remembered for completion */

/* recording */
#define LIMIT_RECORDING_BYTES (UINT64_C(1) << 30) /* a recording, unless set otherwise */
#define LIMIT_RECORDED_TERM_BYTES LIMIT_FRAME_BYTES /* one answer of a recording */
#define LIMIT_RECORDING_ROW_BYTES (17u * 1024 * 1024) /* one row of a recording */
#define LIMIT_RECORDING_TICKS INT64_C(1000000000) /* of a recording: 30 years of one a second */
#define LIMIT_RECORDING_MARKS 100000              /* of a recording that are shown */
#define LIMIT_RECORDING_TRACES 100000             /* of a recording that are listed */
#define LIMIT_RECORDING_CHECKED_BYTES (INT64_C(64) << 20) /* larger: pages not checked */
#define LIMIT_RECORDING_PROGRESS_STEPS 10000 /* SQLite steps between two checks of the next two */
#define LIMIT_RECORDING_STEPS UINT64_C(20000000)  /* for one use of a recording: 0.5 s … */
#define LIMIT_RECORDING_STEPS_PER_BYTE UINT64_C(100) /* … and for each byte of it */
#define LIMIT_RECORDED_NODES 2000u /* of the tree of a run of the sampler */
#define LIMIT_RECORDED_SOURCES 100u /* of its processes, and of its threads */
#define LIMIT_RECORDED_PLACES 8u    /* where each of them was sampled: most samples first */
#define LIMIT_RECORDED_SPAN_RUNS 100 /* captures of spans in a recording: the newest */
#define LIMIT_RECORDED_EVENT_RUNS 10000 /* runs for system events that are listed */
#define LIMIT_RECORDED_EVENTS 200000    /* of one: its cap is half of it, without cuts */
#define LIMIT_RECORD_REQUEST_BYTES 1024 /* a line to a recorder that runs: a mark is the longest */
#define LIMIT_RECORD_LOG_BYTES (1024u * 1024) /* a recorder's log; then only its end */
#define LIMIT_RECORD_CLIENTS 8                    /* connections to it that wait to be taken */
#define LIMIT_RECORD_PEERS 256                    /* recorders of one user that are listed */
#define LIMIT_RECORDER_BUSY_MS 1000 /* how long a tick waits for another that writes to the file */
#define LIMIT_RECORDER_LOCKED_S 60 /* how long ticks may have to wait before the recording ends */
#define LIMIT_RECORDING_BUSY_MS 5000 /* how long a reader waits for another that has the file */

/* local: memory and files of a VM that is looked at from outside belong to its user */
#define LIMIT_JIT_ENTRIES 65536                   /* of a VM's list of compiled code: modules */
#define LIMIT_JIT_ENTRY_BYTES (64u * 1024 * 1024) /* one of them … */
#define LIMIT_JIT_BYTES (256u * 1024 * 1024)      /* … and all together */
#define LIMIT_JIT_FUNCTIONS 2000000               /* of all modules: 110 modules have 18,000 */
#define LIMIT_JIT_LINES 8000000                   /* line records of all functions */
#define LIMIT_JIT_WALKS 8 /* of the list, while code that is loaded tears them */
#define LIMIT_JIT_SCAN_BYTES (16u * 1024 * 1024)  /* searched for the list: 350 KiB as a rule */
#define LIMIT_JIT_CANDIDATES 1000                 /* places there that look like its head */
#define LIMIT_JIT_CODE_BYTES (64u * 1024)         /* of one shared fragment that is read */
#define LIMIT_IMAGE_MAPS_BYTES (16u * 1024 * 1024) /* one /proc/PID/maps */
#define LIMIT_IMAGES 1024                         /* files that a process has mapped as code */
#define LIMIT_IMAGE_BYTES (512u * 1024 * 1024)    /* sections read from all of them */
#define LIMIT_IMAGE_SECTIONS 1024                 /* of one file */
#define LIMIT_IMAGE_SEGMENTS 64                   /* of one file */
#define LIMIT_IMAGE_DYNAMIC 256                   /* entries of one dynamic section */
#define LIMIT_IMAGE_SYMBOLS 1000000u              /* of one table */
#define LIMIT_IMAGE_FRAMES 1000000u               /* frame descriptions of one file */
#define LIMIT_IMAGE_CIES 4096u                    /* what these have in common, of one file */
#define LIMIT_IMAGE_WRITABLE_BYTES (64u * 1024 * 1024) /* one writable segment */
#define LIMIT_IMAGE_ROWS 1024u /* unwinding rows kept by address: a load has 40 to 260 */
#define LIMIT_IMAGE_INSTRUCTIONS 65536u /* of one frame description */
#define LIMIT_EXPRESSION_BYTES 64u                /* of an unwinding rule; a PLT has 11 */
#define LIMIT_EXPRESSION_STACK 16u                /* values on its stack */
#define LIMIT_SYMBOL_BYTES 1024u                  /* a native name, mangled and not */
#define LIMIT_THREADS 8192                        /* of one VM */
#define LIMIT_CGROUP_LEVELS 32                    /* cgroups above that of a VM */
#define LIMIT_OUTSIDE_STACKS 256                  /* threads of a VM whose newest stack is shown */
#define LIMIT_OUTSIDE_SOCKETS 64                  /* of a VM, that listen */
#define LIMIT_SAMPLE_FRAMES 512u                  /* of one stack */
#define LIMIT_SAMPLE_STACK_BYTES (256u * 1024) /* of an Erlang stack that are read */
#define LIMIT_SAMPLED_PROCESSES 100000u           /* counted by one run */
#define LIMIT_SAMPLED_PLACES 64u                  /* CPUs of a thread, threads of a process */
#define LIMIT_SAMPLED_HELD 100u                   /* calls that held a scheduler, of one run */
#define LIMIT_SAMPLER_FRAMES 200000u              /* distinct frames that a sampler names */
#define LIMIT_SAMPLER_QUEUE_BYTES (8u * 1024 * 1024) /* samples that wait to be taken */
#define LIMIT_SAMPLER_RECORD_BYTES (64u * 1024) /* one of its records */

/* ui */
#define LIMIT_CANVAS_COLUMNS 2000
#define LIMIT_CANVAS_ROWS 1000
#define LIMIT_PANES 16
#define LIMIT_CONFIG_BYTES (1024u * 1024)
#define LIMIT_CONFIG_DEPTH 8                      /* nesting of `source` */
#define LIMIT_CONFIG_FILES 64                     /* files read through `source`, all together */
#define LIMIT_CONFIG_WORDS 64                     /* words of one line */
#define LIMIT_CONFIG_ERRORS 100                   /* kept; the rest is counted */
#define LIMIT_BINDINGS 1000                       /* keys with a meaning */
#define LIMIT_PROMPT_HISTORY 1000
#define LIMIT_PROMPT_BYTES 4096                   /* one line at a prompt */
#define LIMIT_PASTE_BYTES (64u * 1024)            /* one paste; the rest is dropped */
#define LIMIT_PASTE_TAKEN (16u * 1024 * 1024) /* characters of one paste, dropped ones too */
#define LIMIT_PASTE_SILENCE_MS 1000u /* within a paste: its end was lost, keys are keys again */
#define LIMIT_MOUSE_SILENCE_MS 200u /* within a report of the mouse: its end was lost */
#define LIMIT_DOUBLE_CLICK_MS 400u
#define LIMIT_BACKGROUND_MS 1000u /* a terminal that has not said its background will not */
#define LIMIT_BACKGROUND_ANSWER_MS 200u /* from asking until the terminal counts as silent */
#define LIMIT_BACKGROUND_END_MS 100u /* from leaving until its answer would be the shell's */
#define LIMIT_COMPLETIONS 2000                    /* words offered at once */
#define LIMIT_CAPTURE_BYTES (256u * 1024 * 1024) /* one capture: the largest canvas as SVG */
#define LIMIT_FRAMES_PER_S 30                     /* redraws of the screen */
/* clang-format on */

#endif
