"""Statements on several engines in turn: medians, answers beside each other, ratios and bars."""

import collections
import statistics

import answers


class Comparison:
    """What engines take for statements, and what they answer. `engines` and `statements` have names."""

    def __init__(self, engines, statements):
        self.engines, self.statements = engines, statements
        self.times = collections.defaultdict(lambda: {name: [] for name in statements})
        self.rows = {name: {} for name in statements}
        self.errors = {name: {} for name in statements}

    def go_round(self, runs, warm_up=True):
        """Each statement on each engine in turn, `runs` times after one that does not count. The first round keeps the answers."""
        for name, sql in self.statements.items():
            for label, engine in self.engines.items():
                is_new = label not in self.rows[name]
                if label not in self.errors[name] and (warm_up or is_new):
                    self.take(name, label, engine.run(sql, with_rows=is_new), is_counted=False)
                for _ in range(runs):
                    if label not in self.errors[name]:
                        self.take(name, label, engine.run(sql), is_counted=True)

    def take(self, name, label, answer, is_counted):
        if answer.error is not None:
            self.errors[name][label] = answer.error
        elif is_counted:
            self.times[label][name].append(answer.seconds)
        if answer.rows is not None:
            self.rows[name][label] = answer.rows

    def keep_rows(self, label, other, side):
        """What a side of another comparison answered, under a name of its own."""
        for name, rows in self.rows.items():
            if side in other.rows[name]:
                rows[label] = other.rows[name][side]

    def median(self, label, name):
        """Seconds; none where the engine failed."""
        taken = self.times[label][name]
        return statistics.median(taken) if taken and label not in self.errors[name] else None

    def ratio(self, label, peer, name):
        ours, theirs = self.median(label, name), self.median(peer, name)
        return ours / theirs if ours and theirs else None

    def sums(self, label, peer):
        """Seconds of both over the statements that both answer."""
        both = [name for name in self.statements if self.ratio(label, peer, name) is not None]
        return sum(self.median(label, name) for name in both), sum(self.median(peer, name) for name in both)

    def differing(self, label, peer):
        """Names of the statements whose answers differ. Where one failed there is nothing to compare."""
        pairs = {name: (rows[label], rows[peer]) for name, rows in self.rows.items() if label in rows and peer in rows}
        return [name for name, (ours, theirs) in pairs.items() if not answers.is_same(ours, theirs)]

    def close(self):
        for engine in self.engines.values():
            engine.close()


def number(value, digits=2):
    return "fails" if value is None else f"{value:,.{digits}f}"


def milliseconds(seconds):
    return number(None if seconds is None else seconds * 1e3, 1)


def kept(value, bar):
    return f"bar {bar:g}, {'kept' if value <= bar else 'missed'}"


def print_times(found, label, pairs):
    """A line for each statement: our time, and for each (ours, peer) the peer's and the ratio."""
    print(f"\n{'query':<10} {label + ' ms':>12}" + "".join(f" {peer + ' ms':>16} {'ratio':>6}" for _, peer in pairs))
    for name in found.statements:
        cells = (f" {milliseconds(found.median(peer, name)):>16} {number(found.ratio(ours, peer, name)):>6}" for ours, peer in pairs)
        print(f"{name:<10} {milliseconds(found.median(label, name)):>12}" + "".join(cells), flush=True)


def print_sum(found, label, peer, bar):
    """The ratio of the sums, beside the bar if there is one."""
    ours, theirs = found.sums(label, peer)
    if not theirs:
        print(f"{label} / {peer}: they answer nothing together")
        return
    beside = f" ({kept(ours / theirs, bar)})" if bar else ""
    print(f"{label} / {peer}, sum: {ours * 1e3:,.1f} ms / {theirs * 1e3:,.1f} ms = {ours / theirs:.2f}{beside}")


def print_ahead(found, label, peer, bar):
    """On how many statements ours takes less, beside how many it has to be."""
    ratios = [found.ratio(label, peer, name) for name in found.statements]
    ahead = sum(ratio is not None and ratio < 1 for ratio in ratios)
    print(f"{label} is ahead of {peer} on {ahead} of {len(ratios)} (bar {bar}, {'kept' if ahead >= bar else 'missed'})")


def print_failures(found):
    for name, errors in found.errors.items():
        for label, error in errors.items():
            print(f"{name}: {label} fails: {error.splitlines()[0]}")


def print_differing(found, label, peers):
    for peer in peers:
        print(f"answers of {label} that differ from those of {peer}: {', '.join(found.differing(label, peer)) or 'none'}")
