"""How many cores torch uses in a thread."""

import threading

from lmviz.app.workers.threads import compute_with, leave_half_of_the_cores


def test_half_of_the_cores_are_left_alone_and_never_are_there_more() -> None:
    import torch

    seen = []

    def work() -> None:
        compute_with(None)
        seen.append(torch.get_num_threads())
        compute_with(2 * seen[0] + 2)
        leave_half_of_the_cores()
        seen.append(torch.get_num_threads())
        compute_with(1)
        leave_half_of_the_cores()
        seen.append(torch.get_num_threads())

    before = torch.get_num_threads()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [seen[0], max(1, seen[0] // 2), 1]
    assert torch.get_num_threads() == before
