%% SPDX-License-Identifier: GPL-3.0-or-later
%% Reads the queries at build time, so that no target has to: escript prepare.erl DIRECTORY FILE...
%%
%% Of q/NAME.erl comes DIRECTORY/NAME.etf, an external term: {Kind, [{Names, Exprs}]}. Kind is
%% `query`, or, where the last expression is a tuple that begins so, `holder` or `process`. There is
%% a pair for each expression of the sequence: the variables that it names, and it in the abstract
%% format, as an external term again. Of loader.erl comes the list of all its expressions.
%%
%% An expression begins with a line that is not indented. A line `-include("NAME").` becomes the
%% text of NAME, a path from that file; NAME includes nothing itself.
%%
%% `receive … after` becomes a wait for the message of a timer. An evaluated `receive` calls a fun
%% for each message (prim_eval:'receive'/2): when its process is scheduled out there, and its time
%% ends then, the VM goes on at the wrong place, and ends (docs/performance.md, faults of the VM).
-module(prepare).
-export([main/1, prepared/1, prepared_text/1, whole/1]).

main([Directory | Files]) ->
    lists:foreach(fun(File) ->
        Name = filename:basename(File, ".erl") ++ ".etf",
        ok = file:write_file(filename:join(Directory, Name), prepared(File))
    end, Files).

prepared(File) ->
    case filename:basename(File) of
        "loader.erl" ->
            Read = read_all(File, parts(whole(File))),
            term_to_binary(lists:append([Exprs || {_, Exprs} <- Read]));
        _ ->
            prepared(File, whole(File))
    end.

%% For tests, as whole/1 is.
prepared_text(Text) -> prepared("text", Text).

prepared(File, Text) ->
    Parts = parts(Text),
    Read = [{Names, term_to_binary(Exprs)} || {Names, Exprs} <- read_all(File, Parts)],
    term_to_binary({kind(lists:last(Parts)), Read}, [compressed]).

parts(Text) -> re:split(Text, ",\\n+(?=[A-Z{])|\\.\\n*\\z", [trim]).

read_all(File, Parts) -> [read(File, Part) || Part <- Parts].

kind(<<"{holder,", _/binary>>) -> holder;
kind(<<"{process,", _/binary>>) -> process;
kind(_) -> query.

%% Without lines: they would be sent, and say nothing of a text of many files.
read(File, Part) ->
    Text = unicode:characters_to_list([Part, "."]),
    case erl_scan:string(Text) of
        {ok, Tokens, _} ->
            case erl_parse:parse_exprs(Tokens) of
                {ok, Exprs} ->
                    {lists:usort([Name || {var, _, Name} <- Tokens]),
                     [waits(erl_parse:map_anno(fun(_) -> 1 end, Expr)) || Expr <- Exprs]};
                {error, {Line, _, Why}} ->
                    wrong(File, Text, Line, erl_parse:format_error(Why))
            end;
        {error, {Line, _, Why}, _} ->
            wrong(File, Text, Line, erl_scan:format_error(Why))
    end.

%% The VM sets a timer for no other.
waits({'receive', 1, Clauses, Time, Body})
  when Time =/= {integer, 1, 0}, Time =/= {atom, 1, infinity} ->
    {block, 1, [{match, 1, Ms, _}, Start, Receive, Cancel]} = wait(),
    {'receive', 1, [{clause, 1, Head, [], _}], Bare, _} = Receive,
    Late = waits(Body),
    Others = [{clause, 1, Pattern, Guards, [Cancel | waits(Exprs)]}
              || {clause, 1, Pattern, Guards, Exprs} <- Clauses],
    {block, 1, [{match, 1, Ms, waits(Time)}, Start,
                {'receive', 1, [{clause, 1, Head, [], Late} | Others], Bare, Late}]};
waits(Form) when is_tuple(Form) -> list_to_tuple(waits(tuple_to_list(Form)));
waits([Form | Forms]) -> [waits(Form) | waits(Forms)];
waits(Form) -> Form.

%% Its variables are its own: all expressions of a query share one scope.
wait() ->
    N = case get(waits) of undefined -> 1; Before -> Before + 1 end,
    put(waits, N),
    Text = "begin
        Ms# = 1,
        Timer# = case Ms# of
            infinity -> none;
            0 -> none;
            _ -> erlang:start_timer(Ms#, self(), [])
        end,
        receive {timeout, Timer#, []} -> ok
        after case Timer# of none -> Ms#; _ -> infinity end -> ok
        end,
        is_reference(Timer#) andalso erlang:cancel_timer(Timer#) =:= false
            andalso receive {timeout, Timer#, []} -> ok after 0 -> ok end
    end.",
    Named = lists:append(string:replace(Text, "#", "_" ++ integer_to_list(N), all)),
    {ok, Tokens, _} = erl_scan:string(Named),
    {ok, [Block]} = erl_parse:parse_exprs(Tokens),
    erl_parse:map_anno(fun(_) -> 1 end, Block).

wrong(File, Text, Line, Why) ->
    [First | _] = string:split(Text, "\n"),
    io:format(standard_error, "~s: ~s, at line ~p of what begins with~n~ts~n",
              [File, Why, Line, First]),
    halt(1).

%% The text with what it includes, without lines of comment.
whole(File) ->
    unicode:characters_to_binary(lists:map(fun
        (<<"-include(\"", Rest/binary>>) ->
            [Part | _] = binary:split(Rest, <<"\"">>),
            [[Line, "\n"] || Line <- lines(filename:join(filename:dirname(File), Part))];
        (Line) ->
            [Line, "\n"]
    end, lines(File))).

lines(File) ->
    {ok, Bytes} = file:read_file(File),
    [Line || Line <- binary:split(Bytes, <<"\n">>, [global, trim]),
             re:run(Line, "^ *%", [{capture, none}]) =:= nomatch].
