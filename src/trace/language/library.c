/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/library.h"

#include <stddef.h>

/*
 * MODULE, FUNCTION, NAME and TABLE are for you to replace: as names that hardly any node has, a
 * pattern that is sent as it stands matches nothing and says so. */
const struct library_row library_table[] = {
    {"slow calls of a module", "'MODULE' -> slower 10ms;caller", ":MODULE -> slower 10ms;caller"},
    {"calls that raise", "'MODULE' -> raises;stack", ":MODULE -> raises;stack"},
    {"calls with arguments and results", "'MODULE':'FUNCTION' -> return",
     ":MODULE.FUNCTION -> return"},
    {"results that are errors", "'MODULE':'FUNCTION' -> returns {error, _}",
     ":MODULE.FUNCTION -> returns {:error, _}"},
    {"who calls a function", "'MODULE':'FUNCTION' -> caller;stack",
     ":MODULE.FUNCTION -> caller;stack"},
    {"how often functions of a module are called", "'MODULE' -> count", ":MODULE -> count"},
    {"where the time of a module goes", "'MODULE' -> time", ":MODULE -> time"},
    {"writes to an ETS table", "ets:insert('TABLE', _)", ":ets.insert(:TABLE, _)"},
    {"deletions from an ETS table", "ets:delete('TABLE', _)", ":ets.delete(:TABLE, _)"},
    {"calls to a GenServer that take long", "gen_server:call('NAME', _) -> slower 10ms;caller",
     ":gen_server.call(:NAME, _) -> slower 10ms;caller"},
    {"GenServer calls as they arrive", "receive({'$gen_call', _, _})",
     "receive({:\"$gen_call\", _, _})"},
    {"GenServer casts as they arrive", "receive({'$gen_cast', _})", "receive({:\"$gen_cast\", _})"},
    {"messages to a name", "send('NAME', _)", "send(:NAME, _)"},
    {"exits of linked processes", "receive({'EXIT', _, _})", "receive({:EXIT, _, _})"},
    {NULL, NULL, NULL},
};

const char *library_text(const struct library_row *row, enum syntax syntax)
{
    return syntax == SYNTAX_ELIXIR ? row->elixir : row->erlang;
}
