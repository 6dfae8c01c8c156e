%% SPDX-License-Identifier: GPL-3.0-or-later
%% The pipeline that each request goes through.
-module(gateway_plug).

-export([run/2, call/2]).

run(Request, 0) -> Request;
run(Request, Left) -> run(call(Request, Left), Left - 1).

call(Request, Plug) -> Request#{plug => Plug}.
