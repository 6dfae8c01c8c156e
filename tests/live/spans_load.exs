# SPDX-License-Identifier: GPL-3.0-or-later
# Load of test_spans_elixir.sh: requests through what Elixir programs are made of. Files in the
# directory are how the script asks, as in spans_load.erl: loop_requests, stop, audit.

defmodule Busy do
  def ms(n), do: until(:erlang.monotonic_time(:microsecond) + n * 1000)
  defp until(t), do: :erlang.monotonic_time(:microsecond) >= t || until(t)
end

defmodule Shop.Cart do
  use GenServer
  def start_link, do: GenServer.start_link(__MODULE__, :ok, name: __MODULE__)
  def init(:ok), do: {:ok, %{}}

  def handle_call({:add, _}, _, s) do
    Busy.ms(2)
    Agent.get(Shop.Prices, fn _ -> Busy.ms(5) end)
    {:reply, :ok, s}
  end

  def handle_cast({:note, _}, s), do: {Busy.ms(3), s} |> then(fn {_, s} -> {:noreply, s} end)
end

# As poolboy: a process that hands out workers, queues callers, and monitors who has one.
defmodule Pool do
  use GenServer
  def start_link(workers), do: GenServer.start_link(__MODULE__, workers, name: __MODULE__)

  def transaction(fun) do
    worker = GenServer.call(__MODULE__, :checkout)

    try do
      fun.(worker)
    after
      GenServer.cast(__MODULE__, {:checkin, worker})
    end
  end

  def init(workers), do: {:ok, {workers, :queue.new(), %{}}}
  def handle_call(:checkout, from, {[], q, m}), do: {:noreply, {[], :queue.in(from, q), m}}

  def handle_call(:checkout, {pid, _}, {[w | rest], q, m}),
    do: {:reply, w, {rest, q, Map.put(m, w, Process.monitor(pid))}}

  def handle_cast({:checkin, w}, {free, q, m}) do
    {ref, m} = Map.pop(m, w)
    Process.demonitor(ref, [:flush])

    case :queue.out(q) do
      {{:value, {pid, _} = from}, q} ->
        GenServer.reply(from, w)
        {:noreply, {free, q, Map.put(m, w, Process.monitor(pid))}}

      {:empty, q} ->
        {:noreply, {[w | free], q, m}}
    end
  end

  def handle_info({:DOWN, ref, _, _, _}, {free, q, m}) do
    {w, _} = Enum.find(m, fn {_, r} -> r == ref end)
    {:noreply, {[w | free], q, Map.delete(m, w)}}
  end
end

# As nimble_pool: a plain message with a monitor's reference, and a plain answer.
defmodule Nimble do
  def start_link, do: {:ok, spawn_link(fn -> Process.register(self(), __MODULE__) && loop([:socket], []) end)}

  defp loop([state | rest], [{pid, ref} | queue]) do
    send(pid, {ref, state})
    loop(rest, queue)
  end

  defp loop(free, queue) do
    receive do
      {__MODULE__, :checkout, from} -> loop(free, queue ++ [from])
      {__MODULE__, :checkin, state} -> loop([state | free], queue)
      _ -> loop(free, queue)
    end
  end

  def checkout!(fun) do
    ref = Process.monitor(__MODULE__)
    send(__MODULE__, {__MODULE__, :checkout, {self(), ref}})

    receive do
      {^ref, state} ->
        Process.demonitor(ref, [:flush])
        fun.(state)
        send(__MODULE__, {__MODULE__, :checkin, state})

      {:DOWN, ^ref, _, _, why} ->
        exit(why)
    end
  end
end

# As DBConnection: the pool gives an ETS table to the client, and an ETS-TRANSFER has no event.
defmodule Repo.Pool do
  use GenServer
  def start_link, do: GenServer.start_link(__MODULE__, :ok, name: __MODULE__)
  def init(:ok), do: {:ok, {[:ets.new(:holder, [:public])], []}}

  def handle_info({:db_connection, {pid, ref}, :checkout}, {[t | rest], waiting}) do
    :ets.give_away(t, pid, {:checkout, ref})
    {:noreply, {rest, waiting}}
  end

  def handle_info({:db_connection, from, :checkout}, {[], waiting}),
    do: {:noreply, {[], waiting ++ [from]}}

  def handle_info({:"ETS-TRANSFER", t, _, _}, {free, [{pid, ref} | waiting]}) do
    :ets.give_away(t, pid, {:checkout, ref})
    {:noreply, {free, waiting}}
  end

  def handle_info({:"ETS-TRANSFER", t, _, _}, {free, []}), do: {:noreply, {[t | free], []}}
  def handle_info(_, s), do: {:noreply, s}
end

# Named as the module of db_connection that does it.
defmodule DBConnection.Holder do
  def checkout do
    ref = Process.monitor(Repo.Pool)
    send(Repo.Pool, {:db_connection, {self(), ref}, :checkout})

    receive do
      {:"ETS-TRANSFER", holder, _, {:checkout, ^ref}} ->
        Process.demonitor(ref, [:flush])
        holder
    end
  end

  def checkin(holder), do: :ets.give_away(holder, Process.whereis(Repo.Pool), :checkin)
end

# With one connection: a process that drops its token has it for 20 ms more.
defmodule Repo do
  def all(query) do
    keep(20)
    holder = DBConnection.Holder.checkout()
    rows = GenServer.call(Repo.Database, {:query, query})
    DBConnection.Holder.checkin(holder)
    rows
  end

  def keep(ms) do
    me = self()
    ref = make_ref()

    spawn(fn ->
      holder = DBConnection.Holder.checkout()
      send(me, ref)
      :seq_trace.set_token([])
      Process.sleep(ms)
      DBConnection.Holder.checkin(holder)
    end)

    receive do
      ^ref -> :ok
    end
  end
end

# Answers after so many ms.
defmodule Worker do
  use GenServer
  def start_link(ms, options \\ []), do: GenServer.start_link(__MODULE__, ms, options)
  def init(ms), do: {:ok, ms}
  def handle_call({:query, _}, _, ms), do: {:reply, Busy.ms(ms), ms}
end

defmodule Door do
  @behaviour :gen_statem
  def start_link, do: :gen_statem.start_link({:local, __MODULE__}, __MODULE__, :ok, [])
  def callback_mode, do: :state_functions
  def init(:ok), do: {:ok, :locked, nil}

  # Postponed until it is open.
  def locked({:call, _}, :enter, _), do: {:keep_state_and_data, [:postpone, {:state_timeout, 10, :unlock}]}
  def locked(:state_timeout, :unlock, d), do: {:next_state, :open, d}

  def open({:call, from}, :enter, d) do
    Busy.ms(2)
    {:next_state, :locked, d, [{:reply, from, :ok}]}
  end
end

defmodule Listener do
  @behaviour :gen_event
  def init(_), do: {:ok, nil}
  def handle_event(_, s), do: {Busy.ms(4) && :ok, s}
  def handle_call(_, s), do: {:ok, Busy.ms(4), s}
  def handle_info(_, s), do: {:ok, s}
end

# Each request is a function, whose name has no underscore.
defmodule Request do
  def task do
    tasks = for n <- [10, 20], do: Task.async(fn -> Busy.ms(2) && Process.sleep(n) end)
    Enum.each(tasks, &Task.await/1)
  end

  def sup do
    Task.Supervisor.async(Shop.Tasks, fn -> Busy.ms(5) end) |> Task.await()
  end

  def stream do
    Task.async_stream([10, 20, 30], fn n -> Process.sleep(n) end, max_concurrency: 3) |> Enum.to_list()
  end

  def genserver do
    GenServer.call(Shop.Cart, {:add, :pear})
    GenServer.cast(Shop.Cart, {:note, :pear})
    Busy.ms(2)
  end

  def agent do
    Agent.get(Shop.Prices, fn _ -> Busy.ms(5) end)
    Agent.update(Shop.Prices, fn s -> Busy.ms(3) && s end)
    Agent.get_and_update(Shop.Prices, fn s -> {Busy.ms(2), s} end)
  end

  def pool, do: in_pool()
  defp in_pool, do: Pool.transaction(fn w -> GenServer.call(w, {:query, "select"}) end)

  # Two at once, one worker: the second waits for the first.
  def queue do
    for(_ <- 1..2, do: Task.async(&in_pool/0)) |> Enum.each(&Task.await/1)
  end

  def nimble, do: Nimble.checkout!(fn _ -> Busy.ms(5) end)
  def ecto, do: Repo.all("select") && Busy.ms(2)

  def event do
    :gen_event.sync_notify(Shop.Events, :sold)
    :gen_event.call(Shop.Events, Listener, :sold)
  end

  def statem, do: :gen_statem.call(Door, :enter)
end

defmodule Load do
  @requests [:task, :sup, :stream, :genserver, :agent, :pool, :queue, :nimble, :ecto, :event, :statem]

  def start(dir) do
    Logger.configure(level: :none)
    {:ok, _} = Agent.start_link(fn -> %{} end, name: Shop.Prices)
    {:ok, _} = Shop.Cart.start_link()
    {:ok, _} = Task.Supervisor.start_link(name: Shop.Tasks)
    {:ok, w} = Worker.start_link(6)
    {:ok, _} = Pool.start_link([w])
    {:ok, _} = Nimble.start_link()
    {:ok, _} = Repo.Pool.start_link()
    {:ok, _} = Worker.start_link(8, name: Repo.Database)
    {:ok, _} = Door.start_link()
    {:ok, _} = :gen_event.start_link({:local, Shop.Events})
    :ok = :gen_event.add_handler(Shop.Events, Listener, [])
    # The first calls load code and make atoms.
    Enum.each(@requests, &one/1)
    write(dir, "pid", System.pid())
    serve(dir, Process.list())
  end

  defp serve(dir, baseline) do
    asked(dir, "audit", fn -> :audit.write(String.to_charlist(dir), baseline) end)
    asked(dir, "loop_requests", fn -> Process.register(spawn(fn -> loop(@requests) end), Looper) end)
    asked(dir, "stop", &stop/0)
    Process.sleep(20)
    serve(dir, baseline)
  end

  defp asked(dir, name, act) do
    if File.exists?(Path.join(dir, name)) do
      act.()
      File.rm!(Path.join(dir, name))
    end
  end

  defp write(dir, name, text) do
    File.write!(Path.join(dir, name <> ".new"), text)
    File.rename!(Path.join(dir, name <> ".new"), Path.join(dir, name))
  end

  defp stop do
    ref = Process.monitor(Looper)
    send(Looper, :stop)

    receive do
      {:DOWN, ^ref, _, _, _} -> :ok
    end
  end

  defp loop([request | others]) do
    one(request)

    receive do
      :stop -> :ok
    after
      50 -> loop(others ++ [request])
    end
  end

  defp one(request) do
    {pid, ref} = spawn_monitor(fn -> apply(Request, request, []) end)

    receive do
      {:DOWN, ^ref, _, ^pid, _} -> :ok
    end
  end
end

# Ends by itself.
spawn(fn -> Process.sleep(1_200_000) && System.halt(1) end)
[dir] = System.argv()
{:ok, :audit, code} = :compile.file(String.to_charlist(Path.join(dir, "audit.erl")), [:binary])
{:module, :audit} = :code.load_binary(:audit, 'audit.beam', code)
Load.start(dir)
