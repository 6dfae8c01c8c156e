#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a cmocka test and gives its skips the form that TAP has for them: cmocka writes `not ok N # SKIP
# NAME`, which counts as a failure. The reason is the line that the test printed before. Only the test
# ends at the driver's limit: what it printed until then is still to be read.
set -u
exec 4>&1
trap : TERM
status=$({ { "$@" 4>&-; echo $? >&3; } | (trap '' TERM; exec awk '
    /^not ok [0-9]+ # SKIP/ {
        name = substr($0, index($0, "# SKIP ") + 7)
        print "ok " $3 " - " name " # SKIP " (reason ? reason : "what it needs is not here")
        reason = ""
        next
    }
    /^(ok|not ok) / { reason = "" }
    !/^(ok |not ok |1\.\.)/ { reason = $0; sub(/^# */, "", reason) }
    { print; fflush() }' >&4 3>&- 4>&-); } 3>&1)
exit "${status:-143}"
