"""Python's collector is off, and one that runs in a thread does not go unnoticed."""

import gc
import sys
import threading

import collecting


def test_a_collection_in_a_thread_is_noticed():
    gc.collect()
    assert collecting.take_found() == []
    thread = threading.Thread(target=gc.collect, name="worker")
    thread.start()
    thread.join()
    assert collecting.take_found() == ["worker"]
    assert collecting.take_found() == []


def test_who_makes_the_application_switches_the_collector_off(qapp, monkeypatch):
    from lmviz.app.look.theme import make_application

    asked: list[str] = []
    monkeypatch.setattr(gc, "disable", lambda: asked.append("off"))
    assert make_application() is qapp
    assert asked == ["off"]


def test_much_garbage_is_collected(monkeypatch):
    collected: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda: collected.append(gc.get_count()[0]))
    monkeypatch.setattr(collecting, "MANY", sys.maxsize)
    collecting.collect_what_is_much()
    assert collected == []
    monkeypatch.setattr(collecting, "MANY", -1)
    collecting.collect_what_is_much()
    assert len(collected) == 1
