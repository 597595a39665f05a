"""Minimum degree: an order of elimination of a graph without positions (Amestoy, Davis, Duff 1996, "AMD").

Eliminating a node p connects its neighbours with each other. The *quotient graph* does not write that down: p becomes an *element* whose
list L_p names what it connects. A node i keeps its neighbours A_i that no element connects with it, and its elements E_i:

    L_p = (A_p ∪ ⋃_{e ∈ E_p} L_e) \\ p,      the elements of E_p are absorbed by p

Next is the node of least degree. Degrees are weighted, and bounded from above as in the paper,

    d_i = min(left, d_i + |L_p \\ i|, |A_i| + |L_p \\ i| + Σ_{e ∈ E_i \\ p} |L_e \\ L_p|)

An element with L_e ⊂ L_p is absorbed too. Nodes with the same A and E are one from then on (`leader`). Ties go to the node that got its
degree last; nothing depends on more than the arguments.
"""

from __future__ import annotations

from unibody.kernel import Ints, device, kernel

ALIVE, ELEMENT, DEAD = 0, 1, 2


@device
def insert(v, degree, head_out, next_out, last_out):
    """v into the list of nodes of its degree."""
    after = head_out[degree]
    next_out[v] = after
    last_out[v] = -1
    if after >= 0:
        last_out[after] = v
    head_out[degree] = v


@device
def remove(v, degree, head_out, next_out, last_out):
    """v out of the list of nodes of its degree."""
    if last_out[v] >= 0:
        next_out[last_out[v]] = next_out[v]
    else:
        head_out[degree] = next_out[v]
    if next_out[v] >= 0:
        last_out[next_out[v]] = last_out[v]


@device
def same_lists(first, elements, count, i, j, lists, mark, stamp):
    """Whether two nodes have the same neighbours and elements; those of i are marked with the stamp."""
    if elements[i] != elements[j] or count[i] != count[j]:
        return False
    for k in range(first[j], first[j] + count[j]):
        if mark[lists[k]] != stamp:
            return False
    return True


@kernel
def order_by_degree(
    start: Ints, neighbours: Ints, weights: Ints, first_out: Ints, elements_out: Ints, count_out: Ints, weight_out: Ints, degree_out: Ints,
    state_out: Ints, mark_out: Ints, less_out: Ints, buckets_out: Ints, leader_out: Ints, lists_out: Ints, order_out: Ints,
) -> bool:  # fmt: skip
    """The order of elimination of nodes with neighbours[start[v] : start[v + 1]]; false if `lists` (which begin with the neighbours) were
    too short. `buckets` holds the total weight, three times the nodes and one more; the others, but for lists, as many as nodes."""
    n = order_out.size
    total = 0
    for v in range(n):
        total += weights[v]
    head, next_, last = buckets_out[: total + 1], buckets_out[total + 1 : total + 1 + n], buckets_out[total + 1 + n : total + 1 + 2 * n]
    hashes = buckets_out[total + 1 + 2 * n : total + 1 + 3 * n]
    for d in range(total + 1):
        head[d] = -1
    # lists of a node: its neighbours, then its elements
    for v in range(n):
        first_out[v] = start[v]
        count_out[v] = start[v + 1] - start[v]
        elements_out[v] = 0
        weight_out[v] = weights[v]
        state_out[v] = ALIVE
        mark_out[v] = -1
        leader_out[v] = v
        hashes[v] = -1
        degree = 0
        for k in range(start[v], start[v + 1]):
            lists_out[k] = neighbours[k]
            degree += weights[neighbours[k]]
        degree_out[v] = degree
        insert(v, degree, head, next_, last)
    end = start[n]
    left = total
    stamp = 0
    lowest = 0
    placed = 0
    while left > 0:
        # the pivot
        while head[lowest] < 0:
            lowest += 1
        p = head[lowest]
        remove(p, degree_out[p], head, next_, last)
        state_out[p] = ELEMENT
        order_out[placed] = p
        placed += 1
        left -= weight_out[p]
        # L_p at the end of the lists
        stamp += 1
        mark_out[p] = stamp
        begin = end
        size = 0
        for k in range(first_out[p], first_out[p] + count_out[p]):
            e = lists_out[k]
            of_element = k >= first_out[p] + count_out[p] - elements_out[p]
            low = first_out[e] if of_element else k
            high = low + count_out[e] if of_element else k + 1
            for l in range(low, high):
                v = lists_out[l]
                if state_out[v] == ALIVE and mark_out[v] != stamp:
                    if end >= lists_out.size:
                        return False
                    mark_out[v] = stamp
                    lists_out[end] = v
                    end += 1
                    size += weight_out[v]
            if of_element:
                state_out[e] = DEAD
        first_out[p] = begin
        count_out[p] = end - begin
        degree_out[p] = size
        # |L_e \ L_p| of all elements next to L_p; `less` of those seen first is their whole
        base = stamp
        for l in range(begin, end):
            i = lists_out[l]
            for k in range(first_out[i] + count_out[i] - elements_out[i], first_out[i] + count_out[i]):
                e = lists_out[k]
                if state_out[e] == ELEMENT:
                    if mark_out[e] != base:
                        mark_out[e] = base
                        less_out[e] = degree_out[e]
                    less_out[e] -= weight_out[i]
        # lists and degrees of the nodes of L_p
        for l in range(begin, end):
            i = lists_out[l]
            remove(i, degree_out[i], head, next_, last)
            at = first_out[i]
            rest = 0
            mixed = p
            elements_begin = first_out[i] + count_out[i] - elements_out[i]
            for k in range(at, elements_begin):
                v = lists_out[k]
                if state_out[v] == ALIVE and mark_out[v] != base:
                    rest += weight_out[v]
                    mixed += v
                    lists_out[at] = v
                    at += 1
            # p comes last: it takes the place of itself among the neighbours, or of an element that it has absorbed
            elements = 1
            for k in range(elements_begin, elements_begin + elements_out[i]):
                e = lists_out[k]
                if state_out[e] == ELEMENT and less_out[e] <= 0:
                    state_out[e] = DEAD
                if state_out[e] == ELEMENT:
                    rest += less_out[e]
                    mixed += e
                    lists_out[at] = e
                    at += 1
                    elements += 1
            lists_out[at] = p
            at += 1
            elements_out[i] = elements
            count_out[i] = at - first_out[i]
            others = size - weight_out[i]
            degree_out[i] = min(left - weight_out[i], min(degree_out[i] + others, rest + others))
            less_out[i] = mixed % n
        # nodes with the same lists become one
        for l in range(begin, end):
            i = lists_out[l]
            j = hashes[less_out[i]]
            if state_out[i] == ALIVE:
                stamp += 1
                for k in range(first_out[i], first_out[i] + count_out[i]):
                    mark_out[lists_out[k]] = stamp
                while j >= 0:
                    if state_out[j] == ALIVE and same_lists(first_out, elements_out, count_out, i, j, lists_out, mark_out, stamp):
                        weight_out[j] += weight_out[i]
                        degree_out[j] -= weight_out[i]
                        state_out[i] = DEAD
                        leader_out[i] = j
                        break
                    j = next_[j]
            if state_out[i] == ALIVE:
                next_[i] = hashes[less_out[i]]
                hashes[less_out[i]] = i
        # what is left of L_p goes back into its lists of degrees
        at = begin
        for l in range(begin, end):
            hashes[less_out[lists_out[l]]] = -1
        for l in range(begin, end):
            i = lists_out[l]
            if state_out[i] == ALIVE:
                lists_out[at] = i
                at += 1
                insert(i, degree_out[i], head, next_, last)
                lowest = min(lowest, degree_out[i])
        end = at
        count_out[p] = end - begin
    # nodes that were one with others stand beside them
    return arranged(leader_out, placed, mark_out, less_out, order_out)


@device
def arranged(leader, placed, count_out, at_out, order_out):
    """Every pivot with the nodes that are one with it, in place."""
    n = order_out.size
    for v in range(n):
        count_out[v] = 0
        at_out[v] = 0
    for v in range(n):
        top = v
        while leader[top] != top:
            top = leader[top]
        count_out[top] += 1
    # the last place of each pivot's group, from the end
    place = n
    for k in range(placed - 1, -1, -1):
        p = order_out[k]
        place -= count_out[p]
        at_out[p] = place
    for v in range(n):
        top = v
        while leader[top] != top:
            top = leader[top]
        order_out[at_out[top]] = v
        at_out[top] += 1
    return True
