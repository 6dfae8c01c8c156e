%% SPDX-License-Identifier: GPL-3.0-or-later
%% Writers that wait for a synchronous log handler with every event.
-module(shop_audit).

-export([add_handler/0, remove_handler/0, event/1]).

%% sync_mode_qlen 0: each caller waits until its event is written. The burst limit would drop events.
add_handler() ->
    Config = #{file => filename:join(directory(), "audit.log"),
               max_no_bytes => shop:setting(audit_file_bytes), max_no_files => 1,
               sync_mode_qlen => 0, burst_limit_enable => false},
    Mine = {fun logger_filters:domain/2, {log, sub, [shop, audit]}},
    Others = {fun logger_filters:domain/2, {stop, sub, [shop, audit]}},
    ok = logger:add_handler(shop_audit, logger_std_h,
                            #{config => Config, filter_default => stop, filters => [{audit, Mine}],
                              level => info}),
    _ = logger:add_handler_filter(default, shop_audit, Others),
    logger:set_module_level(?MODULE, info).

remove_handler() ->
    _ = logger:remove_handler_filter(default, shop_audit),
    logger:remove_handler(shop_audit).

event(N) ->
    logger:log(info, "order ~b of customer ~b was paid", [N, N rem 1000],
               #{domain => [shop, audit], mfa => {?MODULE, ?FUNCTION_NAME, ?FUNCTION_ARITY}}).

directory() ->
    case init:get_argument(shop_dir) of
        {ok, [[Dir] | _]} -> Dir;
        _ -> "."
    end.
