"""Ranks whose messages are counted, and what they send by the rules of docs/several-devices.md."""

from collections import Counter

import numpy as np

import clgraph as cg


class Counting(cg.cluster.Together):
    """Ranks whose messages are counted, whatever they are for."""

    def __init__(self, *args):
        super().__init__(*args)
        self.sent = Counter()

    def all_gather(self, requests):
        self.sent["looks"] += 1
        return super().all_gather(requests)

    def mail(self, requests):
        for rank, request in enumerate(requests):
            assert all(piece.peer != rank for piece in request.sends)
            self.sent["mail"] += sum(piece.size_bytes for piece in request.sends)
        return super().mail(requests)

    def shift(self, requests):
        places = {request.places for request in requests}
        assert len(places) == 1
        self.sent["rounds"] += 1
        self.sent["mail"] += sum(request.sends.size for request in requests)
        return super().shift(requests)

    def swap(self, requests):
        for rank, request in enumerate(requests):
            for peer, array in enumerate(request.arrays):
                self.sent["swap"] += array.nbytes * (peer != rank)
        return super().swap(requests)

    def taken(self):
        """Give the bytes since the last time."""
        counted, self.sent = self.sent, Counter()
        return counted["mail"] + counted["swap"]


class Placed:
    """Who has what, by the rules of docs/several-devices.md."""

    def __init__(self, graph, name, ranks):
        self.ranks = ranks
        self.sources = np.repeat(np.arange(graph.n), graph.degrees)
        self.targets = np.asarray(graph.indices, np.int64)
        vertices = np.arange(graph.n)
        words = -(-graph.n // 64)
        ends = [min(words * part // ranks * 64, graph.n) for part in range(1, ranks + 1)]
        ranges = np.searchsorted(ends, vertices, side="right")
        self.owner = ranges if name == "block" else vertices % ranks
        self.holder = self.owner[self.sources]
        self.told = np.zeros(graph.n, np.int64)  # how many others have rows of a vertex
        if name == "2d":
            lines = max(d for d in range(1, ranks + 1) if ranks % d == 0 and d * d <= ranks)
            columns = ranks // lines
            line = self.owner[self.targets] // columns
            self.holder = line * columns + self.sources % columns
            self.told[:] = lines - 1
        elif name == "1.5d":
            hubs = graph.degrees > graph.m / (4 * ranks)
            self.holder = np.where(hubs[self.sources], self.owner[self.targets], self.holder)
            self.told[hubs] = ranks - 1


def candidates_sent(placed, source, distances, levels, tree):
    """A rank sends a vertex once, to its owner; give bytes from rank to rank, by level."""
    claimed = np.zeros((placed.ranks, distances.size), bool)
    claimed[:, source] = True
    for level in range(levels):
        sent = np.zeros((placed.ranks, placed.ranks), np.int64)
        for rank in range(placed.ranks):
            expanded = (distances[placed.sources] == level) & (placed.holder == rank)
            found = np.unique(placed.targets[expanded])
            found = found[~claimed[rank, found]]
            claimed[rank, found] = True
            np.add.at(sent[rank], placed.owner[found], 8 if tree else 4)
        np.fill_diagonal(sent, 0)
        yield sent


def bytes_of_candidates(placed, source, distances, levels, tree):
    """What ranks send straight; and owners pass new ones on."""
    sent = candidates_sent(placed, source, distances, levels, tree)
    return [
        int(matrix.sum()) + 8 * int(placed.told[distances == level + 1].sum())
        for level, matrix in enumerate(sent)
    ]


def bits_sent(placed, graph, distances, ways):
    """A bit for each vertex, or a list where that is less, by who has edges of the frontier.

    Give what each rank has for all others, and whether it is bitmaps that are put together.
    """
    whole = 8 * -(-graph.n // 64)
    for level, way in enumerate(ways):
        edges = np.bincount(
            placed.owner[distances == level],
            weights=graph.degrees[distances == level],
            minlength=placed.ranks,
        ).astype(int)
        lists, pushing = 4 * (edges + 1), edges > 0
        if way == "pull":
            words = -(-graph.n // 64)
            ends = np.array([words * part // placed.ranks for part in range(placed.ranks + 1)])
            yield 8 * np.diff(ends), False
        elif (lists <= whole).all() and lists.sum() < whole * placed.ranks:
            yield lists * pushing, False
        else:
            yield whole * pushing, True


def bytes_of_bits(placed, graph, distances, ways):
    """What ranks send straight."""
    sent = bits_sent(placed, graph, distances, ways)
    return [int(sizes.sum()) * (placed.ranks - 1) for sizes, _ in sent]


def rounds_to_all(sizes, unite):
    """Have every rank know what all have, and give what each sends in each round."""
    ranks, known = len(sizes), [{rank} for rank in range(len(sizes))]
    rounds, hop = [], 1
    while hop < ranks:
        sent, learned = [], [set(have) for have in known]
        for rank in range(ranks):
            wanted = known[(rank + hop) % ranks]
            news = known[rank] if unite else known[rank] - wanted
            learned[(rank + hop) % ranks] |= news
            each = [sizes[origin] for origin in news]
            sent.append(max(each) if unite else sum(each))
        known, hop = learned, 2 * hop
        rounds.append(sent)
    assert all(have == set(range(ranks)) for have in known)
    return rounds


def rounds_to_each(matrix):
    """Carry each piece as far as the bits of its distance say, the lowest first."""
    ranks = len(matrix)
    rounds = [[0] * ranks for _ in range((ranks - 1).bit_length())]
    for origin in range(ranks):
        for target in range(ranks):
            place = origin
            for number, sent in enumerate(rounds):
                if (target - origin) % ranks >> number & 1:
                    sent[place] += int(matrix[origin][target])
                    place = (place + (1 << number)) % ranks
            assert place == target
    return rounds


def told_of(straight, rounds, message_bytes):
    """Choose as docs/several-devices.md says; give bytes and rounds."""
    cost = np.where(straight > 0, straight + message_bytes, 0)
    busiest = max(cost.sum(axis=0).max(), cost.sum(axis=1).max())
    in_turn = sum(max(size + message_bytes if size else 0 for size in sent) for sent in rounds)
    if in_turn < busiest:
        return sum(map(sum, rounds)), len(rounds)
    return int(straight.sum()), int(straight.any())
