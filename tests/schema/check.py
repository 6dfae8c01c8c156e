# SPDX-License-Identifier: GPL-3.0-or-later
"""check.py SCHEMAS FORM FILE...: each file against the schema of its form, and the rules that a
schema cannot say. FORM is json, otlp, speedscope or trace-event. `plant` in place of files breaks
the good document on standard input in many ways, and each must be found."""
import copy
import json
import sys

import jsonschema


def no_double_keys(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a key stands twice"
    return dict(pairs)


def load(text):
    return json.loads(text, object_pairs_hook=no_double_keys)


def unique(attributes):
    keys = [attribute["key"] for attribute in attributes]
    assert len(keys) == len(set(keys)), "an attribute stands twice"


def rules_otlp(line):
    spans = []
    for resource in line["resourceSpans"]:
        unique(resource["resource"]["attributes"])
        for scope in resource["scopeSpans"]:
            spans += scope["spans"]
    ids = {span["spanId"] for span in spans}
    assert len(ids) == len(spans), "a span id stands twice"
    assert len({span["traceId"] for span in spans}) == 1, "several traces in a line"
    assert sum("parentSpanId" not in span for span in spans) == 1, "not one root"
    for span in spans:
        start, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        assert start <= end < 2**64, "it ends before it starts"
        assert span.get("parentSpanId", span["spanId"]) in ids, "no such parent"
        unique(span["attributes"])
        for event in span["events"]:
            assert start <= int(event["timeUnixNano"]) <= end, "an event out of its span"
            unique(event["attributes"])


def rules_speedscope(root):
    n_frames = len(root["shared"]["frames"])
    assert root["activeProfileIndex"] < len(root["profiles"]), "no such profile"
    for profile in root["profiles"]:
        used = [frame for stack in profile.get("samples", []) for frame in stack]
        used += [event["frame"] for event in profile.get("events", [])]
        assert all(frame < n_frames for frame in used), "no such frame"
        assert profile["startValue"] <= profile["endValue"], "a profile ends before it starts"
        assert len(profile.get("samples", [])) == len(profile.get("weights", [])), "weights"
        stack, last = [], profile["startValue"]
        for event in profile.get("events", []):
            assert event["at"] >= last, "events are not in order"
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack and stack.pop() == event["frame"], "it closes another frame"
        assert not stack, "a frame stays open"
        assert last <= profile["endValue"], "an event after the end"


def rules_trace_event(root):
    events = root["traceEvents"]
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["ph"] == "M"}
    tracks = {}
    for event in events:
        if event["ph"] == "X":
            assert (event["pid"], event["tid"]) in named, "a thread without a name"
            tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    for track in tracks.values():
        stack = []
        for event in sorted(track, key=lambda e: (e["ts"], -e["dur"])):
            end = event["ts"] + event["dur"]
            while stack and stack[-1] <= event["ts"] + 0.0005:
                stack.pop()
            assert not stack or end <= stack[-1] + 0.0015, "events of a thread overlap"
            stack.append(end)
    ends = {}
    for event in events:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], {})[event["ph"]] = event
    for pair in ends.values():
        assert set(pair) == {"s", "f"}, "an arrow with one end"
        assert pair["s"]["ts"] <= pair["f"]["ts"], "it is received before it is sent"
        assert (pair["s"]["name"], pair["s"]["cat"]) == (pair["f"]["name"], pair["f"]["cat"])


RULES = {"json": lambda root: None, "otlp": rules_otlp, "speedscope": rules_speedscope,
         "trace-event": rules_trace_event}


def errors(form, validator, text):
    """Of a file: the first error of each document in it."""
    documents = text.splitlines() if form == "otlp" else [text]
    for document in documents:
        try:
            root = load(document)
            if validator is not None:
                validator.validate(root)
            RULES[form](root)
        except jsonschema.ValidationError as error:
            yield "%s at %s" % (error.message[:200], "/".join(map(str, error.absolute_path)))
        except (AssertionError, ValueError, KeyError) as error:
            yield "%s: %s" % (type(error).__name__, error)


def places(value, path=()):
    """The first place of each kind: lists are entered at their first item."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list) and value:
        yield from places(value[0], path + (0,))


def planted(root):
    """Copies with one key missing that is required, of another type, or added."""
    for path in places(root):
        if not path:
            continue
        broken = copy.deepcopy(root)
        at = broken
        for key in path[:-1]:
            at = at[key]
        old = at[path[-1]]
        at[path[-1]] = [old] if not isinstance(old, list) else "x"
        yield "/".join(map(str, path)) + " of another type", broken
        if isinstance(old, dict):
            broken = copy.deepcopy(broken)
            at = broken
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = dict(old, stranger=1)
            yield "/".join(map(str, path)) + " with a strange key", broken


FREE = ("args", "otherData")  # objects that may have any keys


def plant(form, validator):
    root = load(sys.stdin.readline() if form == "otlp" else sys.stdin.read())
    assert not list(errors(form, validator, json.dumps(root))), "the good one is not good"
    n = missed = 0
    for what, broken in planted(root):
        if any(free in what.split(" ")[0].split("/")[:-1] or
               what.split(" ")[0].endswith(free) and "strange" in what for free in FREE):
            continue
        n += 1
        if not list(errors(form, validator, json.dumps(broken))):
            print("not found: " + what)
            missed += 1
    print("%d planted" % n)
    return missed > 0 or n < 10


def main():
    schemas, form, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    validator = None
    if form != "json":
        with open("%s/%s.schema.json" % (schemas, form), encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft7Validator.check_schema(schema)
        validator = jsonschema.Draft7Validator(schema)
    if files == ["plant"]:
        return plant(form, validator)
    n = 0
    for name in files:
        with open(name, encoding="utf-8") as file:
            for error in errors(form, validator, file.read()):
                print("%s: %s" % (name, error))
                n += 1
    print("%d files, %d errors" % (len(files), n))
    return n > 0 or not files


sys.exit(main())
