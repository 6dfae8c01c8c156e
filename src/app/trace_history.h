/* Where what was typed at the trace prompt of a node is kept, below the state directory. Pure. */
#ifndef BEAMTOP_APP_TRACE_HISTORY_H
#define BEAMTOP_APP_TRACE_HISTORY_H

#define TRACE_HISTORY_FILE_BYTES 256

/*
 * "traces/NODE": what may lead elsewhere, or is no plain character of a node's name, as %XX. A name
 * that is longer than file names may be is cut, with a number made of the whole behind it.
 */
void trace_history_file(char out[TRACE_HISTORY_FILE_BYTES], const char *node);

#endif
