"""The panels of Circuits: which parts an answer hangs on, found by trying."""
