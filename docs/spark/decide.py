#!/usr/bin/env python3
"""Decide a space that is larger than one machine, with Apache Spark.

    spark-submit docs/spark/decide.py --lockpick ./lockpick --parts 64 -- \\
        openclaw-takeover/guarded/dead-owner --property mutual-exclusion --assume inodes-not-reused

What stands behind -- are the arguments of "lockpick expand". Each state belongs to the
partition that its key says, and is expanded there once, by a process of lockpick that
reads states from its input and writes their successors. Spark moves the states, keeps
them on disk, and repeats what a lost worker was about. With --in-order the states are
expanded in the order of what their ways cost, and the counterexample is the smallest.

At the end stand how many states each partition has expanded, what was moved between
them, how much of the time lockpick ran, and the verdict, which "lockpick merge" makes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter

from pyspark import SparkConf, SparkContext, StorageLevel

COST = 14  # bytes at the beginning of a way


def owner(key):
    """The partition of a state, before it is taken modulo their number."""
    return int(key[:8], 16)


def expand(command, run_id, parts):
    """A function from the states of a partition to what lockpick writes about them.

    Behind the successors, under no key, stand the partition, the seconds that lockpick
    took and the bytes of what it wrote, and its last line.
    """

    def run(part, states):
        began = time.monotonic()
        cache = os.path.join(tempfile.gettempdir(), run_id)
        os.makedirs(cache, mode=0o700, exist_ok=True)
        # Ways that begin alike are quick to go one after the other.
        lines = sorted((way, key) for key, way in states)
        if any(owner(key) % parts != part for _, key in lines):
            raise RuntimeError(f"partition {part} was given a state of another")
        if not lines:
            return []
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as found:
            given.writelines(f"{key} {way}\n" for way, key in lines)
            given.seek(0)
            done = subprocess.run([*command, "--cache", cache], stdin=given, stdout=found, stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
            found.seek(0)
            out = [line.rstrip("\n") for line in found]
        if not out or json.loads(out[-1])["states"] != len(lines):
            raise RuntimeError(f"{command[0]} has not expanded all of {len(lines)} states")
        figures = part, round(time.monotonic() - began, 3), sum(map(len, out[:-1])), out[-1]
        return [tuple(line.split(" ", 1)) for line in out[:-1]] + [("", figures)]

    return run


def unknown(states):
    """The states of a partition that are not known: those found, less those known behind them."""
    new, behind = {}, False
    for key, way in states:
        if way == "":
            behind = True
            new.pop(key, None)
        elif behind:
            raise RuntimeError("a state comes behind those that are known")
        else:
            new[key] = way
    return new.items()


def decide(sc, lockpick, arguments, parts):
    """Expand all states. Returns how many there were, and the figures of each process."""
    command = [lockpick, "expand", *arguments]
    run_id = "lockpick-" + sc.applicationId
    in_order = "--in-order" in arguments
    first = subprocess.run([*command, "--first"], stdout=subprocess.PIPE, text=True, check=True).stdout
    keep = StorageLevel.MEMORY_AND_DISK
    # Pairs of key and way: those to be expanded, and those that were.
    waiting = sc.parallelize([tuple(first.split())], 1).partitionBy(parts, owner).persist(keep)
    known = sc.parallelize([], 1).partitionBy(parts, owner)
    states, shown, levels = 0, [], 0
    left = 1
    while left > 0:
        level, n = waiting, left
        if in_order:
            cost = waiting.values().map(lambda way: way[:COST]).min()
            bad = [s["cost"] for s in (json.loads(f[-1]) for f in shown) if "cost" in s]
            if bad and min(bad) <= cost:
                break
            level = waiting.filter(lambda s, c=cost: s[1][:COST] == c).persist(keep)
            n = level.count()
        # Not preservesPartitioning: what follows from a state belongs anywhere, and Spark would leave it here.
        out = level.mapPartitionsWithIndex(expand(command, run_id, parts)).persist(keep)
        shown += out.filter(lambda s: s[0] == "").values().collect()
        states, levels = states + n, levels + 1
        known = known.union(level.mapValues(lambda _: "").persist(keep))
        found = out.filter(lambda s: s[0] != "")
        if in_order:
            found = found.union(waiting)
        found = found.reduceByKey(min, parts, owner)
        waiting = found.union(known).mapPartitions(unknown, preservesPartitioning=True).persist(keep)
        if known.getNumPartitions() != parts or waiting.getNumPartitions() != parts:
            raise RuntimeError("states are not kept where they belong")
        if levels % 8 == 0:  # what came before need not be computed again
            waiting.checkpoint()
            known = known.persist(keep)
            known.checkpoint()
            known.count()
        left = waiting.count()
        print(f"level {levels}: {n} states, {states} in all", file=sys.stderr)
    return states, shown


def tell(states, shown, seconds):
    """Print the figures of all processes."""
    parts, busy, written = Counter(), 0, 0
    for part, took, size, text in shown:
        parts[part] += json.loads(text)["states"]
        busy, written = busy + took, written + size
    print(f"{states} states, by partition: " + ", ".join(str(parts[p]) for p in sorted(parts)))
    print(f"{len(shown)} processes wrote {written} bytes, {written / max(states, 1):.0f} for each state")
    print(f"{seconds:.0f} s, and {busy:.0f} s of processes, one after the other")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lockpick", default="lockpick", help="the program, at the same place on each worker")
    p.add_argument("--parts", type=int, default=8, help="partitions; a state is in one of them")
    p.add_argument("--checkpoints", help="a directory that all workers see (default a temporary one)")
    p.add_argument("--out", help="write what the processes said here (default a temporary file)")
    p.add_argument("arguments", nargs="+", help="those of lockpick expand")
    o = p.parse_args()
    sc = SparkContext(conf=SparkConf().setAppName("lockpick " + " ".join(o.arguments)).setIfMissing("spark.master", "local[2,4]"))
    sc.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as temporary:
        sc.setCheckpointDir(o.checkpoints or temporary)
        began = time.monotonic()
        states, shown = decide(sc, o.lockpick, o.arguments, o.parts)
        tell(states, shown, time.monotonic() - began)
        out = o.out or temporary + "/shown.jsonl"
        with open(out, "w") as f:
            f.writelines(text + "\n" for *_, text in shown)
        sys.exit(subprocess.run([o.lockpick, "merge", "--states", str(states), "--verbose", out]).returncode)


if __name__ == "__main__":
    main()
